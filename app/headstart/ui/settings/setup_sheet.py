"""The set-up of one program: its text to copy, and a test."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import QApplication, QPlainTextEdit, QPushButton, QWidget

from headstart.core.serving.setups import SetUp, Target
from headstart.ui.kit.sheet import Sheet
from headstart.ui.wording import say

_SIZE = (620, 460)


class SetUpSheet(Sheet):
    """Emits `test_wanted` with the dialect of the program."""

    test_wanted = Signal(str)

    def __init__(self, setup: SetUp, target: Target, parent: QWidget) -> None:
        super().__init__(say("settings.set-up-program", program=setup.name), parent, _SIZE)
        self._dialect = setup.dialect
        place = setup.place
        if target.windows:
            place = place.replace("~/", "%USERPROFILE%\\").replace("/", "\\")
        about = (
            say("settings.set-up-file", place=place) if place else say("settings.set-up-terminal")
        )
        if setup.code == "python":
            about = say("settings.set-up-python")
        self.column.addWidget(self.word(about))
        self.text = QPlainTextEdit(setup.text(target), self)
        self.text.setReadOnly(True)
        self.text.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setTabChangesFocus(True)
        self.text.setAccessibleName(say("settings.set-up-text"))
        self.column.addWidget(self.text, 1)
        if setup.code == "zed":
            self.column.addWidget(self.word(say("settings.set-up-zed", key=target.key)))
        self.told = self.word()
        self.told.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.column.addWidget(self.told)
        self.copy_button = QPushButton(say("settings.copy"), self)
        self.copy_button.clicked.connect(self._copy)
        self.test_button = QPushButton(say("settings.test"), self)
        self.test_button.clicked.connect(self._test)
        close = QPushButton(say("settings.close"), self)
        close.clicked.connect(self.accept)
        close.setDefault(True)
        self.buttons(close, left=(self.copy_button, self.test_button))

    def show_tested(self, dialect: str, said: str, worked: bool) -> None:
        """Show the answer to the test."""
        if dialect == self._dialect and not self.test_button.isEnabled():
            self.test_button.setEnabled(True)
            self.told.setText(say("settings.test-answer", text=said) if worked else said)

    def _copy(self) -> None:
        QApplication.clipboard().setText(self.text.toPlainText())
        self.told.setText(say("settings.copied"))

    def _test(self) -> None:
        self.test_button.setEnabled(False)
        self.told.setText(say("settings.test-runs"))
        self.test_wanted.emit(self._dialect)
