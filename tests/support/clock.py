"""A wall clock that jumps, as clocks do that are set; the monotonic one goes on."""

from __future__ import annotations

import time

_TIME, _TIME_NS = time.time, time.time_ns
_shift = 0.0


def shift_clock(seconds: float) -> None:
    """Put the clock of this process forward, or back where negative, from what it shows now."""
    global _shift
    _shift += seconds
    time.time = lambda: _TIME() + _shift
    time.time_ns = lambda: _TIME_NS() + int(_shift * 1e9)


def restore_clock() -> None:
    global _shift
    _shift = 0.0
    time.time, time.time_ns = _TIME, _TIME_NS
