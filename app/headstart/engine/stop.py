"""The stop signal: asks work to end, from another thread or at a deadline."""

from __future__ import annotations

import contextlib
import threading
import time
import weakref
from collections.abc import Callable, Iterator


class StopSignal:
    """Long work checks `stopped` after each short piece. `seconds` sets a deadline.

    Work that blocks in native code registers its own abort function (`aborting`).
    """

    def __init__(
        self, seconds: float | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._clock = clock
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._abort: Callable[[], None] | None = None
        self._deadline = None if seconds is None else clock() + seconds
        self._parent: StopSignal | None = None
        self._within: weakref.WeakSet[StopSignal] = weakref.WeakSet()
        # `time.monotonic` times of the request to stop and of the last check
        self.asked_at: float | None = None
        self.looked_at = time.monotonic()
        # true during work that cannot be interrupted
        self.patient = False
        # true while more urgent work waits for this one to pause
        self.gives_way = False

    @property
    def stopped(self) -> bool:
        self._look()
        if self._event.is_set() or (self._parent is not None and self._parent.stopped):
            return True
        return self._deadline is not None and self._clock() > self._deadline

    def stop(self) -> None:
        """From any thread."""
        with self._lock:
            if self.asked_at is None:
                self.asked_at = time.monotonic()
            self._event.set()
            if self._abort is not None:
                self._abort()
            within = list(self._within)
        for signal in within:
            signal.stop()

    def give_way(self) -> None:
        """From any thread: the work is to pause, and goes on later."""
        with self._lock:
            self.gives_way = True
            if self._abort is not None:
                self._abort()

    def gave_way(self) -> None:
        """The work has paused."""
        with self._lock:
            self.gives_way = False

    def within(self, seconds: float) -> StopSignal:
        """A signal that also stops after `seconds`."""
        signal = StopSignal(seconds, self._clock)
        signal._parent = self
        with self._lock:
            self._within.add(signal)
        return signal

    def set_abort(self, abort: Callable[[], None] | None) -> None:
        """Call `abort` on `stop` and `give_way` (at once if already asked); None removes it."""
        with self._lock:
            self._abort = abort
            if abort is not None and (self.stopped or self.gives_way):
                abort()

    @contextlib.contextmanager
    def patiently(self) -> Iterator[None]:
        """Mark the work inside as uninterruptible, however long it takes."""
        signals = [self]
        while (parent := signals[-1]._parent) is not None:
            signals.append(parent)
        try:
            for signal in signals:
                signal.patient = True
            yield
        finally:
            for signal in signals:
                signal.patient = False

    def _look(self) -> None:
        self.looked_at = time.monotonic()
        if self._parent is not None:
            self._parent._look()

    @contextlib.contextmanager
    def aborting(self, abort: Callable[[], None]) -> Iterator[None]:
        self.set_abort(abort)
        try:
            yield
        finally:
            self.set_abort(None)


# for work that never stops early
NEVER = StopSignal()
