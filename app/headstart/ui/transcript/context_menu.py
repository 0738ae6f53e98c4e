"""The transcript's context menu: copy in several forms, select all, copy a link."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu, QWidget

from headstart.ui.transcript.copying import copy_markdown, copy_plain, copy_shown
from headstart.ui.transcript.host import Host

_FORMS = (("Markdown", "markdown"), ("With formatting", "formatted"), ("Plain text", "plain"))


def context_menu(
    parent: QWidget,
    host: Host,
    message: str,
    select_all: Callable[[], object],
    copy: Callable[[str, str], object],
) -> QMenu:
    """The menu over a message ("" for none); `copy` gets the message, "" for the chat, and a
    form."""
    menu = QMenu(parent)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    selecting, link = host.selecting, host.hovered_link
    for title, run in (
        ("Copy\tCtrl+C", copy_shown),
        ("Copy as Markdown\tCtrl+Shift+C", copy_markdown),
        ("Copy as plain text", copy_plain),
    ):
        menu.addAction(title, partial(run, selecting)).setEnabled(selecting.any)
    menu.addAction("Select all\tCtrl+A", select_all)
    if link:
        menu.addAction("Copy link", lambda: QGuiApplication.clipboard().setText(link))
    for title, about in (("Copy message as", message), ("Copy chat as", "")):
        if about or title.startswith("Copy chat"):
            inner = menu.addMenu(title)
            for name, form in _FORMS:
                inner.addAction(name, partial(copy, about, form))
    return menu
