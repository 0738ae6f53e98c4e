"""A report of a problem, for the user to read and keep. Main thread."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from headstart.chat.reporting import Reporting
from headstart.ui.kit.tasks import Tasks


class ReportingController(QObject):
    ready = Signal(str)
    saved = Signal(str)  # the folder

    def __init__(self, reporting: Reporting, tasks: Tasks) -> None:
        super().__init__()
        self._reporting = reporting
        self._tasks = tasks

    def make(self) -> None:
        self._tasks.spawn(self._make())

    def save(self, folder: str) -> None:
        self._tasks.spawn(self._save(folder))

    async def _make(self) -> None:
        self.ready.emit(await self._reporting.text())

    async def _save(self, folder: str) -> None:
        self.saved.emit(await self._reporting.save(folder))
