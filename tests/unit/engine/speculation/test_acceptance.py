"""How often draft tokens are thought to be right, after what was seen of them."""

from __future__ import annotations

import pytest

from headstart.engine.speculation.acceptance import length_bins, margin_bins


def test_a_lucky_run_does_not_make_others_certain() -> None:
    bins = length_bins()
    before = bins.chance(30)
    for _ in range(20):
        bins.observe(5, True)
    # bins of their own: nothing was seen of longer repeats, but that this text repeats itself
    assert before < bins.chance(30) < before + 0.1 * (1 - before)
    for _ in range(3):
        bins.observe(5, False)
    assert bins.chance(30) < before


@pytest.mark.parametrize("right", [True, False])
def test_what_this_text_is_like_is_forgotten_with_the_next_one(right: bool) -> None:
    bins = margin_bins()
    usual = bins.chance(10)
    for _ in range(4):
        bins.observe(10, right, lasting=False)
    assert (bins.chance(10) > usual) is right
    bins.begin()
    assert bins.chance(10) == usual
