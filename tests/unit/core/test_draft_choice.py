"""Which draft is taken: by what it gained, else by what its size promises."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headstart.core.models.draft_choice import KNOWN, Candidate, Measured, Works, best


def test_without_a_measurement_small_and_of_the_family_is_best() -> None:
    small, large = Candidate("small", Works.YES, 0.1), Candidate("large", Works.YES, 0.6)
    by_text = Candidate("text", Works.BY_TEXT, 0.1)
    assert best([large, by_text, small]) is small
    # one that is as large as the target costs more than it gives
    assert best([Candidate("same", Works.YES, 1.0)]) is None
    assert best([]) is None


def test_what_was_measured_counts_more_with_every_token() -> None:
    promised = Candidate("promised", Works.YES, 0.1)
    slow = Candidate("slow", Works.YES, 0.1, Measured(0.9, KNOWN))
    assert best([slow, promised]) is promised
    assert best([slow]) is None
    fast = Candidate("fast", Works.BY_TEXT, 0.6, Measured(3.5, KNOWN))
    assert best([promised, fast]) is fast


@given(st.lists(st.tuples(st.floats(0.5, 4), st.integers(1, 500)), min_size=1, max_size=30))
def test_a_mean_lies_between_what_was_measured(replies: list[tuple[float, int]]) -> None:
    measured = Measured()
    for gain, tokens in replies:
        measured = measured.with_reply(gain, tokens)
    gains = [gain for gain, _ in replies]
    assert min(gains) - 1e-9 <= measured.gain <= max(gains) + 1e-9
    assert measured.tokens == sum(tokens for _, tokens in replies)


@pytest.mark.parametrize("share", [None, 0.05, 0.3])
def test_what_cannot_draft_promises_nothing(share: float | None) -> None:
    never = Candidate("never", Works.NO, share)
    assert never.share is None or never.expected <= 1.0
