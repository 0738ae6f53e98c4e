"""The transcript's context menu: copy, select all, copy a link."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu

if TYPE_CHECKING:
    from headstart.ui.transcript.view import TranscriptView


_FORMS = (("Markdown", "markdown"), ("With formatting", "formatted"), ("Plain text", "plain"))


def open_menu(
    view: TranscriptView, place: QPoint, selected: bool, link: str, message: str = ""
) -> None:
    """Show the menu at a place of the screen; does not wait. `message`: the id of what it is
    about."""
    menu = QMenu(view)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    copy = menu.addAction("Copy\tCtrl+C", view.copy_selection)
    copy.setEnabled(selected)
    menu.addAction("Select all\tCtrl+A", view.select_all)
    if link:
        menu.addAction("Copy link", lambda: QGuiApplication.clipboard().setText(link))
    for title, about in (("Copy message as", message), ("Copy chat as", "")):
        if about or title.startswith("Copy chat"):
            inner = menu.addMenu(title)
            for name, form in _FORMS:
                inner.addAction(name, partial(view.copy_requested.emit, about, form))
    menu.popup(place)
