"""Speed of downloads: the limit that they share, and the measured speed of each."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

# seconds over which a speed is averaged
_WINDOW = 4.0
# the burst after a pause, in seconds of the limit
_BURST = 0.25


class Limit:
    """Total bytes a second for all downloads; 0 for no limit. Any thread."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._rate = 0.0
        self._budget = 0.0
        self._since = clock()

    def set(self, rate: float) -> None:
        with self._lock:
            self._rate, self._budget, self._since = rate, 0.0, self._clock()

    def take(self, count: int) -> float:
        """Account for received bytes; returns the seconds to wait before requesting more."""
        with self._lock:
            if self._rate <= 0:
                return 0.0
            now = self._clock()
            earned = (now - self._since) * self._rate
            self._budget = min(self._budget + earned, self._rate * _BURST) - count
            self._since = now
            return max(0.0, -self._budget / self._rate)


class Speed:
    """Bytes a second over the last seconds. One thread adds, any thread reads."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._seen: deque[tuple[float, int]] = deque()
        self._total = 0

    def add(self, count: int) -> None:
        now = self._clock()
        with self._lock:
            self._total += count
            if self._seen and now - self._seen[-1][0] < _WINDOW / 40:
                # merge entries, so that small blocks do not make many
                at, before = self._seen.pop()
                self._seen.append((at, before + count))
            else:
                self._seen.append((now, count))
            self._forget(now)

    def now(self) -> float:
        with self._lock:
            now = self._clock()
            self._forget(now)
            if not self._seen:
                return 0.0
            passed = max(now - self._seen[0][0], _WINDOW / 8)
            return sum(count for _, count in self._seen) / passed

    def _forget(self, now: float) -> None:
        while self._seen and now - self._seen[0][0] > _WINDOW:
            self._seen.popleft()
