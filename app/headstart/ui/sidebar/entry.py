"""An entry of the sidebar with a second, quiet line: what is behind it, and how far it is."""

from __future__ import annotations

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPaintEvent
from PySide6.QtWidgets import QPushButton, QStyle, QStyleOptionButton, QWidget

from headstart.ui import theme

_INSET, _ICON, _GAP = 8, 16, 8


class SideEntry(QPushButton):
    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("sideEntry")
        self.setCheckable(True)
        self._title = "Models"
        self._line = ""

    def set_line(self, line: str) -> None:
        if line != self._line:
            self._line = line
            self.setAccessibleDescription(line)
            self.updateGeometry()
            self.update()

    def nextCheckState(self) -> None:
        """Which page is open decides, not the click."""

    def sizeHint(self) -> QSize:
        height = self.fontMetrics().height() + 2 * _INSET
        if self._line:
            height += QFontMetrics(self._small()).height() + 2
        return QSize(120, height)

    def paintEvent(self, event: QPaintEvent) -> None:
        option = QStyleOptionButton()
        self.initStyleOption(option)
        option.text = ""
        option.icon = type(self.icon())()
        painter = QPainter(self)
        self.style().drawControl(QStyle.ControlElement.CE_PushButton, option, painter, self)
        metrics, small = self.fontMetrics(), QFontMetrics(self._small())
        lines = metrics.height() + (small.height() + 2 if self._line else 0)
        top = (self.height() - lines) // 2
        self.icon().paint(painter, QRect(_INSET, top, _ICON, metrics.height()))
        left = _INSET + _ICON + _GAP
        room = self.width() - left - _INSET
        painter.setPen(QColor(theme.current().ink))
        painter.drawText(left, top + metrics.ascent(), self._title)
        if self._line:
            painter.setFont(self._small())
            painter.setPen(QColor(theme.current().quiet))
            text = small.elidedText(self._line, Qt.TextElideMode.ElideRight, room)
            painter.drawText(left, top + metrics.height() + 2 + small.ascent(), text)

    def _small(self) -> QFont:
        font = QFont(self.font())
        font.setPixelSize(theme.px(theme.SMALL_SIZE))
        return font
