"""The engine thread: a priority queue of requests, one at a time; events return to asyncio.

`Runner.stream` may be called on two threads, each with an event loop of its own: the window's, and
that of the server for other programs. Only the engine thread touches the generator.
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
from headstart.core.requests import (
    AheadRequest,
    CountRequest,
    EmbedRequest,
    GenerationRequest,
    LoadRequest,
)
from headstart.core.told import told
from headstart.engine.generator import GaveWay, Generator
from headstart.engine.stop import StopSignal
from headstart.engine.stream import Stream, final_event

log = logging.getLogger(__name__)
# address space only; untouched pages take no memory
STACK_BYTES = 64 << 20
# seconds a job has to end after a stop: a forward checks every few milliseconds
STOP_SECONDS = 30.0
# seconds for work that cannot be interrupted (an image, a long batch on a slow processor)
LONG_SECONDS = 900.0
_Work = Callable[[Emit, StopSignal], None]
_Job = tuple[int, int, _Work | None, Stream | None]


class Priority(IntEnum):
    """Lower runs first."""

    REQUEST = 0
    # other programs' requests, and their short ones without tools (titles)
    SERVED = 5
    SIDE = 6
    PRELOAD = 10
    AHEAD = 20
    # nobody waits for it
    LATER = 30
    LAST = 99


class Runner:
    """Owns the engine thread. The generator is made on it, closed on it, and used nowhere else."""

    def __init__(self, make_generator: Callable[[], Generator]) -> None:
        self._make_generator = make_generator
        self._queue: queue.PriorityQueue[_Job] = queue.PriorityQueue()
        self._order = itertools.count()
        # the engine thread's own generator; an abandoned thread keeps its own
        self._own = threading.local()
        self._current: tuple[Priority, Stream] | None = None
        self._idle_stop: StopSignal | None = None
        self._listener: Callable[[GenerationEvent], None] = lambda _event: None
        self._asked: Callable[[], None] = lambda: None
        self._closing = False
        # number of the present engine thread; abandoned ones have lower numbers
        self._turn = 0
        self._thread = _start(self._run)

    def stream(self, request: GenerationRequest, side: bool = False) -> Stream:
        """Run one turn; the last event is Finished or Failed. A served request comes after the
        window's, for which it pauses, and one on the `side` after those."""
        served = Priority.SIDE if side else Priority.SERVED
        return self._submit(
            served if request.served else Priority.REQUEST,
            lambda emit, stop: self._made().generate(request, emit, stop),
        )

    def preload(self, wanted: LoadRequest) -> Stream:
        """Load models ahead of their first request; the last event is InMemory or Failed."""
        return self._submit(
            Priority.PRELOAD,
            lambda emit, stop: self._made().preload(wanted, emit, stop),
        )

    def calibrate(self, wanted: LoadRequest) -> Stream:
        """Measure the speed of each draft depth; emits SpeedCurve events meanwhile."""
        return self._submit(
            Priority.PRELOAD,
            lambda emit, stop: self._made().calibrate(wanted, emit, stop),
        )

    def ahead(self, request: AheadRequest) -> Stream:
        """Prefill the certain part of the next prompt; any other job cancels it."""
        return self._submit(
            Priority.AHEAD,
            lambda emit, stop: self._made().ahead(request, emit, stop),
        )

    def count(self, request: CountRequest, hurried: bool = False) -> Stream:
        """Count tokens; `Counted` comes only if the model is loaded. Only a `hurried` count comes
        before work ahead, and ends it."""
        return self._submit(
            Priority.REQUEST if hurried else Priority.LATER,
            lambda emit, _stop: self._made().count(request, emit),
        )

    def embed(self, request: EmbedRequest) -> Stream:
        """Vectors of texts, after all replies; the last event is Embedded or Failed."""
        return self._submit(
            Priority.SIDE,
            lambda emit, stop: self._made().embed(request, emit, stop),
        )

    def release(self, keys: Collection[str]) -> Stream:
        """Unload models by key, or all of them; the last event is InMemory or Failed."""
        return self._submit(
            Priority.PRELOAD,
            lambda emit, stop: self._made().release(keys, emit, stop),
        )

    def wake(self) -> None:
        """Let the idle engine look for work again."""
        self._submit(Priority.LATER, lambda _emit, _stop: None)

    def on_idle(self, listener: Callable[[GenerationEvent], None]) -> None:
        """Call `listener` on the running loop with the events of the engine's idle work."""
        loop = asyncio.get_running_loop()

        def post(event: GenerationEvent) -> None:
            # a closed loop needs no events
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(listener, event)

        self._listener = post

    def on_asked(self, listener: Callable[[], None]) -> None:
        """Call `listener` on the loop's thread whenever a job is submitted."""
        self._asked = listener

    @property
    def working(self) -> bool:
        """True while a job runs or waits."""
        return self._current is not None or not self._queue.empty()

    @property
    def busy(self) -> bool:
        """True while something could hang: a job, idle work, or a dead engine thread."""
        working = self._current is not None or self._idle_stop is not None
        return working or not self._queue.empty() or not self._thread.is_alive()

    def stuck(self, now: float) -> bool:
        """True if the engine thread died, or a job is overdue: since it was asked to stop, or since
        it last checked for a stop. `now` is a `time.monotonic` time."""
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
        """Abandon the engine thread and start another. The present job keeps its text so far and
        its stream ends as failed; the new thread does the waiting jobs. The old thread frees its
        models and ends as soon as its call returns."""
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
        """Cancel the running job, drop waiting ones, free the models, end the thread."""
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
            # the queue is no longer served
            stream.cancel()
            return stream
        self._queue.put((priority, next(self._order), work, stream))
        self._wake()
        self._asked()
        current = self._current
        if current is not None and current[0] is Priority.AHEAD and priority <= Priority.AHEAD:
            current[1].cancel()
        if current is not None and _makes_way(current[0], priority):
            current[1].token.give_way()
        return stream

    def _waiting(self, upto: Priority) -> bool:
        """True if a job of this priority or a higher one waits."""
        with self._queue.mutex:
            return any(job[0] <= upto for job in self._queue.queue)

    def _wake(self) -> None:
        """Stop idle work."""
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
            if stream.paused_by not in (None, turn):
                # what it had written so far went with the engine before
                stream.put(Failed(told("engine-restarted")))
                stream.put(None)
                continue
            self._current = (Priority(priority), stream)
            if priority == Priority.AHEAD and self._waiting(Priority.AHEAD):
                # another job was submitted after this one left the queue
                stream.cancel()
            if self._closing:
                stream.cancel()
            if _makes_way(Priority(priority), Priority.REQUEST) and self._waiting(Priority.REQUEST):
                stream.token.give_way()
            gave_way = _perform(work, stream)
            if turn == self._turn:
                self._current = None
            if gave_way:
                # its number keeps it before all later ones
                stream.paused_by = turn
                self._queue.put(job)
        generator = self._made_before()
        if generator is not None:
            generator.close()

    def _next(self, turn: int) -> _Job | None:
        """The next job; the generator does idle work until one arrives. None: another thread is now
        the engine."""
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
            # a job arrived before `_wake` could see the token
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


def _makes_way(current: Priority, other: Priority) -> bool:
    """True if a running job pauses for another."""
    return current in (Priority.SERVED, Priority.SIDE) and other is Priority.REQUEST


def _perform(work: _Work, stream: Stream) -> bool:
    """Run one job; its stream always ends with one final event, unless the job gave way: then this
    is True, and it is to run again."""
    try:
        work(stream.put, stream.token)
    except GaveWay:
        if stream.pause():
            return True
    except BaseException as error:
        stream.put(final_event(error))
        if not isinstance(error, Exception):
            # this ends the thread, and `stuck` notices
            stream.put(None)
            raise
    stream.put(None)
    return False
