"""Locations of chats beside the database: the mirror, backups, and the copies that are made of
it."""

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
from headstart.core.settings.schema import Settings
from headstart.core.text.shown import size_text
from headstart.ui.kit.elided import ElidedLabel
from headstart.ui.kit.file_dialog import file_dialog
from headstart.ui.kit.when import moment_text
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
        self, settings: Settings, change: Callable[..., None], parent: QWidget | None = None
    ) -> None:
        super().__init__("Files", settings, parent)
        self._change = change
        section = self.section("Chats in files")
        section.wide(
            _row(
                ("Import chats…", self.imported.emit),
                ("Import a folder…", self.folder_imported.emit),
                ("Export all chats…", self.exported.emit),
            ),
            title="Import and export",
        )
        section = self.section("Mirror as Markdown", MIRROR)
        self.folder = ElidedLabel("", self, 120)
        self.stop = QPushButton("Stop", self)
        self.stop.setToolTip("Existing files are kept")
        self.stop.clicked.connect(lambda: self.choose_mirror(""))
        choose = QPushButton("Choose folder…", self)
        choose.clicked.connect(self._ask_mirror)
        line = QHBoxLayout()
        line.addWidget(self.folder, 1)
        line.addWidget(choose)
        line.addWidget(self.stop)
        section.wide(line, title="Folder of the mirror")
        section = self.section("Backups", BACKUP)
        self.bar = QProgressBar(self)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName("How far the backup is")
        self.bar.hide()
        self.made = self.word()
        self.made.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        section.wide(
            _row(("Back up now…", self._ask_backup), ("Restore from a file…", self._ask_restore)),
            self.bar,
            self.made,
            title="Back up and restore",
        )
        self.copies = QListWidget(self)
        self.copies.setAccessibleName("Automatic copies")
        self.copies.setFixedHeight(150)
        self.copies.itemSelectionChanged.connect(self._show_buttons)
        self.copies.itemActivated.connect(lambda _: self._restore_copy())
        self.restore = QPushButton("Restore this copy…", self)
        self.restore.clicked.connect(self._restore_copy)
        line = QHBoxLayout()
        line.addWidget(self.restore)
        line.addStretch(1)
        section = self.section("Automatic copies", COPIES)
        section.wide(self.copies, line)
        self.finish()
        self.set_mirror(settings.mirror_folder)
        self._show_buttons()

    def follow(self, settings: Settings) -> None:
        super().follow(settings)
        self.set_mirror(settings.mirror_folder)

    def set_mirror(self, folder: str) -> None:
        self.folder.set_full_text(folder or "No folder")
        self.folder.setToolTip(folder)
        self.stop.setVisible(bool(folder))

    def set_copies(self, copies: Sequence[Copy]) -> None:
        self.copies.clear()
        for copy in copies:
            kind = _KINDS.get(copy.kind, copy.kind)
            when = moment_text(round(copy.made_at * 1000))
            text = f"{when}  ·  {kind}  ·  {size_text(copy.size)}"
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

    def show_made(self, path: str, size: int) -> None:
        """A backup was made, and where it is."""
        self.made.setText(f"Backed up: {size_text(size)} to {path}" if path else "")
        self.made.setVisible(bool(path))

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
        # what people type has no suffix, and would not be found again
        dialog.setDefaultSuffix(SUFFIX.lstrip("."))
        dialog.selectFile(f"Headstart {dt.datetime.now(dt.UTC).astimezone():%Y-%m-%d}{SUFFIX}")
        dialog.fileSelected.connect(lambda path: self.backup_requested.emit(with_suffix(path)))
        dialog.open()

    def _ask_restore(self) -> None:
        dialog = file_dialog(self.window(), "Restore from a backup")
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters([f"Backups (*{SUFFIX} *.zip *.db)", "All files (*)"])
        dialog.fileSelected.connect(self.restore_requested)
        dialog.open()


def with_suffix(path: str) -> str:
    """A backup's name, such that it is found again."""
    return path if path.casefold().endswith((".zip", ".db")) else f"{path}{SUFFIX}"


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
