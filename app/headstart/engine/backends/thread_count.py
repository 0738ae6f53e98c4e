"""Chooses the presently fastest number of threads for the next forward. Engine thread.

A forward waits for the slowest of its threads, so with another busy program all cores can be slower
than some of them. That shows in the forwards' own times: their threads get less processor time than
wall time, or they take much longer than earlier ones. Then fewer threads are tried for three
forwards each, and the fastest count stays; while it is a smaller one, more are tried again, at once
when the computer's other load has gone, and at growing intervals while they lose.

Decoding (one row), verification (a few rows) and prefill (many) have separate counts.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

import psutil
from msgspec import Struct, field

log = logging.getLogger(__name__)

# rows from which a forward counts as prefill: bound by computing, not by memory
PREFILL_ROWS = 33
# processor time over (wall time * threads): undisturbed forwards have 0.94 to 1.0 (measured on 2
# cores), with one busy process 0.5 to 0.65
_CALM = 0.85
# forwards this much longer than earlier ones, three times in a row, are a sign too
_SLOWER, _SLOW_TIMES = 1.4, 3
_WEIGHT = 0.2
# forwards of a trial, because single ones can be lucky; it ends early when it has lost
_FEWER_TRIAL, _MORE_TRIAL = 3, 8
# a count must take less than this share of the time to be chosen
_BETTER = 0.93
# forwards between two trials: doubled while trials lose
_FIRST_WAIT, _MORE_WAIT, _LONGEST_WAIT = 12, 48, 1024
# a lost trial holds for its conditions: clearly worse ones allow a new trial sooner
_WORSE = 0.15
# the least load by other programs, in processors, with which fewer threads can help
_LEAST_LOAD = 0.2
# a drop by this many processors is a new situation
_EASED = 0.4
_LOAD_SECONDS = 0.4


class OtherLoad:
    """The number of processors that other programs keep busy, from the system's counters."""

    def __init__(self) -> None:
        self._process = psutil.Process()
        self._at = 0.0
        self._busy = self._own = 0.0
        self._load = 0.0

    def __call__(self) -> float:
        """The load, averaged over the time since the last call, at least `_LOAD_SECONDS`."""
        now = time.monotonic()
        if now - self._at < _LOAD_SECONDS:
            return self._load
        times, own = psutil.cpu_times(), self._process.cpu_times()
        idle = times.idle + getattr(times, "iowait", 0.0)
        # guest time is already part of user time
        busy = sum(times) - idle - getattr(times, "guest", 0.0) - getattr(times, "guest_nice", 0.0)
        mine = own.user + own.system
        if self._at:
            self._load = max(0.0, (busy - self._busy - mine + self._own) / (now - self._at))
        self._at, self._busy, self._own = now, busy, mine
        return self._load


class _Kind(Struct):
    """The state of one kind of forward."""

    count: int
    # seconds by number of rows, at the present count
    usual: dict[int, float] = field(default_factory=dict)
    # the share of processor time that forwards get, and its value at the last lost trial
    used: float = 1.0
    lost_at: float = 1.0
    slow: int = 0
    wait: int = _FIRST_WAIT
    since: int = 0
    # counts still to be tried, the present one last; its relative times so far; the best so far
    trials: list[int] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    best: tuple[float, int] = (1.0, 0)
    # with a smaller count: more threads are tried once the other load is below this
    eased_at: float = 0.0


class ThreadCount:
    """The thread counts of one decoder, at most `most`; `fixed` always uses that.

    `others` returns the number of processors that other programs keep busy.
    """

    def __init__(
        self, most: int, fixed: bool = False, others: Callable[[], float] | None = None
    ) -> None:
        self._most = most
        self._fixed = fixed or most < 2
        self._others = others or OtherLoad()
        self._kinds = {name: _Kind(most) for name in ("write", "verify", "read")}

    @property
    def pace(self) -> int:
        """The count for decoding: costs of forwards are learned for each count separately."""
        return self._kinds["write"].count

    def next(self, rows: int) -> int:
        """Threads for a forward of `rows` rows."""
        kind = self._of(rows)
        return kind.trials[-1] if kind.trials else kind.count

    def took(self, rows: int, seconds: float, processor_seconds: float) -> None:
        """Record the wall time and the processor time of the forward."""
        if self._fixed or seconds <= 0:
            return
        kind = self._of(rows)
        size = rows if rows < PREFILL_ROWS else PREFILL_ROWS + rows // 64
        if kind.trials:
            self._tried(kind, size, seconds)
            return
        usual = kind.usual.get(size)
        kind.since += 1
        if usual is None:
            kind.usual[size] = seconds
            return
        kind.slow = kind.slow + 1 if seconds > _SLOWER * usual else 0
        kind.usual[size] = usual + _WEIGHT * (min(seconds, 3 * usual) - usual)
        used = min(1.0, processor_seconds / (seconds * kind.count))
        kind.used += _WEIGHT * (used - kind.used)
        if kind.count < self._most:
            others = self._others()
            kind.eased_at = max(kind.eased_at, others - _EASED)
            eased = kind.since >= _SLOW_TIMES and others < kind.eased_at
            if eased or kind.since >= kind.wait:
                self._begin(kind, [self._most])
        elif self._disturbed(kind) and self._others() > _LEAST_LOAD:
            self._begin(kind, _fewer(kind.count))

    def _of(self, rows: int) -> _Kind:
        return self._kinds["write" if rows == 1 else "verify" if rows < PREFILL_ROWS else "read"]

    def _disturbed(self, kind: _Kind) -> bool:
        if kind.used >= _CALM and kind.slow < _SLOW_TIMES:
            return False
        soon = kind.used < kind.lost_at - _WORSE and kind.since >= _SLOW_TIMES
        return soon or kind.since >= kind.wait

    def _begin(self, kind: _Kind, counts: list[int]) -> None:
        kind.trials, kind.scores = counts[::-1], []
        kind.best = (_BETTER, kind.count)

    def _tried(self, kind: _Kind, size: int, seconds: float) -> None:
        usual = kind.usual.get(size)
        if usual is None:
            # no time to compare with: end the trials
            kind.trials = []
            return
        kind.scores.append(seconds / usual)
        wanted = _MORE_TRIAL if kind.trials[-1] > kind.count else _FEWER_TRIAL
        total = sum(kind.scores)
        if len(kind.scores) < wanted and total < _BETTER * wanted:
            return
        # a trial ended early has lost, whatever its mean
        score = total / len(kind.scores) if len(kind.scores) == wanted else max(1.0, total / wanted)
        count = kind.trials.pop()
        kind.scores = []
        if score < kind.best[0]:
            kind.best = (score, count)
        if not kind.trials:
            self._choose(kind)

    def _choose(self, kind: _Kind) -> None:
        score, chosen = kind.best
        kind.since = kind.slow = 0
        if chosen == kind.count:
            kind.wait = min(_LONGEST_WAIT, 2 * kind.wait)
            kind.lost_at = kind.used
            # a load no lower than now is no reason to try again
            kind.eased_at = min(kind.eased_at, self._others() - _EASED)
            return
        log.debug("%d threads instead of %d: %.2f of the time", chosen, kind.count, score)
        kind.wait = _FIRST_WAIT if chosen == self._most else _MORE_WAIT
        kind.count, kind.used, kind.lost_at = chosen, 1.0, 1.0
        kind.usual = {size: seconds * score for size, seconds in kind.usual.items()}
        kind.eased_at = max(_LEAST_LOAD, self._others() - _EASED)


def _fewer(count: int) -> list[int]:
    """Smaller counts to try, the least change first."""
    return sorted({count - 1, count * 3 // 4, count // 2, 1} - {0, count}, reverse=True)
