"""Selecting text across the blocks of a transcript: mouse places in, selected text out.

Works over any host that knows its messages' blocks; `selection.Selection` holds the two places.
"""

from __future__ import annotations

from typing import Protocol

from PySide6.QtCore import QPoint
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QWidget

from headstart.ui.transcript.blocks import TextBlock
from headstart.ui.transcript.selection import Place, Selection


class SelectingHost(Protocol):
    def shown_blocks(self) -> list[list[TextBlock]]: ...

    def blocks_of(self, number: int) -> list[TextBlock]: ...

    def place_of(self, block: TextBlock) -> tuple[int, int] | None: ...

    def text_of(self, number: int) -> str: ...


class Selecting:
    """The one selection of a transcript and what the mouse does to it."""

    def __init__(self, host: SelectingHost, viewport: QWidget) -> None:
        self._host = host
        self._viewport = viewport
        self.selection = Selection()

    @property
    def any(self) -> bool:
        return self.selection.ends is not None

    def messages_up_to(self, otherwise: int) -> int:
        """How many messages reach to the end of the selection."""
        ends = self.selection.ends
        return otherwise if ends is None else ends[1][0] + 1

    def range_in(self, block: TextBlock) -> tuple[int, int] | None:
        if not self.any:
            return None
        place = self._place_of(block, 0)
        if place is None:
            return None
        return self.selection.range_in(place[0], place[1], block.text_length())

    def begin(self, block: TextBlock, position: int, extend: bool) -> None:
        """A press: begins a new selection there, or moves the end of the one there is."""
        place = self._place_of(block, position)
        if extend and self.selection.anchor:
            self.selection.head = place
        elif place is None:
            self.selection.clear()
        else:
            self.selection.start(place)
        self._repaint()

    def extend_to(self, point: QPoint) -> None:
        """Move the end to what is nearest to a point of the viewport."""
        place = self.nearest(point)
        if place is not None:
            self.selection.head = place
            self._repaint()

    def select_word(self, block: TextBlock, position: int) -> None:
        cursor = QTextCursor(block.document)
        cursor.setPosition(min(position, block.text_length()))
        cursor.select(QTextCursor.SelectionType.WordUnderCursor)
        self.selection.anchor = self._place_of(block, cursor.selectionStart())
        self.selection.head = self._place_of(block, cursor.selectionEnd())
        self._repaint()

    def select_all(self) -> None:
        last = len(self._host.shown_blocks()) - 1
        if last >= 0:
            self.selection.anchor = (0, 0, 0)
            self.selection.head = (last, 1 << 30, 1 << 30)
            self._repaint()

    def shift(self, messages: int) -> None:
        """So many messages were put before all others."""
        self.selection.shift(messages)

    def clear(self) -> None:
        self.selection.clear()
        self._repaint()

    def text(self) -> str:
        """What is selected, blocks apart by an empty line."""
        ends = self.selection.ends
        if ends is None:
            return ""
        shown = self._host.shown_blocks()
        pieces = []
        for number in range(ends[0][0], min(ends[1][0] + 1, len(shown))):
            if not shown[number] and ends[0][0] < number < ends[1][0]:
                # wholly selected and far away: its words, without making widgets for them
                pieces.append(self._host.text_of(number).strip())
                continue
            for index, block in enumerate(self._host.blocks_of(number)):
                found = self.selection.range_in(number, index, block.text_length())
                if found:
                    pieces.append(block.selected_text(*found))
        return "\n\n".join(pieces)

    def nearest(self, point: QPoint) -> Place | None:
        """The place in the text that is nearest to a point of the viewport."""
        best: tuple[int, Place] | None = None
        for number, blocks in enumerate(self._host.shown_blocks()):
            for index, block in enumerate(blocks):
                local = block.mapFrom(self._viewport, point)
                distance = max(-local.y(), 0, local.y() - block.height())
                if best is None or distance < best[0]:
                    best = distance, (number, index, block.position_at(local.toPointF()))
        return None if best is None else best[1]

    def _place_of(self, block: TextBlock, position: int) -> Place | None:
        found = self._host.place_of(block)
        return None if found is None else (*found, position)

    def _repaint(self) -> None:
        for blocks in self._host.shown_blocks():
            for block in blocks:
                block.update()
