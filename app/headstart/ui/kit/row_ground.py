"""Background of list rows: tinted if chosen, grey under the pointer, with a frame for keyboard
focus. Main thread."""

from __future__ import annotations

from PySide6.QtCore import QRect, QRectF, Qt
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QStyle

from headstart.ui.kit import theme


def paint_ground(painter: QPainter, area: QRect, state: QStyle.StateFlag) -> None:
    """Paint the background; `state`: that of the row's style option."""
    colours, ground, flags = theme.current(), QRectF(area), QStyle.StateFlag
    chosen, over = bool(state & flags.State_Selected), bool(state & flags.State_MouseOver)
    if chosen or over:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(colours.selected if chosen else colours.hover))
        painter.drawRoundedRect(ground, theme.RADIUS_CONTROL, theme.RADIUS_CONTROL)
    if state & flags.State_HasFocus and state & flags.State_KeyboardFocusChange:
        painter.setPen(QPen(QColor(colours.accent), 1.5))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        # inside the row: pixels outside it would stay when the frame goes
        frame, radius = ground.adjusted(1, 1, -1, -1), theme.RADIUS_CONTROL - 1
        painter.drawRoundedRect(frame, radius, radius)
