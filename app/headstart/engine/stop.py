"""The stop signal: how work is asked to end, from another thread or when its time is over."""

from __future__ import annotations

import contextlib
import threading
import time
import weakref
from collections.abc import Callable, Iterator


class StopSignal:
    """Long work looks at `stopped` after each short piece. With `seconds` it stops then at last.

    Work that blocks in native code has its own abort called while it does (`aborting`).
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
        # of `time.monotonic`: when it was asked to stop, and when work last looked
        self.asked_at: float | None = None
        self.looked_at = time.monotonic()
        # whether work is going on that cannot be cut off
        self.patient = False

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

    def within(self, seconds: float) -> StopSignal:
        """A signal that also stops after so many seconds."""
        signal = StopSignal(seconds, self._clock)
        signal._parent = self
        with self._lock:
            self._within.add(signal)
        return signal

    def set_abort(self, abort: Callable[[], None] | None) -> None:
        """Call `abort` on `stop` (at once when it was called already); None takes it away."""
        with self._lock:
            self._abort = abort
            if abort is not None and self.stopped:
                abort()

    @contextlib.contextmanager
    def patiently(self) -> Iterator[None]:
        """In here work cannot be cut off, however long it takes."""
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


# for work that nobody stops
NEVER = StopSignal()
