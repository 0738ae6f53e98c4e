"""The error window: what happened, the details, and a button that copies them. Nothing is sent."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from headstart.ui import theme


class ErrorWindow(QDialog):
    def __init__(self, happened: str, details: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Something went wrong")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        said = QLabel(happened, self)
        said.setTextFormat(Qt.TextFormat.PlainText)
        said.setWordWrap(True)
        note = QLabel(
            "Your chats are kept, and nothing was sent. To report this, copy the details below, "
            "and look through them first: they may name files of yours.",
            self,
        )
        note.setObjectName("quiet")
        note.setTextFormat(Qt.TextFormat.PlainText)
        note.setWordWrap(True)
        self.details = QPlainTextEdit(details, self)
        self.details.setReadOnly(True)
        self.details.setFont(theme.code_font(12))
        self.details.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.details.setAccessibleName("Details")
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, self)
        self.copy = QPushButton("Copy details", self)
        self.copy.clicked.connect(self._copy)
        buttons.addButton(self.copy, QDialogButtonBox.ButtonRole.ActionRole)
        buttons.rejected.connect(self.close)
        column = QVBoxLayout(self)
        column.setContentsMargins(20, 18, 20, 16)
        column.setSpacing(10)
        column.addWidget(said)
        column.addWidget(note)
        column.addWidget(self.details, 1)
        column.addWidget(buttons)
        self.resize(640, 420)

    def _copy(self) -> None:
        QGuiApplication.clipboard().setText(self.details.toPlainText())
        self.copy.setText("Copied")
