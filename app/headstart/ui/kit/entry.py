"""An entry of a list on the left: an icon, its title, and a quiet note about its content."""

from __future__ import annotations

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFontMetrics, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QPushButton, QWidget

from headstart.ui.kit import icons, theme
from headstart.ui.kit.mirrored import visual

_INSET, _GAP = 8, 8


class SideEntry(QPushButton):
    """`accent`: True to draw the icon in the accent colour."""

    def __init__(
        self, title: str, icon: str, parent: QWidget | None = None, accent: bool = False
    ) -> None:
        super().__init__(parent)
        self._title, self._icon, self._accent = title, icon, accent
        self._note = ""
        self.setAccessibleName(title)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)

    def set_note(self, note: str) -> None:
        if note != self._note:
            self._note = note
            self.setAccessibleDescription(note)
            self.update()

    def nextCheckState(self) -> None:
        """Do nothing: the open page decides, not the click."""

    def sizeHint(self) -> QSize:
        return QSize(120, theme.px(theme.CONTROL))

    def minimumSizeHint(self) -> QSize:
        return QSize(40, theme.px(theme.CONTROL))

    def paintEvent(self, _event: QPaintEvent) -> None:
        colours = theme.current()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        area = QRectF(self.rect()).adjusted(0.5, 0.5, -0.5, -0.5)
        if self.isChecked() or self.underMouse():
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(colours.selected if self.isChecked() else colours.hover))
            painter.drawRoundedRect(area, theme.RADIUS_CONTROL, theme.RADIUS_CONTROL)
        if self.hasFocus():
            painter.setPen(QPen(QColor(colours.accent), 1.5))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            frame = area.adjusted(0.5, 0.5, -0.5, -0.5)
            painter.drawRoundedRect(frame, theme.RADIUS_CONTROL, theme.RADIUS_CONTROL)
        icon = icons.icon(self._icon, "accent" if self._accent else "quiet")
        side = icons.size()
        icon.paint(painter, visual(self, QRect(_INSET, 0, side, self.height())))
        left, right = _INSET + side + _GAP, self.width() - _INSET
        words = visual(self, QRect(left, 0, right - left, self.height()))
        font, small = theme.text_font(), theme.text_font(theme.SMALL_SIZE)
        middle, metrics = int(Qt.AlignmentFlag.AlignVCenter), QFontMetrics(font)
        painter.setFont(small)
        painter.setPen(QColor(colours.quiet))
        room = right - left - metrics.horizontalAdvance(self._title) - _GAP
        note = QFontMetrics(small).elidedText(self._note, Qt.TextElideMode.ElideRight, room)
        flags = middle | int(Qt.AlignmentFlag.AlignRight)
        painter.drawText(words, flags, note)
        painter.setFont(font)
        painter.setPen(QColor(colours.ink))
        painter.drawText(words, middle, self._title)
        painter.end()
