"""Opens the windows for import and export, and connects them with the controller."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtWidgets import QFileDialog, QWidget

from headstart.chat.preferences import Preferences
from headstart.chat.transfer.exporting import Wanted
from headstart.ui.controllers.everything import Controllers

if TYPE_CHECKING:
    from headstart.ui.transfer.export_window import ExportWindow
    from headstart.ui.transfer.import_window import ImportWindow

_FILES = "Conversations (*.json *.jsonl *.zip *.md *.chat);;All files (*)"


class TransferOpener(QObject):
    """One window of each kind at a time."""

    def __init__(self, controllers: Controllers, preferences: Preferences, parent: QWidget) -> None:
        super().__init__(parent)
        self._transfer = controllers.transfer
        self._preferences = preferences
        self._parent = parent
        self.importing: ImportWindow | None = None
        self.exporting: ExportWindow | None = None

    # --- in ------------------------------------------------------------------------------

    def ask_files(self) -> None:
        dialog = QFileDialog(self._parent, "Import chats", self._folder)
        dialog.setFileMode(QFileDialog.FileMode.ExistingFiles)
        dialog.setNameFilters(_FILES.split(";;"))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.filesSelected.connect(self.import_files)
        dialog.open()

    def ask_folder(self) -> None:
        dialog = QFileDialog(self._parent, "Import chats from a folder", self._folder)
        dialog.setFileMode(QFileDialog.FileMode.Directory)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.filesSelected.connect(self.import_files)
        dialog.open()

    def import_files(self, paths: Sequence[str]) -> None:
        """Show what files have; the user decides."""
        from headstart.ui.transfer.import_window import ImportWindow

        if not paths:
            return
        if self.importing is not None:
            self.importing.close()
        window = self.importing = ImportWindow(paths, self._parent)
        window.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        transfer = self._transfer
        window.taken.connect(transfer.take)
        window.cancelled.connect(transfer.cancel_import)
        transfer.import_progress.connect(window.show_progress)
        transfer.planned.connect(window.show_plan)
        transfer.imported.connect(window.show_result)
        transfer.import_failed.connect(window.show_problem)
        window.finished.connect(lambda: self._on_import_closed(window))
        self._preferences.update(last_folder=str(Path(paths[0]).parent))
        window.open()
        transfer.plan(paths)

    def _on_import_closed(self, window: ImportWindow) -> None:
        if self.importing is window:
            self.importing = None

    # --- out -----------------------------------------------------------------------------

    def export(self, chats: Sequence[str], title: str) -> None:
        """Ask how chats are to go out; none means every chat of the list."""
        from headstart.ui.transfer.export_window import ExportWindow

        if self.exporting is not None:
            self.exporting.raise_()
            return
        known = self._preferences.current
        window = self.exporting = ExportWindow(
            chats, title, known.export_format, self._folder, self._parent
        )
        window.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        window.wanted.connect(self._write)
        window.cancelled.connect(self._transfer.cancel_export)
        self._transfer.export_progress.connect(window.show_progress)
        self._transfer.export_ended.connect(window.show_ended)
        window.finished.connect(self._on_export_closed)
        window.open()

    def _write(self, wanted: Wanted, path: str) -> None:
        self._preferences.update(last_folder=str(Path(path).parent), export_format=wanted.format)
        self._transfer.export(wanted, path)

    def _on_export_closed(self) -> None:
        self.exporting = None

    @property
    def _folder(self) -> str:
        return self._preferences.current.last_folder or str(Path.home())
