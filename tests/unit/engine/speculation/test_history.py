"""Earlier replies as drafts: the longest run that ends a text, and what came next most often."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from headstart.engine.speculation.history import SHORTEST, History

TOKEN = st.integers(0, 3)
REPLIES = st.lists(st.lists(TOKEN, min_size=1, max_size=40), min_size=1, max_size=8)
LENGTHS = (SHORTEST, 8, 16, 24)


def built(replies: list[list[int]], most: int = 10_000) -> History:
    history = History(most)
    for reply in replies:
        history.add(reply)
    for _ in history.build():
        pass
    return history


def found_by_hand(replies: list[list[int]], text: list[int]) -> dict[int, int] | None:
    """How often each token came after the longest run that is looked for."""
    for length in reversed(LENGTHS):
        counts: dict[int, int] = {}
        known = False
        for reply in replies:
            if len(reply) <= SHORTEST:
                continue
            for at in range(len(reply) - length + 1):
                if len(text) >= length and reply[at : at + length] == text[-length:]:
                    known = True
                    if at + length < len(reply):
                        token = reply[at + length]
                        counts[token] = counts.get(token, 0) + 1
        if known:
            return counts or None
    return None


@settings(max_examples=200, deadline=None, derandomize=True)
@given(REPLIES, st.lists(TOKEN, max_size=30))
def test_what_comes_next_is_what_came_most_often_after_the_longest_run(
    replies: list[list[int]], text: list[int]
) -> None:
    chain = built(replies).chain(text, 1)
    wanted = found_by_hand(replies, text)
    if wanted is None:
        assert chain is None
        return
    assert chain is not None
    assert wanted[chain.tokens[0]] == max(wanted.values())


def test_a_chain_goes_on_with_the_places_that_agree() -> None:
    history = built([[1, 2, 3, 4, 5, 6, 7], [1, 2, 3, 4, 5, 8, 9], [9, 1, 2, 3, 4, 5, 6, 7]])
    chain = history.chain([0, 1, 2, 3, 4], 8)
    assert chain is not None
    assert list(chain.tokens) == [5, 6, 7]
    assert chain.chances[0] > chain.chances[1]


def test_replies_do_not_run_into_each_other() -> None:
    history = built([[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]])
    assert history.chain([2, 3, 4, 5], 4) is None
    chain = history.chain([6, 7, 8, 9], 4)
    assert chain is not None
    assert list(chain.tokens) == [10]


def test_the_latest_replies_stay_and_a_build_that_is_cut_changes_nothing() -> None:
    history = built([[n, n + 1, n + 2, n + 3, n + 4] for n in range(0, 600, 10)], most=60)
    assert len(history) == 60
    assert history.chain([0, 1, 2, 3], 1) is None
    assert history.chain([590, 591, 592, 593], 1) is not None
    history.add([7, 7, 7, 7, 7, 1])
    work = history.build()
    next(work)
    assert history.chain([7, 7, 7, 7], 1) is None
    assert history.waiting == 6
    for _ in history.build():
        pass
    assert history.chain([0, 7, 7, 7, 7], 1) is not None
    assert history.waiting == 0
    history.clear()
    assert history.chain([7, 7, 7, 7], 1) is None


def test_how_often_runs_are_right_is_learned() -> None:
    history = built([[1, 2, 3, 4, 5, 6, 7, 8]])
    chain = history.chain([1, 2, 3, 4], 3)
    assert chain is not None
    before = list(chain.chances)
    for _ in range(60):
        history.learn(chain, [9])
    after = history.chain([1, 2, 3, 4], 3)
    assert after is not None
    assert after.chances[0] < before[0] / 2
