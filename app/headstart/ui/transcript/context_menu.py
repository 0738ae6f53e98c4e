"""The transcript's context menu: copy, select all, copy a link."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu

if TYPE_CHECKING:
    from headstart.ui.transcript.view import TranscriptView


def open_menu(view: TranscriptView, place: QPoint, selected: bool, link: str) -> None:
    """Show the menu at a place of the screen; does not wait."""
    menu = QMenu(view)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    copy = menu.addAction("Copy\tCtrl+C", view.copy_selection)
    copy.setEnabled(selected)
    menu.addAction("Select all\tCtrl+A", view.select_all)
    if link:
        menu.addAction("Copy link", lambda: QGuiApplication.clipboard().setText(link))
    menu.popup(place)
