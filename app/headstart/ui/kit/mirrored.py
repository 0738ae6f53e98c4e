"""Places in a window that is read from right to left. Main thread.

Layouts are mirrored by Qt; what is placed or painted by hand asks here.
"""

from __future__ import annotations

from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QApplication, QStyle, QWidget

from headstart.core.text.shown import isolated


def is_mirrored() -> bool:
    """True in a window that is read from right to left."""
    return QApplication.layoutDirection() is Qt.LayoutDirection.RightToLeft


def across(left: int, width: int, room: int) -> int:
    """The left edge of a part of this width in `room` pixels: mirrored, it is as far from the right
    end."""
    return room - left - width if is_mirrored() else left


def visual(widget: QWidget, area: QRect) -> QRect:
    """An area of a widget as it is on the screen."""
    return QStyle.visualRect(widget.layoutDirection(), widget.rect(), area)


def turned(area: QRect, whole: QRect) -> QRect:
    """A part of `whole` as it is on the screen; given as in a window that is read from the left."""
    return QStyle.visualRect(QApplication.layoutDirection(), whole, area)


def draw_words(
    painter: QPainter, area: QRect, words: str, whole: QRect, *, ends: bool = False
) -> None:
    """Draw a line of text where `turned` places it: from the side where reading begins, or so that
    it `ends` at the other one. Names keep their own direction."""
    flags = Qt.AlignmentFlag
    side = flags.AlignRight if ends is not is_mirrored() else flags.AlignLeft
    place = int(flags.AlignVCenter | flags.AlignAbsolute | side)
    painter.drawText(turned(area, whole), place, isolated(words))


def forward_icon() -> str:
    """The arrow towards what follows, and what is folded."""
    return "chevron-left" if is_mirrored() else "chevron-right"


def back_icon() -> str:
    return "chevron-right" if is_mirrored() else "chevron-left"


def back_arrow() -> str:
    return "arrow-right" if is_mirrored() else "arrow-left"
