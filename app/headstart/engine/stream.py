"""A stream of events from a working thread to the event loop."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import AsyncIterator

from headstart.core.chats.values import FinishReason, TurnStats
from headstart.core.errors import EnvironmentProblem, ran_out_of_memory
from headstart.core.events import Failed, Finished, GenerationEvent, Waiting
from headstart.core.told import told
from headstart.engine.generator import LoadCancelled
from headstart.engine.stop import StopSignal

log = logging.getLogger(__name__)

_NOTHING = TurnStats(FinishReason.CANCELLED, 0, 0, 0.0, None, 0, 0.0)


class Stream:
    """The events of one job, for one reader on the event loop. `cancel` works from any thread."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._events: asyncio.Queue[GenerationEvent | None] = asyncio.Queue()
        self._lock = threading.Lock()
        self._started = False
        self._ended = False
        # the number of the engine thread on which the job paused
        self.paused_by: int | None = None
        self.token = StopSignal()

    def cancel(self) -> None:
        """Stop the job: at once while it waits, else as soon as its thread notices."""
        with self._lock:
            self.token.stop()
            if not self._started and not self._ended:
                self._ended = True
                self.put(Finished(_NOTHING))
                self.put(None)

    def start(self) -> bool:
        """From the working thread: True if the job is still wanted."""
        with self._lock:
            self._started = not self._ended
            return self._started

    def pause(self) -> bool:
        """From the working thread: the job gave way, and waits again. False if it was cancelled
        meanwhile; its last event is then put."""
        with self._lock:
            self.token.gave_way()
            if self.token.stopped:
                self.put(Finished(_NOTHING))
                return False
            self._started = False
            self.put(Waiting())
            return True

    def __aiter__(self) -> AsyncIterator[GenerationEvent]:
        return self._iterate()

    async def _iterate(self) -> AsyncIterator[GenerationEvent]:
        while (event := await self._events.get()) is not None:
            yield event

    def put(self, event: GenerationEvent | None) -> None:
        """From the working thread; None ends the stream. A closed loop stops the job."""
        try:
            self._loop.call_soon_threadsafe(self._events.put_nowait, event)
        except RuntimeError:
            self.token.stop()


def final_event(error: BaseException) -> GenerationEvent:
    """Final event of a stream whose job raised `error`."""
    if isinstance(error, LoadCancelled | asyncio.CancelledError):
        return Finished(_NOTHING)
    if isinstance(error, EnvironmentProblem):
        log.warning("a request failed: %s", error.for_log)
        return Failed(error.told)
    if ran_out_of_memory(error):
        log.warning("a request failed for want of memory: %s", type(error).__name__)
        return Failed(told("no-memory"))
    log.error("the engine failed", exc_info=error)
    kind, text = type(error).__name__, str(error)
    said = told("internal", kind=kind, text=text) if text else told("internal-kind", kind=kind)
    return Failed(said, bug=True)
