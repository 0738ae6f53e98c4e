"""Locations of chats besides the database: the mirror, backups, and automatic copies."""

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
from headstart.ui.kit.flow import in_lines
from headstart.ui.kit.measures import keep_height
from headstart.ui.kit.tips import plain_tip
from headstart.ui.kit.when import moment_text
from headstart.ui.settings.form import Page
from headstart.ui.wording import say

MIRROR = "settings.about-mirror"
BACKUP = "settings.about-backup"
COPIES = "settings.copies-of-chats-made-every"
_KINDS = {
    "daily": "settings.daily-copy",
    "schema": "settings.before-update",
    "salvage": "settings.before-repair",
}
_PATH = int(Qt.ItemDataRole.UserRole)


class FilesPage(Page):
    """Calls `change` with the fields to replace."""

    imported = Signal()
    folder_imported = Signal()
    exported = Signal()
    backup_requested = Signal(str)
    restore_requested = Signal(str)
    mirror_begun = Signal()

    def __init__(
        self, settings: Settings, change: Callable[..., None], parent: QWidget | None = None
    ) -> None:
        super().__init__(say("settings.files"), settings, parent)
        self._change = change
        section = self.section(say("settings.chats-in-files"))
        section.wide(
            _row(
                self,
                (say("settings.import-chats"), self.imported.emit),
                (say("settings.import-folder"), self.folder_imported.emit),
                (say("settings.export-all-chats"), self.exported.emit),
            ),
            title=say("settings.import-and-export"),
        )
        self._build_mirror()
        self._build_backups()
        self.finish()
        self.set_mirror(settings.mirror_folder)
        self._show_buttons()

    def _build_mirror(self) -> None:
        section = self.section(say("settings.mirror-as-markdown"), say(MIRROR))
        self.folder = ElidedLabel("", self, 120)
        self.stop = QPushButton(say("settings.stop"), self)
        self.stop.setToolTip(say("settings.existing-files-kept"))
        self.stop.clicked.connect(lambda: self.choose_mirror(""))
        choose = QPushButton(say("settings.choose-folder"), self)
        choose.clicked.connect(self._ask_mirror)
        line = QHBoxLayout()
        line.addWidget(self.folder, 1)
        line.addWidget(choose)
        line.addWidget(self.stop)
        self.held = self.word()
        self.begin = QPushButton(say("settings.begin-again"), self)
        self.begin.clicked.connect(self.mirror_begun)
        self.begin.hide()
        section.wide(
            line,
            self.held,
            in_lines(self, self.begin),
            title=say("settings.folder-of-mirror"),
        )

    def _build_backups(self) -> None:
        section = self.section(say("settings.backups"), say(BACKUP))
        self.bar = QProgressBar(self)
        self.bar.setTextVisible(False)
        self.bar.setAccessibleName(say("settings.backup-progress"))
        self.bar.hide()
        self.made = self.word()
        self.made.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        section.wide(
            _row(
                self,
                (say("settings.back-up-now"), self._ask_backup),
                (say("settings.restore-from-file"), self._ask_restore),
            ),
            self.bar,
            self.made,
            title=say("settings.back-up-and-restore"),
        )
        self.copies = QListWidget(self)
        self.copies.setAccessibleName(say("settings.automatic-copies"))
        keep_height(self.copies, 150)
        self.copies.itemSelectionChanged.connect(self._show_buttons)
        self.copies.itemActivated.connect(lambda _: self._restore_copy())
        self.restore = QPushButton(say("settings.restore-copy"), self)
        self.restore.clicked.connect(self._restore_copy)
        line = QHBoxLayout()
        line.addWidget(self.restore)
        line.addStretch(1)
        section = self.section(say("settings.automatic-copies"), say(COPIES))
        section.wide(self.copies, line)

    def follow(self, settings: Settings) -> None:
        super().follow(settings)
        self.set_mirror(settings.mirror_folder)

    def set_mirror(self, folder: str) -> None:
        self.folder.set_full_text(folder or say("settings.no-folder"))
        self.folder.setToolTip(plain_tip(folder))
        self.stop.setVisible(bool(folder))

    def show_held(self, why: str) -> None:
        """Show why the mirror is not written; "" where it is."""
        self.held.setText(why)
        self.held.setVisible(bool(why))
        self.begin.setVisible(bool(why))

    def set_copies(self, copies: Sequence[Copy]) -> None:
        self.copies.clear()
        for copy in copies:
            kind = say(_KINDS[copy.kind]) if copy.kind in _KINDS else copy.kind
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
        """Show the size and path of a new backup."""
        self.made.setText(
            say("settings.backed-up-size-to-path", size=size, path=path) if path else ""
        )
        self.made.setVisible(bool(path))

    def _show_buttons(self) -> None:
        self.restore.setEnabled(bool(self.copies.selectedItems()))

    def _restore_copy(self) -> None:
        for item in self.copies.selectedItems():
            self.restore_requested.emit(str(item.data(_PATH)))

    def choose_mirror(self, folder: str) -> None:
        """Mirror to a folder from now on; "" stops the mirror."""
        self.set_mirror(folder)
        self._change(mirror_folder=folder)

    def _ask_mirror(self) -> None:
        dialog = file_dialog(self.window(), say("settings.folder-for-mirror"))
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.fileSelected.connect(self.choose_mirror)
        dialog.open()

    def _ask_backup(self) -> None:
        dialog = file_dialog(self.window(), say("settings.back-up"))
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.setNameFilter(say("settings.backups-suffix", suffix=SUFFIX))
        # without its suffix the dialog for restoring would not list the file
        dialog.setDefaultSuffix(SUFFIX.lstrip("."))
        dialog.selectFile(f"Headstart {dt.datetime.now(dt.UTC).astimezone():%Y-%m-%d}{SUFFIX}")
        dialog.fileSelected.connect(lambda path: self.backup_requested.emit(with_suffix(path)))
        dialog.open()

    def _ask_restore(self) -> None:
        dialog = file_dialog(self.window(), say("settings.restore-from-backup"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setNameFilters(
            [say("settings.backups-suffix-zip-db", suffix=SUFFIX), say("settings.all-files")]
        )
        dialog.fileSelected.connect(self.restore_requested)
        dialog.open()


def with_suffix(path: str) -> str:
    """A backup's path with a suffix that the dialog for restoring lists."""
    return path if path.casefold().endswith((".zip", ".db")) else f"{path}{SUFFIX}"


def _row(parent: QWidget, *buttons: tuple[str, Callable[[], object]]) -> QWidget:
    made = []
    for title, run in buttons:
        button = QPushButton(title)
        button.setAutoDefault(False)
        button.clicked.connect(lambda _=False, run=run: run())
        made.append(button)
    return in_lines(parent, *made)
