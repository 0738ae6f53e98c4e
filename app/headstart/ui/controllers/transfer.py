"""Export and import of chats: requests, progress and results. Main thread."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from headstart.chat.transfer.export_request import ExportCancelled, ExportRequest
from headstart.chat.transfer.export_request import ExportJobRun as ExportRun
from headstart.chat.transfer.exporting import Exporting
from headstart.chat.transfer.importing import Importing
from headstart.chat.transfer.intake import ImportJobRun as ImportRun
from headstart.chat.transfer.intake import ImportPlan, Result
from headstart.core.errors import EnvironmentProblem
from headstart.core.files import write_whole
from headstart.ui.kit.tasks import Tasks

# interval of progress reports, in milliseconds
_TICK = 100


class TransferController(QObject):
    planned = Signal(ImportPlan)
    imported = Signal(Result)
    sorted = Signal(list, list)  # paths of conversations, and of other files
    import_failed = Signal(str)  # why the import ended
    export_began = Signal()
    copied = Signal(object, str)  # Copied, its form: "markdown", "formatted" or "plain"
    dragged = Signal(str)  # the file of a chat being dragged out of the list
    exported = Signal(str, int)  # path, number of chats
    export_ended = Signal()
    # chats done, and the total; 0 if unknown
    import_progress = Signal(int, int)
    export_progress = Signal(int, int)

    def __init__(self, importing: Importing, exporting: Exporting, tasks: Tasks) -> None:
        super().__init__()
        self._importing = importing
        self._exporting = exporting
        self._tasks = tasks
        self._import: ImportRun | None = None
        self._expected = 0
        self._export: ExportRun | None = None
        self._timer = QTimer(self)
        self._timer.setInterval(_TICK)
        self._timer.timeout.connect(self._tick)

    # --- import --------------------------------------------------------------------------

    def sort(self, paths: Sequence[str]) -> None:
        """Tell conversations from other files by their content."""
        self._tasks.spawn(self._sort(paths))

    async def _sort(self, paths: Sequence[str]) -> None:
        known = await self._importing.recognised([Path(path) for path in paths])
        self.sorted.emit(
            [path for path in paths if Path(path) in known],
            [path for path in paths if Path(path) not in known],
        )

    def plan(self, paths: Sequence[str]) -> None:
        """Inspect files without importing anything."""
        run = self._begin_import(0)
        self._tasks.spawn(self._plan([Path(path) for path in paths], run))

    def take(
        self, paths: Sequence[str], expected: int, without: frozenset[str] = frozenset()
    ) -> None:
        """Import chats; `expected`: the number that a dry run found; `without`: unwanted ids."""
        run = self._begin_import(expected)
        run.without = without
        self._tasks.spawn(self._take([Path(path) for path in paths], run))

    def cancel_import(self) -> None:
        if self._import is not None:
            self._import.stop.set()

    async def _plan(self, paths: list[Path], run: ImportRun) -> None:
        try:
            plan = await self._importing.plan(paths, run)
        except EnvironmentProblem as problem:
            self.import_failed.emit(problem.told.text)
            return
        finally:
            self._end_import(run)
        if not run.stop.is_set():
            self.planned.emit(plan)

    async def _take(self, paths: list[Path], run: ImportRun) -> None:
        try:
            result = await self._importing.run(paths, run)
        except EnvironmentProblem as problem:
            self.import_failed.emit(problem.told.text)
            return
        finally:
            others = self._import is not run
            self._end_import(run)
        if not others:
            # else the window is about another file by now
            self.imported.emit(result)

    def _begin_import(self, expected: int) -> ImportRun:
        self.cancel_import()
        self._import, self._expected = ImportRun(), expected
        self._timer.start()
        return self._import

    def _end_import(self, run: ImportRun) -> None:
        if self._import is run:
            self._import = None
        self._rest()

    # --- export --------------------------------------------------------------------------

    def export(self, wanted: ExportRequest, path: str) -> None:
        """Write chats to a file, or into a folder; one export at a time."""
        if self._export is None:
            self._tasks.spawn(self._write(wanted, Path(path)))

    def cancel_export(self) -> None:
        if self._export is not None:
            self._export.stop.set()

    async def _write(self, wanted: ExportRequest, path: Path) -> None:
        run = self._export = ExportRun()
        self.export_began.emit()
        self._timer.start()
        try:
            count = await self._exporting.write(wanted, path, run)
        except ExportCancelled:
            return
        finally:
            self._export = None
            self._rest()
            self.export_ended.emit()
        self.exported.emit(str(path), count)

    def save_text(self, text: str, path: str) -> None:
        """Write a piece of a chat to its own file."""
        self._tasks.spawn(self._save_text(text, Path(path)))

    async def _save_text(self, text: str, path: Path) -> None:
        try:
            await asyncio.to_thread(write_whole, path, f"{text}\n".encode(), shared=True)
        except OSError as error:
            reason = error.strerror or type(error).__name__
            raise EnvironmentProblem("file-not-written", path=path, reason=reason) from error
        self.exported.emit(str(path), 1)

    def copy(self, chat_id: str, form: str, message_id: str = "") -> None:
        """Prepare a chat, or one of its messages, for the clipboard."""
        self._tasks.spawn(self._copy(chat_id, form, message_id))

    def drag(self, wanted: ExportRequest, path: str) -> None:
        """Write a chat that is being dragged to another program."""
        self._tasks.spawn(self._drag(wanted, Path(path)))

    async def _copy(self, chat_id: str, form: str, message_id: str) -> None:
        self.copied.emit(await self._exporting.copied(chat_id, message_id), form)

    async def _drag(self, wanted: ExportRequest, path: Path) -> None:
        await self._exporting.write(wanted, path, ExportRun())
        self.dragged.emit(str(path))

    def close(self) -> None:
        """Cancel at the end of the program; complete chats and files stay."""
        self.cancel_import()
        self.cancel_export()

    def _tick(self) -> None:
        if self._import is not None:
            self.import_progress.emit(self._import.count, self._expected)
        if self._export is not None:
            self.export_progress.emit(self._export.count, self._export.total)

    def _rest(self) -> None:
        if self._import is None and self._export is None:
            self._timer.stop()
