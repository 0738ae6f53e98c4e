"""Hover states that Qt misses: a button that opens a menu or sheet is not told that the pointer
left, and would stay grey. Main thread."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QTimer
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QApplication, QMenu, QWidget


def settle_hover(window: QWidget) -> None:
    """Clear the hover state of every widget that the pointer has left."""
    place = QCursor.pos()
    for widget in window.findChildren(QWidget):
        if widget.underMouse() and not widget.rect().contains(widget.mapFromGlobal(place)):
            QApplication.sendEvent(widget, QEvent(QEvent.Type.Leave))
            widget.update()


def settle_after(menu: QMenu, owner: QWidget) -> None:
    """Call `settle_hover` whenever this menu closes."""
    menu.aboutToHide.connect(
        lambda: QTimer.singleShot(0, owner, lambda: settle_hover(owner.window()))
    )
