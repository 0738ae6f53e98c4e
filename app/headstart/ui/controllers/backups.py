"""Backups: creating, listing, inspecting and restoring. Main thread."""

from __future__ import annotations

import asyncio
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from headstart.chat.transfer.backup import Backups, Making
from headstart.chat.transfer.intake import ImportJobRun, ImportPlan, Result
from headstart.core.errors import EnvironmentProblem
from headstart.ui.kit.tasks import Tasks

# interval of progress reports, in milliseconds
_TICK = 100


class BackupsController(QObject):
    listed = Signal(list)  # of Copy: the automatic backups
    began = Signal()
    made = Signal(str, int)  # path, bytes; path "" if stopped
    planned = Signal(ImportPlan)
    restored = Signal(Result)
    failed = Signal(str)  # why inspecting or restoring failed
    progress = Signal(int, int)  # files or chats done, and the total; 0 if unknown

    def __init__(self, backups: Backups, tasks: Tasks) -> None:
        super().__init__()
        self._backups = backups
        self._tasks = tasks
        self._making: Making | None = None
        self._run: ImportJobRun | None = None
        self._expected = 0
        self._timer = QTimer(self)
        self._timer.setInterval(_TICK)
        self._timer.timeout.connect(self._tick)

    def list(self) -> None:
        self._tasks.spawn(self._list())

    def make(self, path: str) -> None:
        if self._making is None:
            self._tasks.spawn(self._make(Path(path)))

    def plan(self, path: str) -> None:
        """Find out what a backup would restore."""
        self._tasks.spawn(self._plan(Path(path), self._begin(0)))

    def restore(
        self,
        path: str,
        expected: int,
        with_settings: bool,
        without: frozenset[str] = frozenset(),
    ) -> None:
        """Restore the missing data; `expected`: the number of chats in the plan; `without`: ids of
        the unwanted ones."""
        run = self._begin(expected)
        run.without = without
        self._tasks.spawn(self._restore(Path(path), run, with_settings))

    def cancel(self) -> None:
        """Stop: fully restored chats stay, an incomplete backup does not."""
        if self._making is not None:
            self._making.stop.set()
        if self._run is not None:
            self._run.stop.set()

    async def _list(self) -> None:
        self.listed.emit(await self._backups.copies())

    async def _make(self, path: Path) -> None:
        making = self._making = Making()
        self.began.emit()
        self._timer.start()
        done = False
        try:
            done = await self._backups.make(path, making)
        finally:
            self._making = None
            self._rest()
            size = await asyncio.to_thread(_size, path) if done else 0
            self.made.emit(str(path) if done else "", size)

    async def _plan(self, path: Path, run: ImportJobRun) -> None:
        try:
            plan = await self._backups.plan(path, run)
        except EnvironmentProblem as problem:
            self.failed.emit(problem.told.text)
            return
        finally:
            self._run = None
            self._rest()
        if not plan.stopped:
            self.planned.emit(plan)

    async def _restore(self, path: Path, run: ImportJobRun, with_settings: bool) -> None:
        try:
            result = await self._backups.restore(path, run, with_settings)
        except EnvironmentProblem as problem:
            self.failed.emit(problem.told.text)
            return
        finally:
            self._run = None
            self._rest()
        self.restored.emit(result)

    def _begin(self, expected: int) -> ImportJobRun:
        self._run, self._expected = ImportJobRun(), expected
        self._timer.start()
        return self._run

    def _tick(self) -> None:
        if self._making is not None:
            self.progress.emit(self._making.count, self._making.total)
        elif self._run is not None:
            self.progress.emit(self._run.count, self._expected)

    def _rest(self) -> None:
        if self._making is None and self._run is None:
            self._timer.stop()


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
