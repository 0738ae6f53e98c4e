"""Repeats: the longest and latest earlier place, periods, and the way back into a copy."""

from __future__ import annotations

import itertools

from hypothesis import given, settings
from hypothesis import strategies as st

from headstart.engine.speculation.prompt_lookup import MEASURED, PromptLookup


def index_of(tokens: list[int]) -> PromptLookup:
    index = PromptLookup()
    index.sync(tokens)
    return index


def test_the_longest_match_wins_over_a_later_one() -> None:
    index = index_of([1, 2, 3, 4, 5, 9, 9, 3, 4, 7, 8, 1, 2, 3, 4])
    match = index.find()
    assert match is not None
    assert (match.position, match.length) == (4, 4)
    assert index.continuation(match, 3) == [5, 9, 9]


def test_among_equals_the_latest_wins() -> None:
    index = index_of([1, 2, 5, 0, 1, 2, 6, 0, 1, 2])
    match = index.find()
    assert match is not None
    assert index.continuation(match, 1) == [6]


def test_a_period_goes_on() -> None:
    index = index_of([1, 2, 3, 1, 2, 3, 1, 2])
    match = index.find()
    assert match is not None
    assert index.continuation(match, 7) == [3, 1, 2, 3, 1, 2, 3]


def test_nothing_is_found_in_new_text() -> None:
    assert index_of([]).find() is None
    assert index_of([1]).find() is None
    assert index_of([1, 2, 3, 4]).find() is None


def test_a_changed_word_is_left_behind() -> None:
    source = [10, 11, 12, 13, 14, 15, 16, 17]
    index = index_of([*source, 99, 10, 11, 12])
    match = index.find()
    assert match is not None
    # 13 became 50; the copy was left there
    index.extend([50])
    index.copied(match.position)
    assert index.find() is None
    index.extend([14])
    back = index.find()
    assert back is not None
    assert index.continuation(back, 3) == [15, 16, 17]


@settings(max_examples=80, deadline=None, derandomize=True)
@given(st.lists(st.integers(0, 3), max_size=60), st.lists(st.integers(0, 3), max_size=30))
def test_what_is_found_really_stood_there(first: list[int], more: list[int]) -> None:
    index = index_of(first)
    index.extend(more)
    tokens = first + more
    match = index.find()
    if match is None:
        pairs = list(itertools.pairwise(tokens))
        assert not pairs or pairs[-1] not in pairs[:-1]
        return
    length = match.length
    assert 2 <= length <= MEASURED
    assert tokens[match.position - length : match.position] == tokens[-length:]


def test_another_branch_is_followed() -> None:
    index = index_of([1, 2, 3, 1, 2])
    index.sync([1, 2, 7, 1, 2])
    match = index.find()
    assert match is not None
    assert index.continuation(match, 1) == [7]
