"""Profiles as measurements leave them."""

from __future__ import annotations

from collections.abc import Callable

from headstart.engine.speculation.acceptance import Bins, margin_bins
from headstart.engine.speculation.profile import PairProfile, TargetProfile


def timed(pair_time: float = 0.1) -> tuple[TargetProfile, PairProfile]:
    """Forwards of 4 rows cost 1.6, measured often, and so does the draft's step."""
    target, pair = TargetProfile(), PairProfile()
    for _ in range(20):
        target.costs.observe(1, 0, 1.0)
        target.costs.observe(4, 0, 1.6)
        pair.costs.observe(1, 0, pair_time)
    return target, pair


def profiled(cost: Callable[[int], float], step: float) -> tuple[TargetProfile, PairProfile]:
    """As calibration leaves them, with a draft that is right most of the time."""
    target, pair = TargetProfile(), PairProfile()
    for _ in range(4):
        target.costs.observe(1, 0, 1.0)
        for size in range(2, 18):
            target.costs.observe(size, 0, cost(size))
        pair.costs.observe(1, 0, step)
        pair.costs.observe(32, 0, step * cost(32))
    pair.margins = trained(0.95)
    return target, pair


def measured_in_a_slow_moment() -> tuple[TargetProfile, PairProfile]:
    """Costs as “Calibrate” finds them while another program has the computer; drafts are good."""
    target, pair = TargetProfile(), PairProfile()
    for _ in range(3):
        target.costs.observe(1, 0, 1.0)
        for size in range(2, 18):
            target.costs.observe(size, 0, 1.0 + 1.5 * (size - 1))
        pair.costs.observe(1, 0, 0.5)
        pair.costs.observe(32, 0, 1.0)
    for _ in range(60):
        pair.margins.observe(5.0, True)
    pair.replies = 1
    return target, pair


def trained(right: float) -> Bins:
    bins = margin_bins()
    for number in range(200):
        bins.observe(number % 10, number % 100 < 100 * right)
    bins.begin()
    return bins
