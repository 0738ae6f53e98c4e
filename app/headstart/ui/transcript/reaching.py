"""Going to a place of the open chat: a message, or what was found in it."""

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
        # where a chat is read on from, once its messages are here
        self.expected: ReadingPlace | None = None

    def reading_place(self) -> ReadingPlace | None:
        """Reading position; None at the end, and where nothing is shown."""
        anchor = self._column.reader()
        if anchor is None:
            return None
        return ReadingPlace(anchor.item.message.id, anchor.block, anchor.past)

    def read_on(self, message_id: str) -> bool:
        """Go to the place that was expected, if it is in this message."""
        place, self.expected = self.expected, None
        item = self._column.find(message_id)
        if place is None or place.message != message_id or item is None:
            return False
        self._column.scroll_to(item, place.block, place.past, at_top=True)
        return True

    def look_for(self, query: str) -> None:
        """Mark this everywhere; "" marks nothing."""
        self._host.finding.look_for(query)
        self._host.repaint_blocks()

    def go_to(self, message_id: str, number: int = -1) -> bool:
        """Show a message, at the `number`th place of what is looked for; whether it is here."""
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
        """Have a character of a message's text in view."""
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
