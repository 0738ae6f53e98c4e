"""The transcript's context menu: copy in several forms, select all, copy a link."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QMenu, QWidget

from headstart.ui.kit.keys import with_keys
from headstart.ui.transcript.copying import copy_markdown, copy_plain, copy_shown
from headstart.ui.transcript.host import Host
from headstart.ui.wording import say

_FORMS = (
    ("transcript.markdown", "markdown"),
    ("transcript.with-formatting", "formatted"),
    ("transcript.plain-text", "plain"),
)


def context_menu(
    parent: QWidget,
    host: Host,
    message: str,
    select_all: Callable[[], object],
    copy: Callable[[str, str], object],
) -> QMenu:
    """The menu over a message ("" for none); `copy` gets the message ("" for the whole chat) and
    a format."""
    menu = QMenu(parent)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    selecting, link = host.selecting, host.hovered_link
    for title, run in (
        (with_keys(say("transcript.copy"), "Ctrl+C"), copy_shown),
        (with_keys(say("transcript.copy-as-markdown"), "Ctrl+Shift+C"), copy_markdown),
        (say("transcript.copy-as-plain-text"), copy_plain),
    ):
        menu.addAction(title, partial(run, selecting)).setEnabled(selecting.any)
    menu.addAction(with_keys(say("transcript.select-all"), "Ctrl+A"), select_all)
    if link:
        menu.addAction(
            say("transcript.copy-link"), lambda: QGuiApplication.clipboard().setText(link)
        )
    wholes = [("transcript.copy-message-as", message)] if message else []
    for title, about in (*wholes, ("transcript.copy-chat-as", "")):
        inner = menu.addMenu(say(title))
        for name, form in _FORMS:
            inner.addAction(say(name), partial(copy, about, form))
    return menu
