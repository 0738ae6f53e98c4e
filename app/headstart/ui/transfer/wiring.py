"""Opens the windows for import and export, and connects them with the controller."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData, QObject, Qt, QTemporaryDir, QUrl, Signal
from PySide6.QtGui import QDrag, QGuiApplication
from PySide6.QtWidgets import QFileDialog, QWidget

from headstart.chat.preferences import Preferences
from headstart.chat.transfer.export_request import ExportRequest
from headstart.chat.transfer.exporting import Exporting, file_name, formats
from headstart.core.chats.values import ChatSummary
from headstart.ui.controllers.everything import Controllers
from headstart.ui.kit.dragging import chats_as_mime, folder_as_mime
from headstart.ui.kit.file_dialog import file_dialog
from headstart.ui.kit.one_window import OneWindow
from headstart.ui.wording import say

if TYPE_CHECKING:
    from headstart.exchange.copying import Copied
    from headstart.ui.transfer.export_window import ExportWindow
    from headstart.ui.transfer.import_window import ImportWindow

_FILES = "transfer.conversations-json-jsonl-zip-md"


class TransferOpener(QObject):
    chat_wanted = Signal(str)  # id of an imported chat to open
    importing: OneWindow[ImportWindow] = OneWindow()
    exporting: OneWindow[ExportWindow] = OneWindow()

    def __init__(self, controllers: Controllers, preferences: Preferences, parent: QWidget) -> None:
        super().__init__(parent)
        self._transfer = controllers.transfer
        self._backups = controllers.backups
        self._chats = controllers.chat_list
        self._preferences = preferences
        self._parent = parent
        self._dragging: QTemporaryDir | None = None
        self._dragged_chats: list[str] = []
        self._chats.listed.connect(self._on_listed)
        self._transfer.copied.connect(self._on_copied)
        self._transfer.dragged.connect(self._on_dragged)

    # --- import --------------------------------------------------------------------------

    def ask_files(self) -> None:
        dialog = file_dialog(self._parent, say("transfer.import-chats"), self._folder)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.setNameFilters(say(_FILES).split(";;"))
        dialog.filesSelected.connect(self.import_files)
        dialog.open()

    def ask_folder(self) -> None:
        dialog = file_dialog(self._parent, say("transfer.import-chats-from-folder"), self._folder)
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.filesSelected.connect(self.import_files)
        dialog.open()

    def import_files(self, paths: Sequence[str]) -> None:
        """Preview the chats in files; the user decides."""
        from headstart.ui.transfer.import_window import ImportWindow

        if not paths:
            return
        window = self.importing = ImportWindow(paths, self._parent)
        transfer = self._transfer
        window.taken.connect(transfer.take)
        window.chat_wanted.connect(self.chat_wanted)
        window.cancelled.connect(transfer.cancel_import)
        transfer.import_progress.connect(window.show_progress)
        transfer.planned.connect(window.show_plan)
        transfer.imported.connect(window.show_result)
        transfer.import_failed.connect(window.show_problem)
        self._preferences.state.update(last_folder=str(Path(paths[0]).parent))
        window.open()
        transfer.plan(paths)

    def restore(self, path: str) -> None:
        """Preview the chats in a backup; the user decides."""
        from headstart.ui.transfer.import_window import ImportWindow

        window = self.importing = ImportWindow([path], self._parent, backup=True)
        backups = self._backups
        window.taken.connect(
            lambda _paths, found, without: backups.restore(
                path, found, window.settings.isChecked(), without
            )
        )
        window.chat_wanted.connect(self.chat_wanted)
        window.cancelled.connect(backups.cancel)
        backups.progress.connect(window.show_progress)
        backups.planned.connect(window.show_plan)
        backups.restored.connect(window.show_result)
        backups.failed.connect(window.show_problem)
        window.open()
        backups.plan(path)

    # --- copying and dragging ------------------------------------------------------------

    def copy(self, chat_id: str, form: str, message_id: str = "") -> None:
        """Copy to the clipboard as "markdown", "formatted" or "plain"."""
        self._transfer.copy(chat_id, form, message_id)

    def save_code(self, code: str, language: str) -> None:
        """Ask for a path, and save code of a reply to it."""
        dialog = file_dialog(self._parent, say("transfer.save-code"), self._folder)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.selectFile(f"code{_suffix(language)}")
        dialog.fileSelected.connect(lambda path: self._transfer.save_text(code, path))
        dialog.open()

    def drag(self, chat_ids: list[str], title: str) -> None:
        """Begin to drag chats, into a folder or out of the window: write their file, in the format
        of the last export."""
        self._dragged_chats = chat_ids
        if self._dragging is None:
            self._dragging = QTemporaryDir()
        form = next(one for one in formats() if one.code == (self._format or "markdown"))
        wanted = Exporting.wanted(chat_ids, form.code, reasoning=True, stats=False, branches=False)
        suffix = form.suffix if len(chat_ids) == 1 or form.together else ".zip"
        path = Path(self._dragging.path()) / f"{file_name(title)}{suffix}"
        self._transfer.drag(wanted, str(path))

    def drag_folder(self, path: str) -> None:
        """Drag a folder, to drop it into another one."""
        drag = QDrag(self._parent)
        drag.setMimeData(folder_as_mime(path))
        drag.exec(Qt.DropAction.MoveAction)

    def _on_dragged(self, path: str) -> None:
        if not QGuiApplication.mouseButtons() & Qt.MouseButton.LeftButton:
            # released before the file was written
            return
        drag = QDrag(self._parent)
        data = chats_as_mime(self._dragged_chats)
        data.setUrls([QUrl.fromLocalFile(path)])
        drag.setMimeData(data)
        drag.exec(Qt.DropAction.CopyAction | Qt.DropAction.MoveAction)

    def _on_copied(self, copied: Copied, form: str) -> None:
        data = QMimeData()
        data.setText(copied.text if form == "plain" else copied.markdown)
        if form == "formatted":
            data.setHtml(copied.html)
        elif form == "markdown":
            data.setData("text/markdown", copied.markdown.encode())
        QGuiApplication.clipboard().setMimeData(data)

    # --- export --------------------------------------------------------------------------

    def export(self, chats: Sequence[str], title: str) -> None:
        """Open the form for exporting chats; none means every chat of the list."""
        from headstart.ui.transfer.export_window import ExportWindow

        if self.exporting is not None:
            self.exporting.raise_()
            return
        known = self._preferences.state.current
        window = self.exporting = ExportWindow(
            chats, title, known.export_format, self._folder, self._parent
        )
        window.wanted.connect(self._write)
        window.cancelled.connect(self._transfer.cancel_export)
        self._transfer.export_progress.connect(window.show_progress)
        self._transfer.export_ended.connect(window.show_ended)
        self._chats.list()
        window.open()

    def _on_listed(self, chats: list[ChatSummary], _texts: object) -> None:
        if self.exporting is not None and not self.exporting.list.count():
            self.exporting.set_chats([(chat.id, chat.title) for chat in chats])

    def _write(self, wanted: ExportRequest, path: str) -> None:
        self._preferences.state.update(
            last_folder=str(Path(path).parent), export_format=wanted.format
        )
        self._transfer.export(wanted, path)

    @property
    def _format(self) -> str:
        return self._preferences.state.current.export_format

    @property
    def _folder(self) -> str:
        return self._preferences.state.current.last_folder or str(Path.home())


def _suffix(language: str) -> str:
    """Suffix of a language's files; ".txt" if unknown."""
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    try:
        names = get_lexer_by_name(language.casefold()).filenames if language else []
    except ClassNotFound:
        names = []
    found = next((name for name in names if name.startswith("*.") and name[2:].isalnum()), "*.txt")
    return found[1:]
