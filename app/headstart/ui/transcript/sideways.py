"""A block that scrolls sideways if it is wider than the column."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QWheelEvent
from PySide6.QtWidgets import QScrollBar, QWidget

from headstart.ui.transcript.blocks import BlockHost, TextBlock
from headstart.ui.transcript.markdown import Block

BAR = 10


class SidewaysBlock(TextBlock):
    """`pad`, `head` and `foot`: space beside, above and below the document, in px."""

    pad, head, foot = 0, 0, 0

    def __init__(self, host: BlockHost, parent: QWidget, block: Block) -> None:
        super().__init__(host, parent, block)
        self.bar = QScrollBar(Qt.Orientation.Horizontal, self)
        self.bar.setCursor(Qt.CursorShape.ArrowCursor)
        self.bar.valueChanged.connect(lambda _value: self.update())
        self.bar.hide()

    def offset(self) -> QPointF:
        return QPointF(self.pad - self.bar.value(), self.head)

    def place_bar(self, width: int, wide: float, high: float) -> int:
        """Place the bar for a document of this size in a block of `width`; return the height."""
        inner = width - 2 * self.pad
        hidden = max(0, round(wide) - inner)
        height = self.head + round(high) + self.foot
        # extra space for the bar, if the block has too little below its lines
        if hidden and self.foot < BAR:
            height += BAR - self.foot
        self.bar.setVisible(hidden > 0)
        if hidden:
            self.bar.setRange(0, hidden)
            self.bar.setPageStep(inner)
            self.bar.setSingleStep(24)
            left = max(0, self.pad - 2)
            self.bar.setGeometry(left, height - BAR, width - 2 * left, BAR)
        else:
            self.bar.setRange(0, 0)
        return height

    def paint_inside(self, painter: QPainter, event: QPaintEvent) -> None:
        """Paint the document, clipped at the padding."""
        area = QRectF(self.pad, self.head, self.width() - 2 * self.pad, self.height() - self.head)
        painter.setClipRect(area)
        self.paint_document(painter, event.rect())

    def reveal(self, position: int) -> None:
        """Scroll sideways to a position of the document."""
        block = self.document.findBlock(position)
        line = block.layout().lineForTextPosition(position - block.position())
        if line.isValid():
            x: Any = line.cursorToX(position - block.position())
            at = self.left_of(block) + float(x[0] if isinstance(x, tuple) else x)
            at = self.shown_x(at) - self.offset().x()
            inner = self.width() - 2 * self.pad
            if not self.bar.value() <= at <= self.bar.value() + inner - 40:
                self.bar.setValue(round(at - inner / 3))

    def wheelEvent(self, event: QWheelEvent) -> None:
        sideways = event.angleDelta().x() or (
            event.angleDelta().y() if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 0
        )
        if sideways and self.bar.maximum() > 0:
            self.bar.setValue(self.bar.value() - sideways // 2)
            event.accept()
        else:
            event.ignore()
