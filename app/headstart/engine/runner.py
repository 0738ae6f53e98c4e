"""The engine thread: a priority queue of requests, one at a time; events go back to asyncio.

`Runner.stream` is called on the event loop's thread; the generator is only ever touched on the
engine thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
import queue
import threading
from collections.abc import Callable, Collection
from enum import IntEnum

from headstart.core.events import Emit, Failed, GenerationEvent, InMemory
from headstart.core.requests import AheadRequest, GenerationRequest, LoadRequest
from headstart.core.told import told
from headstart.engine.generator import Generator
from headstart.engine.stop import StopSignal
from headstart.engine.stream import Stream, final_event

log = logging.getLogger(__name__)
# address space only; what is never used takes no memory
STACK_BYTES = 64 << 20
# seconds in which a job lets go after it was asked to: a forward looks every few milliseconds
STOP_SECONDS = 30.0
# and what work may take that cannot be cut off (an image, a long batch on a slow processor)
LONG_SECONDS = 900.0
_Work = Callable[[Emit, StopSignal], None]
_Job = tuple[int, int, _Work | None, Stream | None]


class Priority(IntEnum):
    """Lower runs first."""

    REQUEST = 0
    PRELOAD = 10
    AHEAD = 20
    LAST = 99


class Runner:
    """Owns the engine thread. The generator is made on it, closed on it, and used nowhere else."""

    def __init__(self, make_generator: Callable[[], Generator]) -> None:
        self._make_generator = make_generator
        self._queue: queue.PriorityQueue[_Job] = queue.PriorityQueue()
        self._order = itertools.count()
        # of the thread that is the engine; one that was given up keeps its own
        self._own = threading.local()
        self._current: tuple[Priority, Stream] | None = None
        self._idle_stop: StopSignal | None = None
        self._listener: Callable[[GenerationEvent], None] = lambda _event: None
        self._asked: Callable[[], None] = lambda: None
        self._closing = False
        # which thread is the engine: one that was given up is an earlier one
        self._turn = 0
        self._thread = _start(self._run)

    def stream(self, request: GenerationRequest) -> Stream:
        """Run one turn; the last event is Finished or Failed."""
        return self._submit(
            Priority.REQUEST,
            lambda emit, stop: self._made().generate(request, emit, stop),
        )

    def preload(self, wanted: LoadRequest) -> Stream:
        """Load models ahead of their first request; the last event is Loaded or Failed."""
        return self._submit(
            Priority.PRELOAD,
            lambda emit, stop: self._made().preload(wanted, emit, stop),
        )

    def calibrate(self, wanted: LoadRequest) -> Stream:
        """Find the speed of each draft depth; SpeedCurve events while it goes on."""
        return self._submit(
            Priority.PRELOAD,
            lambda emit, stop: self._made().calibrate(wanted, emit, stop),
        )

    def ahead(self, request: AheadRequest) -> Stream:
        """Prefill what is sure to come; every other job ends it."""
        return self._submit(
            Priority.AHEAD,
            lambda emit, stop: self._made().ahead(request, emit, stop),
        )

    def release(self, keys: Collection[str]) -> Stream:
        """Unload models by key, or all of them; the last event is InMemory or Failed."""
        return self._submit(
            Priority.PRELOAD,
            lambda emit, stop: self._made().release(keys, emit, stop),
        )

    def on_idle(self, listener: Callable[[GenerationEvent], None]) -> None:
        """Have `listener` called on the running loop with events of what the engine does while
        nobody asks for anything."""
        loop = asyncio.get_running_loop()

        def post(event: GenerationEvent) -> None:
            # a closed loop is no longer interested
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(listener, event)

        self._listener = post

    def on_asked(self, listener: Callable[[], None]) -> None:
        """Have `listener` called where a job is asked for, on the loop's thread."""
        self._asked = listener

    @property
    def busy(self) -> bool:
        """True while something could get stuck: a job, idle work, or an engine that ended."""
        working = self._current is not None or self._idle_stop is not None
        return working or not self._queue.empty() or not self._thread.is_alive()

    def stuck(self, now: float) -> bool:
        """True if the engine died, or has not let go of a job for too long: after it was asked to
        stop, or since it last looked whether it was. `now` is of `time.monotonic`."""
        if self._closing:
            return False
        if not self._thread.is_alive():
            return True
        current, idle = self._current, self._idle_stop
        token = idle if current is None else current[1].token
        if token is None:
            return False
        asked = token.asked_at
        if asked is not None and now - asked > (LONG_SECONDS if token.patient else STOP_SECONDS):
            return True
        return now - token.looked_at > LONG_SECONDS

    def restart(self) -> None:
        """Give the engine's thread up and go on with another one. What the job wrote so far stands,
        its stream ends as failed; what waits is done by the new thread. The old one ends as soon as
        it comes back, and frees its models then."""
        log.error("the engine does not answer and is started again")
        current, self._current = self._current, None
        self._idle_stop = None
        self._turn += 1
        self._thread = _start(self._run)
        if current is not None:
            current[1].put(Failed(told("engine-restarted")))
            current[1].put(None)
        self._listener(InMemory(()))

    def close(self, timeout: float = 5.0) -> None:
        """Cancel what runs, drop what waits, free the model, end the thread."""
        self._closing = True
        current = self._current
        if current is not None:
            current[1].cancel()
        self._queue.put((Priority.LAST, next(self._order), None, None))
        self._wake()
        self._thread.join(timeout)

    def _submit(self, priority: Priority, work: _Work) -> Stream:
        stream = Stream(asyncio.get_running_loop())
        if self._closing:
            # nobody will take it from the queue any more
            stream.cancel()
            return stream
        self._queue.put((priority, next(self._order), work, stream))
        self._wake()
        self._asked()
        current = self._current
        if current is not None and current[0] is Priority.AHEAD:
            current[1].cancel()
        return stream

    def _wake(self) -> None:
        """Whatever is done in times of rest makes way."""
        idle_stop = self._idle_stop
        if idle_stop is not None:
            idle_stop.stop()

    def _made(self) -> Generator:
        generator = self._made_before()
        if generator is None:
            generator = self._own.generator = self._make_generator()
        return generator

    def _made_before(self) -> Generator | None:
        return getattr(self._own, "generator", None)

    def _run(self) -> None:
        turn = self._turn
        while (job := self._next(turn)) is not None:
            priority, _, work, stream = job
            if work is None or stream is None:
                break
            if self._closing:
                stream.cancel()
            if not stream.start():
                continue
            self._current = (Priority(priority), stream)
            if priority == Priority.AHEAD and not self._queue.empty():
                # somebody asked between the queue and here
                stream.cancel()
            if self._closing:
                stream.cancel()
            _perform(work, stream)
            if turn == self._turn:
                self._current = None
        generator = self._made_before()
        if generator is not None:
            generator.close()

    def _next(self, turn: int) -> _Job | None:
        """The next job; until there is one, the generator does idle work. None: another thread is
        the engine now."""
        while turn == self._turn:
            with contextlib.suppress(queue.Empty):
                return self._queue.get_nowait()
            pause = self._work_while_idle()
            with contextlib.suppress(queue.Empty):
                return self._queue.get(timeout=pause)
        return None

    def _work_while_idle(self) -> float | None:
        generator = self._made_before()
        if generator is None or self._closing:
            return None
        token = self._idle_stop = StopSignal()
        if not self._queue.empty():
            # it came before anyone could see the token
            token.stop()
        try:
            pause = generator.save_when_idle(token)
            if pause == 0.0 or token.stopped:
                return pause
            return 0.0 if generator.learn_when_idle(token, self._listener) else pause
        except Exception:
            log.exception("the engine failed while nobody asked for anything")
            return None
        finally:
            if self._idle_stop is token:
                self._idle_stop = None


def _start(run: Callable[[], None]) -> threading.Thread:
    """A thread with a large stack: llama.cpp splits some texts recursively."""
    thread = threading.Thread(target=run, name="engine", daemon=True)
    usual = threading.stack_size(STACK_BYTES)
    try:
        thread.start()
    finally:
        threading.stack_size(usual)
    return thread


def _perform(work: _Work, stream: Stream) -> None:
    """Run one job; whatever happens, its stream ends with one final event."""
    try:
        work(stream.put, stream.token)
    except BaseException as error:
        stream.put(final_event(error))
        if not isinstance(error, Exception):
            # the thread ends, which is noticed
            raise
    finally:
        stream.put(None)
