"""The window to insert a message into a chat without an answer. Main thread."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from headstart.core.chats.values import Role
from headstart.core.text.shown import is_blank
from headstart.ui.kit.choice import Choice
from headstart.ui.kit.composing import commit_focused
from headstart.ui.kit.sheet import Sheet
from headstart.ui.kit.wrapping import TextEdit
from headstart.ui.wording import say


class InsertWindow(Sheet):
    submitted = Signal(str, str)  # the author's role, and the text

    def __init__(self, parent: QWidget | None) -> None:
        super().__init__(say("transcript.insert-message"), parent, (560, 340))
        hint = QLabel(say("transcript.model-will-not-reply-to"), self)
        hint.setObjectName("quiet")
        hint.setWordWrap(True)
        self.who = Choice(self)
        self.who.setAccessibleName(say("transcript.author"))
        for title, role in (
            (say("transcript.you"), Role.USER),
            (say("transcript.model-2"), Role.ASSISTANT),
        ):
            self.who.addItem(title, role.value)
        self.edit = TextEdit(self)
        self.edit.setAccessibleName(say("transcript.text-of-message"))
        self.insert, cancel = (
            QPushButton(say("transcript.insert"), self),
            QPushButton(say("transcript.cancel"), self),
        )
        self.insert.setObjectName("primary")
        self.insert.clicked.connect(self._submit)
        cancel.clicked.connect(self.reject)
        for button in (self.insert, cancel):
            button.setAutoDefault(False)
        self.insert.setEnabled(False)
        for changed in (self.edit.textChanged, self.edit.composed):
            changed.connect(lambda: self.insert.setEnabled(not self.edit.is_blank()))
        for widget in (self.who, self.edit, hint):
            self.column.addWidget(widget)
        self.buttons(cancel, self.insert)
        self.edit.setFocus()

    def _submit(self) -> None:
        commit_focused()
        text = self.edit.toPlainText()
        if not is_blank(text):
            self.submitted.emit(self.who.currentData(), text)
            self.accept()
