"""Commands: the one registry of what the user can do, with names, icons and keys. Main thread.

Shortcuts, the header, menus and the actions under a message are views of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Generic, TypeVar

from msgspec import Struct
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QAbstractButton, QMenu, QWidget

from headstart.core.chats.values import ChatSummary, Folder, Message
from headstart.ui.kit import icons
from headstart.ui.wording import say

T = TypeVar("T")


def _always() -> bool:
    return True


def _for_each(_item: object) -> bool:
    return True


class Command(Struct, frozen=True):
    """Something that the window can do. `keys` as QKeySequence reads them; "" for none."""

    id: str
    run: Callable[[], object]
    icon: str = ""
    keys: str = ""
    enabled: Callable[[], bool] = _always
    more_keys: tuple[str, ...] = ()
    # also while a sheet is in front
    always: bool = False

    @property
    def title(self) -> str:
        return say(f"commands.{self.id}")

    @property
    def hint(self) -> str:
        """The title, and the keys as this system writes them."""
        return f"{self.title} ({key_text(self.keys)})" if self.keys else self.title


class ItemCommand(Struct, Generic[T], frozen=True):
    """Something that can be done with a chat, or a message; `shown` says with which ones."""

    id: str
    run: Callable[[T], object]
    icon: str = ""
    keys: str = ""
    shown: Callable[[T], bool] = _for_each
    # not while a reply is written in the chat
    needs_idle: bool = False
    # begins a new group in a menu
    apart: bool = False
    # the same with several at once; None where it cannot be done with them
    many: Callable[[Sequence[T]], object] | None = None
    # of those that have a row of buttons: in its menu
    minor: bool = False
    # with its words, and there for who does not come near, too
    prominent: bool = False

    @property
    def title(self) -> str:
        return say(f"commands.{self.id}")


class Commands:
    """`chat`, `message` and `folder` are in the order in which menus show them."""

    def __init__(self) -> None:
        self.fill()

    def fill(
        self,
        window: tuple[Command, ...] = (),
        chat: tuple[ItemCommand[ChatSummary], ...] = (),
        message: tuple[ItemCommand[Message], ...] = (),
        folder: tuple[ItemCommand[Folder], ...] = (),
    ) -> None:
        """Register commands, in the place of those that were registered."""
        self._window = {command.id: command for command in window}
        self.chat = chat
        self.message = message
        self.folder = folder

    def __iter__(self) -> Iterator[Command]:
        return iter(self._window.values())

    def __getitem__(self, command_id: str) -> Command:
        return self._window[command_id]

    def run(self, command_id: str) -> None:
        """Do it, if it can be done now."""
        command = self[command_id]
        if command.enabled():
            command.run()

    def add_shortcuts(self, window: QWidget, blocked: Callable[[], bool]) -> None:
        """While something is in front, only what leaves it works."""

        def run(command: Command) -> None:
            if command.always or not blocked():
                self.run(command.id)

        for command in self:
            for keys in filter(None, (command.keys, *command.more_keys)):
                shortcut = QShortcut(QKeySequence(keys), window)
                shortcut.activated.connect(partial(run, command))

    def bind(self, button: QAbstractButton, command_id: str) -> None:
        """Have a button do it, and say so."""
        command = self[command_id]
        button.setToolTip(command.hint)
        button.setAccessibleName(command.title)
        button.clicked.connect(lambda: self.run(command_id))

    def add_to(self, menu: QMenu, command_id: str) -> None:
        command = self[command_id]
        action = menu.addAction(command.title, command.run)
        if command.icon:
            action.setIcon(icons.icon(command.icon))
        if command.keys:
            action.setText(f"{command.title}\t{key_text(command.keys)}")
        action.setEnabled(command.enabled())


def add_items(menu: QMenu, commands: tuple[ItemCommand[T], ...], item: T) -> None:
    """Add the commands for `item` to a menu about it."""
    for command in commands:
        if not command.shown(item):
            continue
        if command.apart:
            menu.addSeparator()
        text = f"{command.title}\t{key_text(command.keys)}" if command.keys else command.title
        action = menu.addAction(text, partial(command.run, item))
        if command.icon:
            action.setIcon(icons.icon(command.icon))


def key_text(keys: str) -> str:
    return QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText)
