"""The boxes of a task list, with a tick for done ones. Qt draws a cross, which looks like a
failure. Main thread."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen, QTextBlockFormat, QTextDocument

from headstart.ui.kit import theme

_DONE = QTextBlockFormat.MarkerType.Checked
_OPEN = QTextBlockFormat.MarkerType.Unchecked
# px: size of a box; gap to the text; width beside the text that covers Qt's own mark
_SIZE, _GAP, _MARKER = 14.0, 8.0, 30.0


def paint_boxes(painter: QPainter, document: QTextDocument) -> None:
    """Paint boxes over the marks drawn with the document."""
    layout, colours = document.documentLayout(), theme.current()
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    block = document.begin()
    while block.isValid():
        marker = block.blockFormat().marker()
        if marker in (_DONE, _OPEN) and block.layout().lineCount():
            line = block.layout().lineAt(0)
            corner = layout.blockBoundingRect(block).topLeft() + line.position()
            rtl = block.layout().textOption().textDirection() == Qt.LayoutDirection.RightToLeft
            left = corner.x() + line.width() if rtl else corner.x() - _MARKER
            painter.fillRect(
                QRectF(left, corner.y(), _MARKER, line.height()), QColor(colours.ground)
            )
            x = left + _GAP if rtl else corner.x() - _GAP - _SIZE
            _paint_box(painter, QRectF(x, _middle(corner, line.ascent()), _SIZE, _SIZE), marker)
        block = block.next()
    painter.restore()


def _middle(corner: QPointF, ascent: float) -> float:
    """The top of a box beside the first line of text."""
    return corner.y() + ascent - _SIZE + 2


def _paint_box(painter: QPainter, box: QRectF, marker: QTextBlockFormat.MarkerType) -> None:
    colours = theme.current()
    done = marker == _DONE
    painter.setPen(QPen(QColor(colours.accent if done else colours.quiet), 1.2))
    painter.setBrush(QColor(colours.accent) if done else Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(box, 3, 3)
    if done:
        pen = QPen(QColor(colours.on_accent), 1.8)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        painter.setPen(pen)
        points = ((0.25, 0.52), (0.43, 0.70), (0.76, 0.32))
        painter.drawPolyline(
            [QPointF(box.x() + x * box.width(), box.y() + y * box.height()) for x, y in points]
        )
