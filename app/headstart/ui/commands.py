"""Commands: the only registry of the user's actions, with names, icons and keys. Main thread.

Shortcuts, the header, menus and the actions under a message are views of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Generic, TypeVar

from msgspec import Struct
from msgspec.structs import replace
from PySide6.QtGui import QAction, QKeySequence, QShortcut
from PySide6.QtWidgets import QAbstractButton, QMenu, QWidget

from headstart.core.chats.values import ChatSummary, Folder, Message
from headstart.ui.kit import icons
from headstart.ui.kit.keys import key_text, usual_keys, with_keys
from headstart.ui.wording import say

T = TypeVar("T")


def _always() -> bool:
    return True


def _for_each(_item: object) -> bool:
    return True


class Command(Struct, frozen=True):
    """An action of the window. `keys` in the syntax of QKeySequence; "" for none."""

    id: str
    run: Callable[[], object]
    icon: str = ""
    keys: str = ""
    enabled: Callable[[], bool] = _always
    more_keys: tuple[str, ...] = ()
    # also available while a sheet is in front
    always: bool = False

    @property
    def title(self) -> str:
        return say(f"commands.{self.id}")

    @property
    def hint(self) -> str:
        """The title, with the keys as this system displays them."""
        return f"{self.title} ({key_text(self.keys)})" if self.keys else self.title


class ItemCommand(Struct, Generic[T], frozen=True):
    """An action on a chat, message or folder; `shown` tells whether an item offers it."""

    id: str
    run: Callable[[T], object]
    icon: str = ""
    keys: str = ""
    shown: Callable[[T], bool] = _for_each
    # not available while a reply is being written in the chat
    needs_idle: bool = False
    # begins a new group in a menu
    apart: bool = False
    # the same action on several items at once; None if it takes only one
    many: Callable[[Sequence[T]], object] | None = None
    # in a row of buttons: listed in its menu instead
    minor: bool = False
    # in a row of buttons: shown with its title, and without hovering
    prominent: bool = False

    @property
    def title(self) -> str:
        return say(f"commands.{self.id}")


class Commands:
    """The registry; `chat`, `message` and `folder` are in menu order."""

    def __init__(self) -> None:
        self._add: Callable[[Command], None] = lambda _command: None
        self._run_unless_blocked: Callable[[str], None] = self.run
        self._blocked: Callable[[], bool] = lambda: False
        self.fill()

    def fill(
        self,
        window: tuple[Command, ...] = (),
        chat: tuple[ItemCommand[ChatSummary], ...] = (),
        message: tuple[ItemCommand[Message], ...] = (),
        folder: tuple[ItemCommand[Folder], ...] = (),
    ) -> None:
        """Register commands in place of the previous ones."""
        self._window = {
            command.id: replace(command, keys=usual_keys(command.keys)) for command in window
        }
        self._usual = dict(self._window)
        self._shortcuts: dict[str, list[QShortcut]] = {}
        self._carriers: dict[str, QAction] = {}
        self._bound: list[tuple[QAbstractButton, str]] = []
        self.chat = chat
        self.message = message
        self.folder = folder

    def __iter__(self) -> Iterator[Command]:
        return iter(self._window.values())

    def __getitem__(self, command_id: str) -> Command:
        return self._window[command_id]

    def run(self, command_id: str) -> None:
        """Run a command if it is enabled."""
        command = self[command_id]
        if command.enabled():
            command.run()

    def add_shortcuts(self, window: QWidget, blocked: Callable[[], bool]) -> None:
        """Add the shortcuts of `window`; while `blocked`, only `always` commands run."""
        self._blocked = blocked

        def run(command_id: str) -> None:
            if self.can_run(command_id):
                self.run(command_id)

        def add(command: Command) -> None:
            self._shortcuts[command.id] = made = []
            sequences = [QKeySequence(keys) for keys in (command.keys, *command.more_keys) if keys]
            if (carrier := self._carriers.get(command.id)) is not None:
                carrier.setShortcuts(sequences)
                return
            for sequence in sequences:
                shortcut = QShortcut(sequence, window)
                shortcut.activated.connect(partial(run, command.id))
                made.append(shortcut)

        self._add, self._run_unless_blocked = add, run
        for command in self:
            add(command)

    def can_run(self, command_id: str) -> bool:
        """True if the command's keys and menus do something now."""
        command = self[command_id]
        return command.enabled() and (command.always or not self._blocked())

    def usual_keys(self, command_id: str) -> str:
        """The keys of a command unless the user chose others."""
        return self._usual[command_id].keys

    def rebind(self, own: Mapping[str, str]) -> None:
        """Give commands the keys that the user chose, by id ("" for none); all others get their
        usual ones."""
        for usual in self._usual.values():
            keys = own.get(usual.id, usual.keys)
            # the other keys of the same action are as usual as the first
            more = usual.more_keys if keys == usual.keys else ()
            now = self._window[usual.id]
            if (now.keys, now.more_keys) == (keys, more):
                continue
            self._window[usual.id] = replace(usual, keys=keys, more_keys=more)
            self._drop_shortcuts(usual.id)
            self._add(self._window[usual.id])
        for button, command_id in self._bound:
            button.setToolTip(self[command_id].hint)

    def carry(self, command_id: str, action: QAction) -> None:
        """Have a menu bar's action run a command: its keys become those of the action, since keys
        that two have do nothing. After `add_shortcuts`."""
        command = self[command_id]
        action.setText(command.title)
        action.triggered.connect(lambda: self._run_unless_blocked(command_id))
        self._carriers[command_id] = action
        self._drop_shortcuts(command_id)
        self._add(command)

    def _drop_shortcuts(self, command_id: str) -> None:
        for shortcut in self._shortcuts.get(command_id, ()):
            shortcut.setEnabled(False)
            shortcut.deleteLater()

    def bind(self, button: QAbstractButton, command_id: str) -> None:
        """Have a button run a command, and take its title and hint."""
        command = self[command_id]
        self._bound.append((button, command_id))
        button.setToolTip(command.hint)
        button.setAccessibleName(command.title)
        button.clicked.connect(lambda: self.run(command_id))

    def add_to(self, menu: QMenu, command_id: str) -> None:
        command = self[command_id]
        action = menu.addAction(command.title, command.run)
        if command.icon:
            action.setIcon(icons.icon(command.icon))
        action.setText(with_keys(command.title, command.keys))
        action.setEnabled(command.enabled())


def add_items(menu: QMenu, commands: tuple[ItemCommand[T], ...], item: T) -> None:
    """Add the commands for `item` to a menu about it."""
    for command in commands:
        if not command.shown(item):
            continue
        if command.apart:
            menu.addSeparator()
        title = with_keys(command.title, command.keys)
        action = menu.addAction(title, partial(command.run, item))
        if command.icon:
            action.setIcon(icons.icon(command.icon))
