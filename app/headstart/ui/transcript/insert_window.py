"""A message that is put into a chat without anybody answering it. Main thread."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QLabel,
    QVBoxLayout,
    QWidget,
)

from headstart.core.values import Role
from headstart.ui.wrapping import TextEdit


class InsertWindow(QDialog):
    submitted = Signal(str, str)  # who says it, and the text

    def __init__(self, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Insert a message")
        self.resize(560, 320)
        hint = QLabel("Nobody answers it. What came after stays, as another version.", self)
        hint.setObjectName("quiet")
        hint.setWordWrap(True)
        self.who = QComboBox(self)
        self.who.setAccessibleName("Who says it")
        for title, role in (("You", Role.USER), ("The model", Role.ASSISTANT)):
            self.who.addItem(title, role.value)
        self.edit = TextEdit(self)
        self.edit.setAccessibleName("Text of the message")
        buttons = QDialogButtonBox(self)
        self.insert = buttons.addButton("Insert", QDialogButtonBox.ButtonRole.AcceptRole)
        buttons.addButton("Cancel", QDialogButtonBox.ButtonRole.RejectRole)
        buttons.accepted.connect(self._submit)
        buttons.rejected.connect(self.reject)
        self.insert.setEnabled(False)
        self.edit.textChanged.connect(
            lambda: self.insert.setEnabled(bool(self.edit.toPlainText().strip()))
        )
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 16, 20, 16)
        layout.setSpacing(8)
        for widget in (self.who, self.edit, hint, buttons):
            layout.addWidget(widget)
        self.edit.setFocus()

    def _submit(self) -> None:
        text = self.edit.toPlainText().strip()
        if text:
            self.submitted.emit(self.who.currentData(), text)
            self.accept()
