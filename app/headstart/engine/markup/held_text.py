"""Text that is held back because it may become a mark, with the origin of each character. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from headstart.core.chats.parts import Origin, OriginRun, append_run


class HeldText:
    """Grows at its end and is taken from its beginning."""

    def __init__(self) -> None:
        self.text = ""
        self._runs: list[OriginRun] = []

    def __bool__(self) -> bool:
        return bool(self.text)

    def add(self, text: str, origin: Origin) -> None:
        self.text += text
        append_run(self._runs, len(text), origin)

    def give_back(self, text: str) -> None:
        """Text that was taken is looked at again, before all other."""
        self.text = text + self.text
        self._runs.insert(0, OriginRun(len(text), Origin.TARGET))

    def clear(self) -> None:
        self.text, self._runs = "", []

    def take(self, count: int) -> Iterator[tuple[str, Origin]]:
        """Remove so many characters, by origin; what nobody takes stays."""
        while count > 0:
            run = self._runs[0]
            size = min(count, run.length)
            text, self.text = self.text[:size], self.text[size:]
            if size == run.length:
                self._runs.pop(0)
            else:
                self._runs[0] = OriginRun(run.length - size, run.origin)
            count -= size
            yield text, run.origin

    def drop(self, count: int) -> None:
        for _ in self.take(count):
            pass

    def first(self, marks: Iterable[tuple[str, int]]) -> tuple[int, str] | None:
        """Position and text of the first of these marks, the longest at its position; each is
        looked for from a position of its own."""
        found = [(at, mark) for mark, begin in marks if (at := self.text.find(mark, begin)) >= 0]
        return min(found, key=lambda one: (one[0], -len(one[1])), default=None)

    def unsure(self, marks: Sequence[str]) -> int:
        """Length of the longest tail that may still become a mark."""
        limit = max((len(mark) for mark in marks), default=1) - 1
        for size in range(min(limit, len(self.text)), 0, -1):
            tail = self.text[-size:]
            if any(mark.startswith(tail) for mark in marks):
                return size
        return 0
