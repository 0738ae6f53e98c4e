"""The search bar above a chat: number of matches, the current one, and a switch to include other
branches."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QLineEdit, QToolButton, QWidget

from headstart.core.chats.finding import FoundInChat
from headstart.ui.kit.fields import clearable
from headstart.ui.kit.hints import set_hint
from headstart.ui.kit.tool import small_tool
from headstart.ui.wording import say

# delay of the search after the last key
_PAUSE_MS = 120


class FindBar(QFrame):
    # the query, and True to search all branches
    looked_for = Signal(str, bool)
    # a message, the match's number in it, and True if it is on the branch on show
    chosen = Signal(str, int, bool)
    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("findBar")
        self.edit = _Edit(self)
        set_hint(self.edit, say("transcript.find-in-chat"))
        self.edit.setAccessibleName(say("transcript.find-in-chat"))
        clearable(self.edit)
        for button in self.edit.findChildren(QToolButton):
            button.setAccessibleName(say("transcript.clear"))
        self.count = QLabel(self)
        self.count.setObjectName("quiet")
        self.branches = small_tool(
            self, "git-branch", name=say("transcript.look-through-other-branches-too")
        )
        self.branches.setCheckable(True)
        self.earlier = small_tool(self, "chevron-up", name=say("transcript.previous-shift-enter"))
        self.later = small_tool(self, "chevron-down", name=say("transcript.next-enter"))
        self.close_button = small_tool(self, "x", name=say("transcript.close-esc"))
        layout = QHBoxLayout(self)
        layout.setContentsMargins(20, 6, 12, 6)
        layout.setSpacing(4)
        layout.addWidget(self.edit, 1)
        layout.addWidget(self.count)
        for button in self._buttons:
            layout.addWidget(button)
        self._found: list[FoundInChat] = []
        # a match from the search of all chats: the query and the message
        self._wanted: tuple[str, str] | None = None
        # the current match: its message and its number in it; True: scroll to it
        self._now: tuple[str, int] | None = None
        self._moved = False
        # number of the current match over all messages; -1 for none
        self._at = -1
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_PAUSE_MS)
        self._timer.timeout.connect(self._look)
        self.edit.textEdited.connect(lambda _text: self._timer.start())
        self.edit.textChanged.connect(self._on_text)
        self.edit.stepped.connect(self.step)
        self.edit.left.connect(self.leave)
        self.branches.toggled.connect(lambda _on: self._look())
        self.earlier.clicked.connect(lambda: self.step(-1))
        self.later.clicked.connect(lambda: self.step(1))
        self.close_button.clicked.connect(self.leave)
        self.hide()

    @property
    def _buttons(self) -> tuple[QToolButton, ...]:
        return self.branches, self.earlier, self.later, self.close_button

    def open(self, query: str = "") -> None:
        """Show the bar; `query`: the selected text, or a query from elsewhere."""
        if query:
            self.edit.setText(query)
        self.show()
        self.edit.setFocus()
        self.edit.selectAll()
        self._look()

    def follow(self, query: str, message_id: str) -> None:
        """Remember a match from the search of all chats, to show once its chat is open."""
        self._wanted = (query, message_id) if query else None

    def reach(self, message_id: str) -> None:
        """Show the remembered match: its message is loaded."""
        wanted, self._wanted = self._wanted, None
        if wanted is not None and wanted[1] == message_id:
            self.edit.setText(wanted[0])
            self._timer.stop()
            self._now, self._moved = (message_id, 0), True
            self.show()
            self.looked_for.emit(wanted[0], self.branches.isChecked())

    def leave(self) -> None:
        if not self.isHidden():
            self.hide()
            self._timer.stop()
            self._found, self._at = [], -1
            self.looked_for.emit("", False)
            self.closed.emit()

    def set_found(self, query: str, found: list[FoundInChat]) -> None:
        """Show the number of matches of `query`; a new search begins with the last one, because the
        reader is at the end."""
        if query != self.edit.text() or self.isHidden():
            return
        self._found = found
        now, moved = self._now, self._moved
        self._moved = False
        self._at = -1 if now is None else self._place_of(*now)
        total = self._total
        if self._at < 0 and total:
            shown = sum(one.count for one in found if one.shown)
            self._at, moved = (shown or total) - 1, True
        self._say()
        if moved:
            self._show()

    def _place_of(self, message_id: str, number: int) -> int:
        at = 0
        for one in self._found:
            if one.message_id == message_id:
                return at + min(number, one.count - 1)
            at += one.count
        return -1

    def look_again(self) -> None:
        """Repeat the search after a change of the chat, without scrolling."""
        if not self.isHidden() and self.edit.text().strip():
            self.looked_for.emit(self.edit.text(), self.branches.isChecked())

    def step(self, by: int) -> None:
        if self._timer.isActive():
            self._timer.stop()
            self._look()
            return
        if self._total:
            self._at = (self._at + by) % self._total
            self._say()
            self._show()

    @property
    def _total(self) -> int:
        return sum(one.count for one in self._found)

    def _on_text(self, text: str) -> None:
        if not text:
            # also after the clear button
            self._timer.start()

    def _look(self) -> None:
        self._at, self._now, self._moved = -1, None, True
        query = self.edit.text()
        if not query.strip():
            self._found = []
            self._say()
        self.looked_for.emit(query, self.branches.isChecked())

    def _say(self) -> None:
        total = self._total
        if not self.edit.text().strip():
            text = ""
        elif not total:
            text = say("transcript.nothing-found")
        else:
            text = say("transcript.at-of-total", at=self._at + 1, total=total)
        self.count.setText(text)
        for button in (self.earlier, self.later):
            button.setEnabled(total > 0)

    def _show(self) -> None:
        at = self._at
        for one in self._found:
            if 0 <= at < one.count:
                self._now = (one.message_id, at)
                self.chosen.emit(one.message_id, at, one.shown)
                return
            at -= one.count


class _Edit(QLineEdit):
    stepped = Signal(int)
    left = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        shift = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        match event.key():
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                self.stepped.emit(-1 if shift else 1)
            case Qt.Key.Key_Down:
                self.stepped.emit(1)
            case Qt.Key.Key_Up:
                self.stepped.emit(-1)
            case Qt.Key.Key_Escape:
                self.left.emit()
            case _:
                super().keyPressEvent(event)
