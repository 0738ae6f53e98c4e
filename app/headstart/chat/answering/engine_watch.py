"""Whether the engine still answers; one that does not is started again. Event loop's thread."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import Trouble
from headstart.core.told import told
from headstart.engine.runner import STOP_SECONDS, Runner

# seconds between two looks
PERIOD = 2.0


class EngineWatch:
    """`clock` as `time.monotonic`, for tests."""

    def __init__(
        self, runner: Runner, broadcast: Broadcast, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._runner = runner
        self._broadcast = broadcast
        self._clock = clock
        self._timer: asyncio.TimerHandle | None = None
        self._last = clock()
        # until then nothing is judged
        self._patient_until = 0.0

    def begin(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(PERIOD, self._look)

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _look(self) -> None:
        self.look()
        self.begin()

    def look(self) -> None:
        now = self._clock()
        if now - self._last > 10 * PERIOD:
            # the computer slept: nothing had time to answer
            self._patient_until = now + STOP_SECONDS
        self._last = now
        if now >= self._patient_until and self._runner.stuck(now):
            self._runner.restart()
            self._broadcast.tell(Trouble(told("engine-restarted")))
