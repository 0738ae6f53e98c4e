"""Writes that the disk refused and that wait in memory, for the window. Main thread."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import OutboxChanged
from headstart.chat.outbox import Outbox
from headstart.core.told import Told
from headstart.ui.kit.tasks import Tasks


class OutboxController(QObject):
    # the number of writes that wait, and why (a Told)
    changed = Signal(int, object)

    def __init__(self, outbox: Outbox, tasks: Tasks, broadcast: Broadcast) -> None:
        super().__init__()
        self._outbox = outbox
        self._tasks = tasks
        broadcast.on(OutboxChanged, self._on_changed)

    def try_now(self) -> None:
        """Try what waits at once."""
        self._tasks.spawn(self._try())

    async def _try(self) -> None:
        await self._outbox.try_now()

    def _on_changed(self, change: OutboxChanged) -> None:
        problem: Told | None = change.problem
        self.changed.emit(change.count, problem)
