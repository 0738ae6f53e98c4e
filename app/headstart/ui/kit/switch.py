"""A switch: a check box with the look of a control that acts at once. Main thread."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QCheckBox, QWidget

from headstart.ui.kit import theme
from headstart.ui.kit.mirrored import across, is_mirrored

_WIDTH, _HEIGHT, _INSET = 36, 20, 3


class Switch(QCheckBox):
    """Has no text; its accessible name is the label beside it."""

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(name)
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def sizeHint(self) -> QSize:
        return QSize(_WIDTH + 4, _HEIGHT + 4)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def hitButton(self, place: QPoint) -> bool:
        return self.rect().contains(place)

    def paintEvent(self, _event: QPaintEvent) -> None:
        colours, on = theme.current(), self.isChecked()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        left = across(2, _WIDTH, self.width())
        area = QRectF(left, (self.height() - _HEIGHT) / 2, _WIDTH, _HEIGHT)
        painter.setPen(Qt.PenStyle.NoPen)
        fill = colours.accent if on else colours.off
        painter.setBrush(QColor(fill if self.isEnabled() else colours.edge))
        painter.drawRoundedRect(area, _HEIGHT / 2, _HEIGHT / 2)
        size = _HEIGHT - 2 * _INSET
        right = on is not is_mirrored()
        at = area.right() - _INSET - size if right else area.left() + _INSET
        painter.setBrush(QColor(colours.on_accent if on else "#ffffff"))
        painter.drawEllipse(QRectF(at, area.top() + _INSET, size, size))
        if self.hasFocus():
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(QColor(colours.ink), 1.5))
            frame = area.adjusted(-1, -1, 1, 1)
            painter.drawRoundedRect(frame, frame.height() / 2, frame.height() / 2)
        painter.end()
