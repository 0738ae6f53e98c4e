"""Tokens' bytes to text pieces: whole characters, stop strings held back, reasoning apart.

Pure; one instance a reply. Every piece keeps the origin of the token that it came from.
"""

from __future__ import annotations

import codecs
from collections.abc import Sequence

from headstart.core.events import TextPiece
from headstart.core.parts import Origin, OriginRun, PartKind, append_run

THINK_OPEN, THINK_CLOSE = "<think>", "</think>"


class TextStream:
    """Feed it bytes, get pieces. `stopped` turns true at a stop string, which is not emitted.

    `raw` is everything decoded so far, tags and held-back text included.
    """

    def __init__(
        self, stop: Sequence[str] = (), reasoning: bool = False, at_start: bool = True
    ) -> None:
        """`reasoning`: it begins inside a reasoning block. `at_start`: one may still open."""
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._stop = tuple(text for text in stop if text)
        self._kind = PartKind.REASONING if reasoning else PartKind.TEXT
        self._at_start = at_start and not reasoning
        self._trim = False
        self._held = ""
        self._runs: list[OriginRun] = []
        self._raw: list[str] = []
        self.stopped = False

    @property
    def raw(self) -> str:
        return "".join(self._raw)

    def push(self, data: bytes, origin: Origin = Origin.TARGET) -> list[TextPiece]:
        """What can be shown after these bytes; nothing after `stopped`."""
        text = self._decoder.decode(data)
        if not (self._stop or self._held or self._at_start or self._trim or self.stopped) and (
            self._kind is PartKind.TEXT
        ):
            # nearly every token: there is nothing to look for
            self._raw.append(text)
            return [TextPiece(self._kind, text, origin)] if text else []
        return self._advance(text, origin, last=False)

    @property
    def incomplete(self) -> int:
        """How many bytes of a character that is not whole yet have come."""
        return len(self._decoder.getstate()[0])

    def finish(self, ended: bool = True) -> list[TextPiece]:
        """What was held back: the reply ended before it became a stop string or a tag.

        When it was stopped from outside (not `ended`), half a character is dropped; the model's
        own broken bytes show as a replacement character.
        """
        rest = self._decoder.decode(b"", final=True) if ended else ""
        return self._advance(rest, Origin.TARGET, last=True)

    def _advance(self, text: str, origin: Origin, last: bool) -> list[TextPiece]:
        if self.stopped:
            return []
        self._raw.append(text)
        self._held += text
        append_run(self._runs, len(text), origin)
        pieces: list[TextPiece] = []
        while True:
            marks = self._marks()
            found = [(at, mark) for mark in marks if (at := self._held.find(mark)) >= 0]
            if not found:
                break
            at, mark = min(found)
            if mark in self._stop:
                self._take(at, pieces)
                self._held, self._runs, self.stopped = "", [], True
                return pieces
            self._take(at, pieces)
            self._take(len(mark), None)
            opening = mark == THINK_OPEN
            self._kind = PartKind.REASONING if opening else PartKind.TEXT
            self._at_start, self._trim = False, True
        keep = 0 if last else self._unsure(self._marks())
        self._take(len(self._held) - keep, pieces)
        return pieces

    def _marks(self) -> tuple[str, ...]:
        if self._kind is PartKind.REASONING:
            return (*self._stop, THINK_CLOSE)
        # a reasoning block only ever opens a reply; later the tag is ordinary text
        return (*self._stop, THINK_OPEN) if self._at_start else self._stop

    def _unsure(self, marks: Sequence[str]) -> int:
        """Length of the longest tail that may still become a mark."""
        limit = max((len(mark) for mark in marks), default=1) - 1
        for size in range(min(limit, len(self._held)), 0, -1):
            tail = self._held[-size:]
            if any(mark.startswith(tail) for mark in marks):
                return size
        return 0

    def _take(self, count: int, pieces: list[TextPiece] | None) -> None:
        """Move `count` characters out of what is held, into `pieces` or away."""
        while count > 0:
            run = self._runs[0]
            size = min(count, run.length)
            text, self._held = self._held[:size], self._held[size:]
            if size == run.length:
                self._runs.pop(0)
            else:
                self._runs[0] = OriginRun(run.length - size, run.origin)
            count -= size
            if pieces is None:
                continue
            if self._trim:
                text = text.lstrip("\n")
            if not text:
                continue
            self._trim = False
            if self._at_start and not text.isspace():
                self._at_start = False
            if pieces and pieces[-1].kind is self._kind and pieces[-1].origin is run.origin:
                text = pieces.pop().text + text
            pieces.append(TextPiece(self._kind, text, run.origin))
