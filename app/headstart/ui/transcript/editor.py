"""Editor of a message's text: Enter submits, but in code, as in the composer; Esc cancels."""

from __future__ import annotations

from enum import StrEnum

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QPushButton, QWidget

from headstart.core.chats.values import Role
from headstart.core.text.shown import is_blank
from headstart.ui.kit import theme
from headstart.ui.kit.composing import commit_focused
from headstart.ui.kit.enter import begin_line, ends_message, is_enter
from headstart.ui.kit.mirrored import across
from headstart.ui.kit.wrapping import TextEdit
from headstart.ui.wording import say

_LEAST_LINES, _MOST_LINES = 2, 12
_GAP = 8


class After(StrEnum):
    """Action after an edit: answer it, do nothing, or continue the reply."""

    ANSWER = "answer"
    NOTHING = "nothing"
    MORE = "more"


_CHOICES = {
    Role.USER: (
        (After.ANSWER, "transcript.send-as-new-version"),
        (After.NOTHING, "transcript.save-without-answer"),
    ),
    Role.ASSISTANT: (
        (After.NOTHING, "transcript.save-as-new-version"),
        (After.MORE, "transcript.save-and-continue"),
    ),
}


class MessageEditor(TextEdit):
    submitted = Signal()
    cancelled = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if is_enter(event) and ends_message(self, event):
            self.submitted.emit()
        elif is_enter(event):
            begin_line(self)
        elif event.key() == Qt.Key.Key_Escape:
            self.cancelled.emit()
        else:
            super().keyPressEvent(event)


class EditPanel(QWidget):
    """The editor of a message with its buttons; Enter triggers the first one."""

    submitted = Signal(str, str)  # the text, and the action After
    cancelled = Signal()
    changed = Signal()

    def __init__(self, parent: QWidget, role: Role, text: str) -> None:
        super().__init__(parent)
        self.edit = MessageEditor(self)
        self.edit.setPlainText(text)
        self.edit.setAccessibleName(say("transcript.edit-message"))
        self.edit.moveCursor(self.edit.textCursor().MoveOperation.End)
        self.edit.textChanged.connect(self.changed)
        self.edit.cancelled.connect(self.cancelled)
        choices = _CHOICES.get(role, _CHOICES[Role.USER])
        self.edit.submitted.connect(lambda: self._submit(choices[0][0]))
        self._buttons = []
        for after, title in choices:
            button = QPushButton(say(title), self)
            button.clicked.connect(lambda _checked, after=after: self._submit(after))
            self._buttons.append(button)
        self._buttons[0].setObjectName("primary")
        self._cancel = QPushButton(say("transcript.cancel"), self)
        self._cancel.clicked.connect(self.cancelled)

    def set_busy(self, busy: bool) -> None:
        """Disable saving while a reply is written: no new version can begin then."""
        for button in self._buttons:
            button.setEnabled(not busy)

    def lay_out(self, width: int) -> int:
        """Place everything for `width`; return the height."""
        lines = round(self.edit.document().size().height())
        lines = min(_MOST_LINES, max(_LEAST_LINES, lines))
        height = lines * theme.line_height() + 20
        self.edit.setGeometry(0, 0, width, height)
        x, y, last = width, height + _GAP, 0
        for button in (*self._buttons, self._cancel):
            hint = button.sizeHint()
            x -= hint.width()
            button.setGeometry(across(x, hint.width(), width), y, hint.width(), hint.height())
            x -= _GAP
            last = max(last, hint.height())
        return y + last + 4

    def _submit(self, after: After) -> None:
        commit_focused()
        text = self.edit.toPlainText()
        if not is_blank(text):
            self.submitted.emit(text, after.value)
