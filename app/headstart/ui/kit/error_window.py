"""The error window: what happened, the details, and a button that copies them. Nothing is sent."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QWidget,
)

from headstart.ui.kit import theme
from headstart.ui.kit.sheet import Sheet
from headstart.ui.wording import say


class ErrorWindow(Sheet):
    def __init__(self, happened: str, details: str, parent: QWidget | None = None) -> None:
        super().__init__(say("kit.something-went-wrong"), parent, (640, 420))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        said = QLabel(happened, self)
        said.setTextFormat(Qt.TextFormat.PlainText)
        said.setWordWrap(True)
        note = QLabel(
            say("kit.your-chats-kept-and-nothing"),
            self,
        )
        note.setObjectName("quiet")
        note.setTextFormat(Qt.TextFormat.PlainText)
        note.setWordWrap(True)
        self.details = QPlainTextEdit(details, self)
        self.details.setReadOnly(True)
        self.details.setFont(theme.code_font(12))
        self.details.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.details.setAccessibleName(say("kit.details"))
        self.copy, close = (
            QPushButton(say("kit.copy-details"), self),
            QPushButton(say("kit.close"), self),
        )
        self.copy.clicked.connect(self._copy)
        close.clicked.connect(self.accept)
        close.setDefault(True)
        self.copy.setAutoDefault(False)
        self.column.addWidget(said)
        self.column.addWidget(note)
        self.column.addWidget(self.details, 1)
        self.buttons(self.copy, close)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.details.toPlainText())
        self.copy.setText(say("kit.copied"))
