"""Hover that Qt forgets: it is not told that the pointer left a button whose menu or sheet opened,
which would stay grey. Main thread."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QTimer
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QApplication, QMenu, QWidget


def settle_hover(window: QWidget) -> None:
    """Have everything that the pointer has left look so."""
    place = QCursor.pos()
    for widget in window.findChildren(QWidget):
        if widget.underMouse() and not widget.rect().contains(widget.mapFromGlobal(place)):
            QApplication.sendEvent(widget, QEvent(QEvent.Type.Leave))
            widget.update()


def settle_after(menu: QMenu, owner: QWidget) -> None:
    """The same whenever this menu closes."""
    menu.aboutToHide.connect(
        lambda: QTimer.singleShot(0, owner, lambda: settle_hover(owner.window()))
    )
