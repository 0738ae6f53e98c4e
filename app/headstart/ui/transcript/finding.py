"""Search in the open chat: marks in the blocks, and the current match.

The search covers the Markdown source; a block marks the characters that show a match.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import Protocol

from headstart.core.chats.finding import spans_of
from headstart.core.chats.parts import Origin, OriginRun
from headstart.core.chats.values import Message
from headstart.core.text.units import spans_in_units
from headstart.ui.transcript.blocks import TextBlock
from headstart.ui.transcript.document_text import objects_of
from headstart.ui.transcript.origins import tinted_ranges


class FindingHost(Protocol):
    def place_of(self, block: TextBlock) -> tuple[int, int] | None: ...

    def message(self, number: int) -> Message: ...


class ChatFinding:
    def __init__(self, host: FindingHost) -> None:
        self._host = host
        self.query = ""
        # the current match: its message and its number in it
        self.current: tuple[str, int] | None = None
        self._spans: dict[str, tuple[str, list[tuple[int, int]]]] = {}
        self._marks: dict[int, tuple[object, list[tuple[int, int, bool]]]] = {}

    def look_for(self, query: str) -> None:
        """Mark the matches of this query; "" marks nothing."""
        if query.strip() != self.query:
            self.query, self.current = query.strip(), None
            self._spans.clear()
            self._marks.clear()

    def go_to(self, message_id: str, number: int) -> None:
        self.current = (message_id, number)
        self._marks.clear()

    def spans_in(self, message: Message) -> list[tuple[int, int]]:
        """Matches in a message's text, as start and end offsets."""
        text = message.text
        known = self._spans.get(message.id)
        if known is None or known[0] != text:
            known = self._spans[message.id] = text, list(spans_of(self.query, text))
        return known[1]

    def marks_in(self, block: TextBlock) -> list[tuple[int, int, bool]]:
        """Matches as positions in the block's document; True for the current one."""
        if not self.query:
            return []
        state = (block.block, self.query, self.current)
        known = self._marks.get(id(block))
        if known is None or known[0] != state:
            known = self._marks[id(block)] = state, self._found(block)
        return known[1]

    def _found(self, block: TextBlock) -> list[tuple[int, int, bool]]:
        place = self._host.place_of(block)
        if place is None:
            return []
        message = self._host.message(place[0])
        source, start = block.source()
        spans = self.spans_in(message)
        at = bisect_right(spans, (start, -1))
        if at and spans[at - 1][1] > start:
            at -= 1
        shown, objects = block.document.toPlainText(), objects_of(block.document)
        marks = []
        for number in range(at, len(spans)):
            begin, end = spans[number]
            if begin >= start + len(source):
                break
            runs = [OriginRun(begin, Origin.TARGET), OriginRun(end - begin, Origin.LOOKUP)]
            ranges = tinted_ranges(shown, source, start, runs, objects)
            current = self.current == (message.id, number)
            marks += [(first, last, current) for first, last, _ in spans_in_units(shown, ranges)]
        return marks
