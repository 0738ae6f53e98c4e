"""The row below a message: its versions, the usual actions as icons, a menu with the other actions,
and the stats. The icons show while the pointer or the keyboard focus is in the message; their space
is reserved, so that nothing jumps."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QLabel, QMenu, QToolButton, QWidget

from headstart.core.chats.values import Message, MessageStatus, Role
from headstart.ui.commands import ItemCommand, add_items
from headstart.ui.kit import theme
from headstart.ui.kit.hover import settle_after
from headstart.ui.kit.mirrored import across, back_icon, forward_icon
from headstart.ui.kit.tool import small_tool
from headstart.ui.kit.when import clock_text
from headstart.ui.wording import say

# px at 100 %: height of a row, space around its items, gap after the time
_HEIGHT, _SPACE, _GAP = 28, 2, 10


class ActionRow:
    """Its widgets are children of `parent`. `show_version` gets the step to another version; `done`
    is called after an action by a button or the menu."""

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
        self._busy = self._active = self._editing = False
        # position of the row: y and width
        self._place = (0, 0)
        self.earlier = small_tool(
            parent, back_icon(), name=say("transcript.earlier-version"), tab=False
        )
        self.earlier.clicked.connect(lambda: show_version(-1))
        self.earlier.clicked.connect(lambda: done())
        self.later = small_tool(
            parent, forward_icon(), name=say("transcript.later-version"), tab=False
        )
        self.later.clicked.connect(lambda: show_version(1))
        self.later.clicked.connect(lambda: done())
        self.version = QLabel(parent)
        self.version.setObjectName("quiet")
        # by command id; made when first needed
        self._buttons: dict[str, QToolButton] = {}
        self._more: QToolButton | None = None
        self._time: QLabel | None = None

    @property
    def buttons(self) -> dict[str, QToolButton]:
        for command in self._commands:
            if not command.minor and command.id not in self._buttons:
                self._make(command)
        return self._buttons

    @property
    def more(self) -> QToolButton:
        if self._more is None:
            self._more = small_tool(
                self._parent, "ellipsis", name=say("transcript.more"), tab=False
            )
            self._more.clicked.connect(self._open_more)
            self._more.hide()
        return self._more

    def _make(self, command: ItemCommand[Message]) -> None:
        words = command.title if command.prominent else ""
        button = small_tool(self._parent, command.icon, words, command.title, tab=False)
        button.clicked.connect(lambda: command.run(self._message()))
        button.clicked.connect(lambda: self._done())
        button.setEnabled(not (self._busy and command.needs_idle))
        button.hide()
        self._buttons[command.id] = button

    # --- content -------------------------------------------------------------------------

    def show(self, message: Message, editing: bool) -> None:
        """Show the actions for the current state of a message."""
        self._editing = editing
        self.version.setText(
            say(
                "transcript.version-of-versions", version=message.version, versions=message.versions
            )
        )
        self.version.setAccessibleName(
            say(
                "transcript.version-version-of-versions",
                version=message.version,
                versions=message.versions,
            )
        )
        for command in self._commands:
            if command.prominent and command.shown(message) and command.id not in self._buttons:
                self._make(command)
        self.set_busy(self._busy)
        self.arrange()

    def set_busy(self, busy: bool) -> None:
        """Disable beginning or showing other versions while a reply is written in this chat."""
        self._busy = busy
        message = self._message()
        for command in self._commands:
            button = self._buttons.get(command.id)
            if button is not None and command.needs_idle:
                button.setEnabled(not busy)
        self.earlier.setEnabled(not busy and message.version > 1)
        self.later.setEnabled(not busy and message.version < message.versions)

    def set_active(self, active: bool) -> None:
        """Show the actions while the pointer or the keyboard focus is in the message."""
        if active != self._active:
            self._active = active
            self.arrange()

    # --- position ------------------------------------------------------------------------

    def place(self, y: int, width: int) -> int:
        """Place the row at `y`, on the side of the message's author; return its lower end."""
        if self._editing:
            self.arrange()
            return y
        self._place = (y, width)
        self.arrange()
        return y + _SPACE + theme.px(_HEIGHT)

    def arrange(self) -> None:
        """Show the widgets that belong in the row now, in order."""
        shown = self._shown()
        there: list[QWidget | None] = [
            self.earlier, self.version, self.later, *self._buttons.values(), self._more, self._time
        ]  # fmt: skip
        for one in there:
            if one is not None and one not in shown and not one.isHidden():
                one.hide()
        hints = [widget.sizeHint() for widget in shown]
        top, width = self._place
        total = sum(hint.width() + _SPACE for hint in hints)
        x = width - total if self._message().role is Role.USER else -4
        for widget, hint in zip(shown, hints, strict=True):
            y = top + _SPACE + (theme.px(_HEIGHT) - hint.height()) // 2
            left = across(x, hint.width(), width)
            widget.setGeometry(left, y, hint.width(), hint.height())
            widget.show()
            x += hint.width() + _SPACE
            if widget is self._time:
                x += _GAP

    def _shown(self) -> list[QWidget]:
        """The widgets to show now, from left to right."""
        message = self._message()
        if self._editing:
            return []
        writing = message.status is MessageStatus.OPEN
        versions: list[QWidget] = []
        if message.versions > 1 and not writing:
            versions = [self.earlier, self.version, self.later]
        if not self._active:
            always = [
                self._buttons[command.id]
                for command in self._commands
                if command.prominent and command.shown(message) and command.id in self._buttons
            ]
            return [*always, *versions]
        buttons: list[QWidget] = [
            self.buttons[command.id]
            for command in self._commands
            if not command.minor and command.shown(message)
        ]
        if not writing and self._minor(message):
            buttons.append(self.more)
        if message.role is Role.USER:
            return [self._clock(), *versions, *buttons]
        return [*buttons, *versions]

    def _clock(self) -> QLabel:
        """The time a question was asked; replies show theirs above the text."""
        if self._time is None:
            self._time = QLabel(self._parent)
            self._time.setObjectName("quiet")
        self._time.setText(clock_text(self._message().created_at))
        return self._time

    # --- the menu ------------------------------------------------------------------------

    def _minor(self, message: Message) -> tuple[ItemCommand[Message], ...]:
        return tuple(
            command
            for command in self._commands
            if command.minor and command.shown(message) and not (command.needs_idle and self._busy)
        )

    def _open_more(self) -> None:
        menu = QMenu(self._parent)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        settle_after(menu, self._parent)
        message = self._message()
        add_items(menu, self._minor(message), message)
        menu.triggered.connect(lambda _action: self._done())
        menu.popup(self.more.mapToGlobal(QPoint(0, self.more.height())))
