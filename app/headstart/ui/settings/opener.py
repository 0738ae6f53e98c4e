"""Opens the settings window and connects it to the chat service; one window at a time."""

from __future__ import annotations

import asyncio

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from headstart.chat.preferences import Preferences
from headstart.chat.service import ChatService
from headstart.core.errors import EnvironmentProblem
from headstart.core.servers import Connection
from headstart.core.settings import Settings
from headstart.ui.settings.window import SettingsWindow
from headstart.ui.tasks import Tasks


class SettingsOpener(QObject):
    """Emits `reload_requested` when the model is to be loaded with the new settings now."""

    problem = Signal(str, str)
    reload_requested = Signal()

    def __init__(self, service: ChatService, preferences: Preferences, parent: QWidget) -> None:
        super().__init__(parent)
        self._service = service
        self._preferences = preferences
        self._parent = parent
        self._tasks = Tasks(self.problem.emit)
        self.window: SettingsWindow | None = None
        preferences.listen(self._on_settings)

    def open(self, page: str = "") -> None:
        if self.window is None:
            window = self.window = SettingsWindow(self._preferences.current, self._parent)
            window.changed.connect(lambda changes: self._preferences.update(**changes))
            window.finished.connect(self._on_closed)
            window.engine.reload_requested.connect(self.reload_requested)
            servers = window.servers
            servers.save_requested.connect(lambda *what: self._tasks.spawn(self._save(*what)))
            servers.remove_requested.connect(
                lambda which: self._tasks.spawn(self._service.servers.remove(which))
            )
            servers.test_requested.connect(lambda which: self._tasks.spawn(self._test(which)))
            self._tasks.spawn(self._explain())
            self.show_state()
        if page == "servers":
            self.window.show_servers()
        self.window.show()
        self.window.raise_()

    def show_state(self) -> None:
        """The model that is loaded may be another one now."""
        if self.window is not None:
            self.window.engine.set_state(self._service.local.state)

    async def _explain(self) -> None:
        words = await asyncio.to_thread(self._service.local.explain_engine)
        if self.window is not None:
            self.window.engine.set_automatic(words)

    async def _save(self, connection: Connection, key: str | None) -> None:
        try:
            saved, notice = await self._service.servers.save(connection, key)
        except EnvironmentProblem as problem:
            self._show_result(connection.id, str(problem))
            return
        self._show_result(saved.id, notice or "Asking…")
        if self.window is not None:
            self.window.servers.select(saved.id)
        offered = await self._service.servers.offer(saved.id)
        if self.window is not None:
            self.window.servers.show_offer(offered)
            if notice:
                self.window.servers.add_result(saved.id, notice)

    async def _test(self, connection_id: str) -> None:
        offered = await self._service.servers.offer(connection_id)
        if self.window is not None:
            self.window.servers.show_offer(offered)

    def _show_result(self, connection_id: str, text: str) -> None:
        if self.window is not None:
            self.window.servers.show_result(connection_id, text)

    def _on_settings(self, settings: Settings) -> None:
        if self.window is not None:
            self.window.servers.set_connections(settings.connections)
            self.show_state()

    def _on_closed(self) -> None:
        if self.window is not None:
            self.window.deleteLater()
            self.window = None

    async def settle(self, seconds: float) -> None:
        await self._tasks.settle(seconds)
