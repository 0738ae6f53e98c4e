"""Connections to servers, and the state of the engine, for the settings window. Main thread."""

from __future__ import annotations

import asyncio

from PySide6.QtCore import QObject, Signal

from headstart.chat.answering.loading import LoadedState
from headstart.chat.answering.preload import Preload
from headstart.chat.servers import Offered, Servers
from headstart.core.errors import EnvironmentProblem
from headstart.core.servers import Connection, Nearby
from headstart.ui.kit.tasks import Tasks
from headstart.ui.wording import say


class ServersController(QObject):
    saved = Signal(str)  # connection id
    result = Signal(str, str, bool)  # connection id, text, True to append it to the shown text
    offered = Signal(Offered)
    found = Signal(list)  # of Nearby: programs on this computer that could be added
    explained = Signal(dict)  # values of the automatic engine settings on this computer, by name

    def __init__(self, servers: Servers, preload: Preload, tasks: Tasks) -> None:
        super().__init__()
        self._servers = servers
        self._preload = preload
        self._tasks = tasks

    @property
    def engine_state(self) -> LoadedState:
        """Tells if the loaded model has the current engine settings."""
        return self._preload.state

    def save(self, connection: Connection, key: str | None) -> None:
        """Save a connection; `key` None keeps the stored key."""
        self._tasks.spawn(self._save(connection, key))

    def remove(self, connection_id: str) -> None:
        self._tasks.spawn(self._servers.remove(connection_id))

    def test(self, connection_id: str) -> None:
        """Ask the server for its models."""
        self._tasks.spawn(self._test(connection_id))

    def look_around(self) -> None:
        """Find the programs on this computer that answer."""
        self._tasks.spawn(self._look_around())

    def use(self, nearby: Nearby) -> None:
        """Add a program on this computer: adding it with one click also allows it."""
        self._tasks.spawn(self._use(nearby))

    def explain(self) -> None:
        self._tasks.spawn(self._explain())

    async def _save(self, connection: Connection, key: str | None) -> None:
        try:
            saved, notice = await self._servers.save(connection, key)
        except EnvironmentProblem as problem:
            self.result.emit(connection.id, str(problem), False)
            return
        self.result.emit(
            saved.id, say("controllers.asking") if notice is None else notice.text, False
        )
        self.saved.emit(saved.id)
        self.offered.emit(await self._servers.offer(saved.id))
        if notice is not None:
            self.result.emit(saved.id, notice.text, True)

    async def _look_around(self) -> None:
        self.found.emit(await self._servers.look_around())

    async def _use(self, nearby: Nearby) -> None:
        saved, _notice = await self._servers.save(nearby.connection, None)
        self._servers.allow(saved.id)
        self.saved.emit(saved.id)
        self.offered.emit(await self._servers.offer(saved.id))
        await self._look_around()

    async def _test(self, connection_id: str) -> None:
        self.offered.emit(await self._servers.offer(connection_id))

    async def _explain(self) -> None:
        self.explained.emit(await asyncio.to_thread(self._preload.explain_engine))
