"""The menus about chats and folders in the list. Main thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMenu, QWidget

from headstart.core.chats.values import ChatSummary, Folder
from headstart.ui.commands import Commands, add_items
from headstart.ui.wording import say

# ids of chats, and their target folder: "" for none, None for a new one
Move = Callable[[Sequence[str], str | None], object]


def about_folder(parent: QWidget, commands: Commands, folder: Folder) -> QMenu:
    menu = _menu(parent)
    add_items(menu, commands.folder, folder)
    return menu


def about_chats(
    parent: QWidget,
    commands: Commands,
    chats: Sequence[ChatSummary],
    folders: Sequence[Folder],
    move: Move,
) -> QMenu:
    """The menu of a chat, or the commands that apply to all of several."""
    menu = _menu(parent)
    if len(chats) > 1:
        title = menu.addAction(say("sidebar.count-chats", count=len(chats)))
        title.setEnabled(False)
        menu.addSeparator()
    ids = [chat.id for chat in chats if not chat.private]
    first = chats[0]
    for command in commands.chat:
        if command.apart and ids and command.shown(first):
            _add_folders(menu, ids, folders, move, first.folder if len(chats) == 1 else None)
        if len(chats) == 1:
            add_items(menu, (command,), first)
        elif command.many is not None and command.shown(first):
            if command.apart:
                menu.addSeparator()
            menu.addAction(command.title, partial(command.many, chats))
    return menu


def _add_folders(
    menu: QMenu, ids: Sequence[str], folders: Sequence[Folder], move: Move, now: str | None
) -> None:
    inner = menu.addMenu(say("sidebar.move-to"))
    inner.addAction(say("sidebar.new-folder"), partial(move, ids, None))
    if now != "":
        inner.addAction(say("sidebar.no-folder"), partial(move, ids, ""))
    inner.addSeparator()
    for folder in folders:
        depth = folder.path.count("/")
        action = inner.addAction("   " * depth + folder.name, partial(move, ids, folder.path))
        action.setEnabled(folder.path != now)


def _menu(parent: QWidget) -> QMenu:
    menu = QMenu(parent)
    menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    return menu
