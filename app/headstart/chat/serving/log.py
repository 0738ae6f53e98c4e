"""The list of requests of other programs: figures, never texts. The server's thread writes it, the
event loop's reads it."""

from __future__ import annotations

import itertools
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from headstart.core.chats.values import now_ms
from headstart.core.serving.line import ServedLine, Totals

# lines kept
MOST = 500


class ServingLog:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._lines: OrderedDict[int, ServedLine] = OrderedDict()
        self._stops: dict[int, Callable[[], None]] = {}
        self._totals = Totals()
        # seconds and tokens of processing so far, for what the reused ones would have taken
        self._spent, self._processed = 0.0, 0
        # a number that changes with each change
        self.version = 0

    def begin(self, program: str, model: str, stop: Callable[[], None]) -> int:
        """Add a line; `stop` ends its request, from any thread."""
        with self._lock:
            number = next(self._numbers)
            self._lines[number] = ServedLine(number, now_ms(), program, model)
            self._stops[number] = stop
            while len(self._lines) > MOST:
                self._lines.popitem(last=False)
            self.version += 1
            return number

    def change(self, number: int, **changes: Any) -> None:
        with self._lock:
            line = self._lines.get(number)
            if line is not None:
                self._lines[number] = replace(line, **changes)
                self.version += 1

    def end(self, number: int, **changes: Any) -> None:
        """The last change of a line; its figures join the totals."""
        self.change(number, **changes)
        with self._lock:
            self._stops.pop(number, None)
            line = self._lines.get(number)
            if line is None:
                return
            self._spent += line.prefill_seconds
            self._processed += line.processed
            each = self._spent / self._processed if self._processed else 0.0
            before = self._totals
            self._totals = Totals(
                before.requests + 1,
                before.prompt + line.prompt,
                before.reused + line.reused,
                (before.reused + line.reused) * each,
            )

    def stop(self, number: int) -> None:
        """End the request of a line."""
        with self._lock:
            stop = self._stops.get(number)
        if stop is not None:
            stop()

    def clear(self) -> None:
        """Forget the lines of ended requests."""
        with self._lock:
            for number in [one.number for one in self._lines.values() if not one.under_way]:
                del self._lines[number]
            self.version += 1

    @property
    def lines(self) -> list[ServedLine]:
        """The latest first."""
        with self._lock:
            return list(reversed(self._lines.values()))

    @property
    def totals(self) -> Totals:
        with self._lock:
            return self._totals

    @property
    def under_way(self) -> int:
        """The number of requests that are not ended."""
        with self._lock:
            return len(self._stops)
