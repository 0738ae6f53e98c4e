"""Reporting a problem: a folder with everything that a report needs, which the user reads before it
goes anywhere. Nothing is sent. Main thread."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QStandardPaths, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QFileDialog, QPlainTextEdit, QPushButton, QWidget

from headstart.ui.kit import theme
from headstart.ui.kit.file_dialog import file_dialog
from headstart.ui.kit.sheet import Sheet
from headstart.ui.wording import say

ABOUT = "help.about-report"


class ReportSheet(Sheet):
    """Emits `saved` with the folder to save the report in."""

    wanted = Signal()
    saved = Signal(str)

    def __init__(self, parent: QWidget | None) -> None:
        super().__init__(say("help.report-problem"), parent, (760, 600))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.text = QPlainTextEdit(say("help.reading-log"), self)
        self.text.setReadOnly(True)
        self.text.setFont(theme.code_font(12))
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setAccessibleName(say("help.contents-of-report"))
        self.copy = QPushButton(say("help.copy"), self)
        self.save = QPushButton(say("help.save-to-folder"), self)
        self.save.setObjectName("primary")
        for button in (self.copy, self.save):
            button.setAutoDefault(False)
            button.setEnabled(False)
        self.copy.clicked.connect(self._on_copy)
        self.save.clicked.connect(self._ask)
        self.said = self.word()
        self.column.addWidget(self.word(say(ABOUT)))
        self.column.addWidget(self.text, 1)
        self.column.addWidget(self.said)
        self.buttons(self.copy, self.save)

    def show_text(self, text: str) -> None:
        self.text.setPlainText(text)
        for button in (self.copy, self.save):
            button.setEnabled(True)

    def show_saved(self, folder: str) -> None:
        self.said.setText(say("help.saved-to-folder", folder=folder))
        QDesktopServices.openUrl(QUrl.fromLocalFile(folder))

    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText(self.text.toPlainText())
        self.said.setText(say("help.copied"))

    def _ask(self) -> None:
        place = QStandardPaths.StandardLocation.DocumentsLocation
        start = QStandardPaths.writableLocation(place) or str(Path.home())
        dialog = file_dialog(self.window(), say("help.folder-for-report"), start)
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.fileSelected.connect(self.saved)
        dialog.open()
