"""Watches the engine and restarts it when it stops answering. Event loop's thread."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import Trouble
from headstart.core.told import told
from headstart.engine.runner import STOP_SECONDS, Runner

# seconds between two checks, while the engine works and while it is idle
PERIOD, REST = 2.0, 60.0


class EngineWatch:
    """`clock` as `time.monotonic`, for tests."""

    def __init__(
        self, runner: Runner, broadcast: Broadcast, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._runner = runner
        self._broadcast = broadcast
        self._clock = clock
        self._timer: asyncio.TimerHandle | None = None
        # time of the next check
        self._due = clock() + PERIOD
        # the engine is not judged before this time
        self._patient_until = 0.0
        runner.on_asked(self._asked)

    def begin(self) -> None:
        self._schedule(PERIOD if self._runner.busy else REST)

    def _schedule(self, seconds: float) -> None:
        self.close()
        self._due = self._clock() + seconds
        self._timer = asyncio.get_running_loop().call_later(seconds, self._look)

    def _asked(self) -> None:
        """The engine received a request: check sooner."""
        if self._timer is not None and self._due - self._clock() > PERIOD:
            self._schedule(PERIOD)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _look(self) -> None:
        self.look()
        self.begin()

    def look(self) -> None:
        now = self._clock()
        if now - self._due > 9 * PERIOD:
            # the computer slept: the engine had no time to answer
            self._patient_until = now + STOP_SECONDS
        self._due = now + PERIOD
        if now >= self._patient_until and self._runner.stuck(now):
            self._runner.restart()
            self._broadcast.tell(Trouble(told("engine-restarted")))
