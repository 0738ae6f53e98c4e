"""A block's text as a screen reader goes through it. Main thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, cast

from PySide6.QtCore import QPointF, QRect
from PySide6.QtGui import QTextBlock, QTextDocument

from headstart.ui.transcript.document_text import text_between


class ShownBlock(Protocol):
    """A block of the transcript, as it is needed here."""

    document: QTextDocument

    def shown_x(self, x: float) -> float: ...

    def left_of(self, block: QTextBlock) -> float: ...

    def text_length(self) -> int: ...

    def position_at(self, point: QPointF) -> int: ...

    def y_of(self, position: int) -> float: ...


class HeardBlock:
    """`text_face.Read` for one block; `selected` tells what of it is."""

    def __init__(self, block: ShownBlock, selected: Callable[[], tuple[int, int] | None]) -> None:
        self._block, self._selected = block, selected

    @property
    def text(self) -> str:
        return text_between(self._block.document, 0, self._block.text_length())

    @property
    def selection(self) -> tuple[int, int] | None:
        return self._selected()

    def position_at(self, point: QPointF) -> int:
        return self._block.position_at(point)

    def place_of(self, position: int) -> QRect:
        """The place of a character in the block's widget."""
        block = self._block
        place = min(position, block.text_length())
        part = block.document.findBlock(place)
        at = place - part.position()
        line = part.layout().lineForTextPosition(at)
        top = round(block.y_of(place))
        if not line.isValid():
            return QRect(0, top, 1, 1)
        left, right = _x(line.cursorToX(at)), _x(line.cursorToX(at + 1))
        begin, width = min(left, right), max(1.0, abs(right - left))
        begin = block.shown_x(block.left_of(part) + begin)
        return QRect(round(begin), top, round(width), round(line.height()))


def _x(found: object) -> float:
    # PySide gives the place, and the position that it was asked for
    return float(cast(float, found[0] if isinstance(found, tuple) else found))
