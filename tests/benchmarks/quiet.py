"""Tells whether other programs took the processor while something was measured."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

import psutil

# of all processor time; more than a desktop's or a machine's own work takes
MOST = 0.04


def others(run: Callable[[], float]) -> tuple[float, float]:
    """The figure, and the share of all processor time that went to other programs and other
    machines on the same computer meanwhile; 0 where the system does not say."""
    before, mine, began = psutil.cpu_times(), _own(), time.perf_counter()
    figure = run()
    seconds = (time.perf_counter() - began) * (psutil.cpu_count() or 1)
    after = psutil.cpu_times()
    busy = sum(
        getattr(after, name, 0) - getattr(before, name, 0)
        for name in ("user", "nice", "system", "irq", "softirq", "steal")
    )
    return figure, max(0.0, (busy - (_own() - mine)) / seconds)


def _own() -> float:
    """Processor seconds of this process and of those that it started and that have ended."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
