"""The widget of a display formula: centred; wide ones scroll sideways."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QWidget

from headstart.core.markdown.formula import Formula, formula
from headstart.ui.kit import formulas, theme
from headstart.ui.transcript.blocks import BlockHost
from headstart.ui.transcript.markdown import Block
from headstart.ui.transcript.sideways import SidewaysBlock
from headstart.ui.wording import say

# size relative to the text
_LARGER = 1.15
_ROOM = 6


class FormulaBlock(SidewaysBlock):
    """Its document is the LaTeX source, for selecting and copying; it is shown if the formula
    cannot be drawn or is still being written."""

    def __init__(self, host: BlockHost, parent: QWidget, block: Block) -> None:
        super().__init__(host, parent, block)
        self._drawn: Formula | None = None
        self.refresh()

    def refresh(self) -> None:
        self._drawn = None if self.block.open else formula(self.block.text, display=True)
        self.document.setDefaultFont(
            theme.code_font() if self._drawn is None else theme.reading_font()
        )
        self.document.setPlainText(self.block.source.strip("\n"))
        self.setAccessibleName(
            say(
                "transcript.formula-value",
                value=self.block.text if self._drawn is None else self._drawn.words,
            )
        )

    @property
    def _em(self) -> float:
        return theme.px(theme.READING_SIZE) * formulas.SCALE * _LARGER

    def _size(self, drawn: Formula) -> tuple[float, float]:
        tag = self._tag_width(drawn)
        return (
            drawn.width * self._em + 2 * tag,
            (drawn.ascent + drawn.depth) * self._em + 2 * _ROOM,
        )

    def _tag_width(self, drawn: Formula) -> float:
        return (len(drawn.tag) + 2) * 0.6 * self._em + 8 if drawn.tag else 0

    def layout_width(self, width: int) -> int:
        if self._drawn is None:
            self.set_text_width(-1)
            size = self.document.size()
            return self.place_bar(width, size.width(), size.height())
        return self.place_bar(width, *self._size(self._drawn))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        if self._drawn is None:
            self.paint_inside(painter, event)
        else:
            self._paint(painter, self._drawn)
        painter.end()

    def _paint(self, painter: QPainter, drawn: Formula) -> None:
        colours, em = theme.current(), self._em
        width, height = self._size(drawn)
        if self.host.selection_in(self) is not None:
            colour = QColor(colours.selection)
        elif self.tint_selections():
            colour = self.tint_selections()[0].format.background().color()
        else:
            colour = None
        left = max(0.0, (self.width() - width) / 2) - self.bar.value() + self._tag_width(drawn)
        area = QRectF(left, _ROOM, drawn.width * em, height - 2 * _ROOM)
        if colour is not None:
            painter.fillRect(area.adjusted(-4, -2, 4, 2), colour)
        formulas.paint(painter, drawn, area, colours.ink)
        if drawn.tag:
            painter.setPen(QColor(colours.ink))
            painter.setFont(theme.reading_font())
            right = QRectF(0, 0, max(self.width(), width) - self.bar.value(), height)
            flags = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter
            painter.drawText(right, int(flags), f"({drawn.tag})")

    def position_at(self, point: QPointF) -> int:
        """The start or end of a drawn formula, which can only be selected as a whole."""
        if self._drawn is None:
            return super().position_at(point)
        return 0 if point.x() < self.width() / 2 else self.text_length()
