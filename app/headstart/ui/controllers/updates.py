"""Checks for a newer version: daily if the user wants that, or on request. Main thread."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal

from headstart.chat.updates import Updates
from headstart.core.errors import EnvironmentProblem
from headstart.core.told import Told
from headstart.core.updates import Release
from headstart.ui.kit.tasks import Tasks

# the window has more to do at first; then an hourly check whether a day has passed
FIRST_MS, AGAIN_MS = 10_000, 3_600_000


class UpdatesController(QObject):
    found = Signal(str, str)  # a newer version, and its download page
    # only on request
    none_found = Signal()
    failed = Signal(Told)

    def __init__(self, updates: Updates, tasks: Tasks) -> None:
        super().__init__()
        self._updates = updates
        self._tasks = tasks
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._later)

    @property
    def address(self) -> str:
        return self._updates.address

    def wake(self) -> None:
        self._timer.start(FIRST_MS)

    def look_now(self) -> None:
        self._tasks.spawn(self._look_now())

    def _later(self) -> None:
        self._timer.start(AGAIN_MS)
        self._tasks.spawn(self._look())

    async def _look(self) -> None:
        release = await self._updates.look()
        if release is not None:
            self._tell(release)

    async def _look_now(self) -> None:
        try:
            release = await self._updates.look_now()
        except EnvironmentProblem as problem:
            self.failed.emit(problem.told)
            return
        if release is None:
            self.none_found.emit()
        else:
            self._tell(release)

    def _tell(self, release: Release) -> None:
        self.found.emit(release.version, release.page_at(self._updates.address))
