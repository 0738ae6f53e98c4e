"""The sidebar says that there are no chats only when that is known."""

from __future__ import annotations

from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from headstart.ui.sidebar.sidebar import Sidebar
from tests.support.plain import plain

HINT = "Your chats will appear here."


def test_no_chats_are_told_when_they_were_listed(qtbot: QtBot) -> None:
    sidebar = Sidebar()
    qtbot.addWidget(sidebar)
    sidebar.show()
    # folders come first, from another question
    sidebar.set_folders([])
    assert HINT not in _said(sidebar)
    sidebar.set_chats([], {})
    assert HINT in _said(sidebar)


def _said(sidebar: Sidebar) -> list[str]:
    return [plain(label.text()) for label in sidebar.findChildren(QLabel) if label.isVisible()]
