"""Scrolls to a position in the open chat: a message, or a match in it."""

from __future__ import annotations

from headstart.core.settings.state import ReadingPlace
from headstart.ui.transcript.column import Column
from headstart.ui.transcript.host import Host
from headstart.ui.transcript.sideways import SidewaysBlock
from headstart.ui.transcript.stack import Item


class Reaching:
    def __init__(self, column: Column, host: Host) -> None:
        self._column = column
        self._host = host
        # the position to resume reading at, once its message is loaded
        self.expected: ReadingPlace | None = None

    def reading_place(self) -> ReadingPlace | None:
        """Reading position; None at the end or in an empty chat."""
        anchor = self._column.reader()
        if anchor is None:
            return None
        return ReadingPlace(anchor.item.message.id, anchor.block, anchor.past)

    def read_on(self, message_id: str) -> bool:
        """Go to the expected position, if it is in this message."""
        place, self.expected = self.expected, None
        item = self._column.find(message_id)
        if place is None or place.message != message_id or item is None:
            return False
        self._column.scroll_to(item, place.block, place.past, at_top=True)
        return True

    def look_for(self, query: str) -> None:
        """Mark all matches of this query; "" marks nothing."""
        self._host.finding.look_for(query)
        self._host.repaint_blocks()

    def go_to(self, message_id: str, number: int = -1) -> bool:
        """Show a message, at match `number` of the search; return False if it is not loaded."""
        item = self._column.find(message_id)
        if item is None:
            return False
        if number < 0:
            self._column.scroll_to(item, None, 0)
            return True
        finding = self._host.finding
        finding.go_to(message_id, number)
        spans = finding.spans_in(item.message)
        if number < len(spans):
            self._reveal(item, spans[number][0])
        self._host.repaint_blocks()
        return True

    def _reveal(self, item: Item, offset: int) -> None:
        """Scroll to a character of a message's text."""
        text = self._column.widget(item).text
        if not text.slots:
            self._column.scroll_to(item, None, 0)
            return
        number = text.at_source(offset)
        self._column.scroll_to(item, number, 0)
        block = text.widget(number)
        now = [mark for mark in self._host.finding.marks_in(block) if mark[2]]
        if now:
            if isinstance(block, SidewaysBlock):
                block.reveal(now[0][0])
            self._column.scroll_to(item, number, round(block.y_of(now[0][0])))
