"""The transcript's context menu: copy in several forms, select all, copy a link."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu, QWidget

from headstart.ui.transcript.column import message_of
from headstart.ui.transcript.copying import copy_markdown, copy_plain, copy_shown

if TYPE_CHECKING:
    from headstart.ui.transcript.view import TranscriptView


_FORMS = (("Markdown", "markdown"), ("With formatting", "formatted"), ("Plain text", "plain"))


def open_menu(view: TranscriptView, place: QPoint, under: QWidget | None) -> None:
    """Show the menu at a place of the screen; does not wait. `under`: what is below the mouse."""
    menu = QMenu(view)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    selecting, link = view.selecting, view.host.hovered_link
    message = message_of(view.column.items, under)
    for title, run in (
        ("Copy\tCtrl+C", copy_shown),
        ("Copy as Markdown\tCtrl+Shift+C", copy_markdown),
        ("Copy as plain text", copy_plain),
    ):
        menu.addAction(title, partial(run, selecting)).setEnabled(selecting.any)
    menu.addAction("Select all\tCtrl+A", view.select_all)
    if link:
        menu.addAction("Copy link", lambda: QGuiApplication.clipboard().setText(link))
    for title, about in (("Copy message as", message), ("Copy chat as", "")):
        if about or title.startswith("Copy chat"):
            inner = menu.addMenu(title)
            for name, form in _FORMS:
                inner.addAction(name, partial(view.copy_requested.emit, about, form))
    menu.popup(place)
