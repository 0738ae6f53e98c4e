"""Where chats go beside the database: the mirror, backups, and the copies that are made of it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QFileDialog,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QProgressBar,
    QPushButton,
    QWidget,
)

from headstart.chat.transfer.backup import SUFFIX, Copy
from headstart.core.text import size_text
from headstart.ui.elided import ElidedLabel
from headstart.ui.file_dialog import file_dialog
from headstart.ui.settings.form import Page

MIRROR = (
    "Each chat is also kept there as a Markdown file. What you write or change in the folder is "
    "never overwritten or deleted; private chats are never written."
)
BACKUP = (
    "One file with all chats, files and settings, made while you go on. Restoring brings back what "
    "is missing; what came since stays."
)
COPIES = "Copies of the chats are made every day (the last five), and before each update of them."
_KINDS = {"daily": "daily copy", "schema": "before an update", "salvage": "before a repair"}
_PATH = int(Qt.ItemDataRole.UserRole)


class FilesPage(Page):
    """Calls `change` with the fields to replace."""

    imported = Signal()
    folder_imported = Signal()
    exported = Signal()
    backup_requested = Signal(str)
    restore_requested = Signal(str)

    def __init__(
        self, mirror: str, change: Callable[..., None], parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._change = change
        form = self.section("Chats in files")
        form.addRow(
            _row(
                ("Import chats…", self.imported.emit),
                ("Import a folder…", self.folder_imported.emit),
                ("Export all chats…", self.exported.emit),
            )
        )
        form = self.section("Mirror as Markdown")
        self.folder = ElidedLabel("", self, 120)
        self.stop = QPushButton("Stop", self)
        self.stop.setToolTip("The files that are there stay")
        self.stop.clicked.connect(lambda: self.choose_mirror(""))
        choose = QPushButton("Choose folder…", self)
        choose.clicked.connect(self._ask_mirror)
        line = QHBoxLayout()
        line.addWidget(self.folder, 1)
        line.addWidget(choose)
        line.addWidget(self.stop)
        form.addRow(line)
        form.addRow(self.word(MIRROR))
        form = self.section("Backups")
        form.addRow(
            _row(("Back up now…", self._ask_backup), ("Restore from a file…", self._ask_restore))
        )
        self.bar = QProgressBar(self)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName("How far the backup is")
        self.bar.hide()
        form.addRow(self.bar)
        form.addRow(self.word(BACKUP))
        self.copies = QListWidget(self)
        self.copies.setAccessibleName("Automatic copies")
        self.copies.setFixedHeight(110)
        self.copies.itemSelectionChanged.connect(self._show_buttons)
        self.copies.itemActivated.connect(lambda _: self._restore_copy())
        self.restore = QPushButton("Restore this copy…", self)
        self.restore.clicked.connect(self._restore_copy)
        form.addRow(self.copies)
        line = QHBoxLayout()
        line.addWidget(self.restore)
        line.addStretch(1)
        form.addRow(line)
        form.addRow(self.word(COPIES))
        self.column.addStretch(1)
        self.set_mirror(mirror)
        self._show_buttons()

    def set_mirror(self, folder: str) -> None:
        self.folder.set_full_text(folder or "No folder")
        self.folder.setToolTip(folder)
        self.stop.setVisible(bool(folder))

    def set_copies(self, copies: Sequence[Copy]) -> None:
        self.copies.clear()
        for copy in copies:
            moment = dt.datetime.fromtimestamp(copy.made_at, dt.UTC).astimezone()
            kind = _KINDS.get(copy.kind, copy.kind)
            text = f"{moment:%Y-%m-%d %H:%M}  ·  {kind}  ·  {size_text(copy.size)}"
            item = QListWidgetItem(text)
            item.setData(_PATH, str(copy.path))
            self.copies.addItem(item)
        self._show_buttons()

    def show_progress(self, count: int, total: int) -> None:
        self.bar.setRange(0, total)
        self.bar.setValue(count)

    def show_making(self, making: bool) -> None:
        self.bar.setRange(0, 0)
        self.bar.setVisible(making)

    def _show_buttons(self) -> None:
        self.restore.setEnabled(bool(self.copies.selectedItems()))

    def _restore_copy(self) -> None:
        for item in self.copies.selectedItems():
            self.restore_requested.emit(str(item.data(_PATH)))

    def choose_mirror(self, folder: str) -> None:
        """Mirror to a folder from now on; "" for nowhere."""
        self.set_mirror(folder)
        self._change(mirror_folder=folder)

    def _ask_mirror(self) -> None:
        dialog = file_dialog(self.window(), "A folder for the mirror")
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.fileSelected.connect(self.choose_mirror)
        dialog.open()

    def _ask_backup(self) -> None:
        dialog = file_dialog(self.window(), "Back up")
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilter(f"Backups (*{SUFFIX})")
        dialog.selectFile(f"Headstart {dt.datetime.now(dt.UTC).astimezone():%Y-%m-%d}{SUFFIX}")
        dialog.fileSelected.connect(self.backup_requested)
        dialog.open()

    def _ask_restore(self) -> None:
        dialog = file_dialog(self.window(), "Restore from a backup")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters([f"Backups (*{SUFFIX} *.zip *.db)", "All files (*)"])
        dialog.fileSelected.connect(self.restore_requested)
        dialog.open()


def _row(*buttons: tuple[str, Callable[[], object]]) -> QHBoxLayout:
    line = QHBoxLayout()
    line.setSpacing(8)
    for title, run in buttons:
        button = QPushButton(title)
        button.setAutoDefault(False)
        button.clicked.connect(lambda _=False, run=run: run())
        line.addWidget(button)
    line.addStretch(1)
    return line
