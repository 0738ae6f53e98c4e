"""Connects the sidebar with the controllers, and opens the window of deleted chats."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from headstart.chat.preferences import Preferences
from headstart.core.values import ChatSummary, TrashedChat
from headstart.ui.commands import Commands
from headstart.ui.controllers.everything import Controllers
from headstart.ui.sidebar.sidebar import Sidebar

if TYPE_CHECKING:
    from headstart.ui.sidebar.trash import TrashWindow


def connect(sidebar: Sidebar, controllers: Controllers, commands: Commands) -> None:
    sidebar.set_commands(commands)
    chats = controllers.chat_list
    sidebar.rename_requested.connect(chats.rename)
    chats.listed.connect(sidebar.set_chats)
    chats.line_changed.connect(sidebar.set_chat)
    chats.status_changed.connect(sidebar.model.set_writing)
    sidebar.search.names = lambda: _names(sidebar.model.summaries(), controllers.models.name_of)
    sidebar.search_requested.connect(controllers.finding.find)
    controllers.finding.found.connect(sidebar.set_found)
    controllers.branch.chat_shown.connect(lambda chat, *_: sidebar.show_current(chat.id))
    controllers.branch.stayed.connect(sidebar.show_current)


def _names(
    chats: list[ChatSummary], name_of: Callable[[str], str]
) -> tuple[list[str], list[str], list[str]]:
    """Models, folders and tags of the chats that there are."""
    models = {name_of(chat.model) for chat in chats if chat.model}
    folders = {chat.folder for chat in chats if chat.folder}
    tags = {tag for chat in chats for tag in chat.tags}
    return sorted(models - {""}), sorted(folders), sorted(tags)


class TrashOpener(QObject):
    """One window at a time."""

    def __init__(self, parent: QWidget, controllers: Controllers, preferences: Preferences) -> None:
        super().__init__(parent)
        self._parent = parent
        self._chats = controllers.chat_list
        self._preferences = preferences
        self.window: TrashWindow | None = None
        self._chats.trashed.connect(self._show)

    def open(self) -> None:
        if self.window is None:
            # with the first use, not with the program
            from headstart.ui.sidebar.trash import TrashWindow

            days = self._preferences.current.trash_days
            window = self.window = TrashWindow(days, self._parent)
            window.restore_requested.connect(self._chats.restore)
            window.delete_requested.connect(self._chats.delete_for_good)
            window.finished.connect(self._on_closed)
        self.window.show()
        self.window.raise_()
        self._chats.list_trash()

    def _show(self, chats: list[TrashedChat]) -> None:
        if self.window is not None:
            self.window.set_chats(chats)

    def _on_closed(self) -> None:
        if self.window is not None:
            self.window.deleteLater()
            self.window = None
