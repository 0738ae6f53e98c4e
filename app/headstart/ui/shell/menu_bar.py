"""The menu bar that a Mac's programs have: the window's commands, and what edits text. Main thread.

On a Mac Qt hangs it on the screen's edge and moves About, Settings and Quit into the program's own
menu, by their roles; other systems have none.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtGui import QAction, QKeyEvent, QKeySequence
from PySide6.QtWidgets import QApplication, QMainWindow, QMenu, QMenuBar

from headstart.ui.commands import Commands
from headstart.ui.wording import say

_Key = Qt.Key
_COMMAND = Qt.KeyboardModifier.ControlModifier
_SHIFT = Qt.KeyboardModifier.ShiftModifier
# "" begins a new group
_FILE = (
    "chat.new", "chat.new_private", "folder.new", "",
    "model.open_file", "model.open_folder", "chats.import", "chats.import_folder", "",
    "composer.attach", "chat.export", "chats.export", "",
    "chats.archive", "chats.trash", "chats.backups",
)  # fmt: skip
_FIND = ("chat.find", "chats.search", "files.search")
_VIEW = (
    "view.sidebar", "view.inspector", "chat.branches", "",
    "view.larger", "view.smaller", "view.usual", "",
    "models.show", "app.server", "prompts.open",
)  # fmt: skip
_WINDOW = ("app.palette", "view.pane", "chat.previous", "chat.next")
_HELP = ("help.guide", "help.keys", "app.news", "help.report")
_ROLES = {
    "help.about": QAction.MenuRole.AboutRole,
    "app.settings": QAction.MenuRole.PreferencesRole,
    "app.quit": QAction.MenuRole.QuitRole,
}
# in Qt's words, which it has in the window's language; with the keys that every field knows
_EDITS = (
    ("&Undo", _Key.Key_Z, _COMMAND),
    ("&Redo", _Key.Key_Z, _COMMAND | _SHIFT),
    ("", _Key.Key_unknown, _COMMAND),
    ("Cu&t", _Key.Key_X, _COMMAND),
    ("&Copy", _Key.Key_C, _COMMAND),
    ("&Paste", _Key.Key_V, _COMMAND),
    ("Select All", _Key.Key_A, _COMMAND),
)


def add_menu_bar(window: QMainWindow, commands: Commands) -> QMenuBar:
    """Give the window its menus; from now on their actions have the commands' keys."""
    bar = QMenuBar(window)
    file = _menu(bar, "shell.menu-file", commands, _FILE)
    for command_id, role in _ROLES.items():
        action = QAction(file)
        action.setMenuRole(role)
        commands.carry(command_id, action)
        file.addAction(action)
    edit = bar.addMenu(say("shell.menu-edit"))
    for words, key, held in _EDITS:
        if not words:
            edit.addSeparator()
            continue
        action = _action(edit, QCoreApplication.translate("QWidgetTextControl", words))
        action.setShortcut(QKeySequence(held | key))
        action.triggered.connect(_typing(key, held))
    edit.addSeparator()
    _fill(edit, commands, _FIND)
    _menu(bar, "shell.menu-view", commands, _VIEW)
    last = bar.addMenu(say("shell.window"))
    minimise = _action(last, say("shell.menu-minimise"))
    minimise.setShortcut(QKeySequence(_COMMAND | _Key.Key_M))
    minimise.triggered.connect(window.showMinimized)
    last.addSeparator()
    _fill(last, commands, _WINDOW)
    _menu(bar, "shell.help", commands, _HELP)
    window.setMenuBar(bar)
    return bar


def _menu(bar: QMenuBar, title: str, commands: Commands, ids: tuple[str, ...]) -> QMenu:
    menu = bar.addMenu(say(title))
    _fill(menu, commands, ids)
    return menu


def _fill(menu: QMenu, commands: Commands, ids: tuple[str, ...]) -> None:
    carried: list[tuple[str, QAction]] = []
    for command_id in ids:
        if not command_id:
            menu.addSeparator()
            continue
        action = _action(menu, "")
        commands.carry(command_id, action)
        carried.append((command_id, action))

    def look() -> None:
        for command_id, action in carried:
            action.setEnabled(commands.can_run(command_id))

    def leave() -> None:
        # an action that is off has no keys either, and nobody looks before they are pressed
        for _, action in carried:
            action.setEnabled(True)

    menu.aboutToShow.connect(look)
    menu.aboutToHide.connect(leave)


def _action(menu: QMenu, title: str) -> QAction:
    action = menu.addAction(title)
    # by its words Qt would take “Settings of this chat” for the program's own
    action.setMenuRole(QAction.MenuRole.NoRole)
    return action


def _typing(key: Qt.Key, held: Qt.KeyboardModifier) -> Callable[[], None]:
    """Press these keys in the widget that has the focus: each knows what they mean there."""

    def press() -> None:
        widget = QApplication.focusWidget()
        if widget is not None:
            QApplication.sendEvent(widget, QKeyEvent(QEvent.Type.KeyPress, key, held))

    return press
