"""What can be done with a message, below it: other versions, the usual actions, and a menu with
the others."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QLabel, QMenu, QToolButton, QWidget

from headstart.core.values import Message, MessageStatus, Role
from headstart.ui.commands import ItemCommand, add_items
from headstart.ui.tool import dress, small_tool

_SPACE = 2


class ActionRow:
    """Its widgets are children of `parent`; `show_version` is told how many versions on, `done`
    that something was done by a button or the menu."""

    def __init__(
        self,
        parent: QWidget,
        commands: Sequence[ItemCommand[Message]],
        message: Callable[[], Message],
        show_version: Callable[[int], object],
        done: Callable[[], object],
    ) -> None:
        self._parent = parent
        self._done = done
        self._commands = commands
        self._message = message
        self._busy = False
        self.earlier = small_tool(parent, "chevron-left", name="Earlier version")
        self.earlier.clicked.connect(lambda: show_version(-1))
        self.earlier.clicked.connect(lambda: done())
        self.later = small_tool(parent, "chevron-right", name="Later version")
        self.later.clicked.connect(lambda: show_version(1))
        self.later.clicked.connect(lambda: done())
        self.version = QLabel(parent)
        self.version.setObjectName("quiet")
        # by the id of the command
        self.buttons: dict[str, QToolButton] = {}
        for command in commands:
            if not command.minor:
                button = self.buttons[command.id] = small_tool(parent, command.icon, command.title)
                button.clicked.connect(lambda _checked, run=command.run: run(message()))
                button.clicked.connect(lambda _checked: done())
        self.more = small_tool(parent, "ellipsis", name="More")
        self.more.clicked.connect(self._open_more)

    def show(self, message: Message, editing: bool) -> None:
        """What there is to do with a message as it is now."""
        writing = message.status is MessageStatus.OPEN
        for widget in (self.earlier, self.version, self.later):
            widget.setVisible(message.versions > 1 and not writing)
        self.version.setText(f"{message.version} / {message.versions}")
        self.version.setAccessibleName(f"Version {message.version} of {message.versions}")
        for command in self._commands:
            if not command.minor:
                # the editor has buttons of its own
                shown = command.shown(message) and not (command.needs_idle and editing)
                self.buttons[command.id].setVisible(shown)
        self.more.setVisible(not writing and not editing and bool(self._minor(message)))
        self.set_busy(self._busy)

    def set_busy(self, busy: bool) -> None:
        """While a reply is written in this chat, no other version can be begun or shown."""
        self._busy = busy
        message = self._message()
        for command in self._commands:
            if command.needs_idle and not command.minor:
                self.buttons[command.id].setEnabled(not busy)
        self.earlier.setEnabled(not busy and message.version > 1)
        self.later.setEnabled(not busy and message.version < message.versions)

    def refresh_theme(self) -> None:
        dress(self.earlier, "chevron-left")
        dress(self.later, "chevron-right")
        dress(self.more, "ellipsis")
        for command in self._commands:
            if not command.minor:
                dress(self.buttons[command.id], command.icon)

    def place(self, y: int, width: int) -> int:
        """From `y` on, on the side of who wrote the message; returns where it ends."""
        row: list[QWidget] = [
            widget
            for widget in (
                self.earlier, self.version, self.later, *self.buttons.values(), self.more
            )
            if not widget.isHidden()
        ]  # fmt: skip
        if not row:
            return y
        self._fit(row, width)
        hints = [widget.sizeHint() for widget in row]
        total = sum(hint.width() + _SPACE for hint in hints)
        x = width - total if self._message().role is Role.USER else -4
        height = max(hint.height() for hint in hints)
        for widget, hint in zip(row, hints, strict=True):
            top = y + _SPACE + (height - hint.height()) // 2
            widget.setGeometry(x, top, hint.width(), hint.height())
            x += hint.width() + _SPACE
        return y + _SPACE + height

    def _fit(self, row: Sequence[QWidget], width: int) -> None:
        """In a narrow window the last ones are pictures only."""
        styles = Qt.ToolButtonStyle
        shown = [button for button in self.buttons.values() if button in row]
        for button in shown:
            button.setToolButtonStyle(styles.ToolButtonTextBesideIcon)
            button.setToolTip("")
        for button in reversed(shown):
            if sum(widget.sizeHint().width() + _SPACE for widget in row) <= width:
                return
            button.setToolButtonStyle(styles.ToolButtonIconOnly)
            button.setToolTip(button.text())

    def _minor(self, message: Message) -> tuple[ItemCommand[Message], ...]:
        return tuple(
            command
            for command in self._commands
            if command.minor and command.shown(message) and not (command.needs_idle and self._busy)
        )

    def _open_more(self) -> None:
        menu = QMenu(self._parent)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        message = self._message()
        add_items(menu, self._minor(message), message)
        menu.triggered.connect(lambda _action: self._done())
        menu.popup(self.more.mapToGlobal(QPoint(0, self.more.height())))
