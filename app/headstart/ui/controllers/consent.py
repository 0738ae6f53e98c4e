"""Asking before text leaves this computer. Main thread."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from PySide6.QtCore import QObject, Signal

from headstart.chat.servers import ConsentNeeded, Servers
from headstart.ui.kit.tasks import Tasks


class Consent(QObject):
    """Emits `needed` with a Connection and the function to call if the user allows it."""

    needed = Signal(object, object)

    def __init__(self, servers: Servers, tasks: Tasks) -> None:
        super().__init__()
        self._servers = servers
        self._tasks = tasks

    def asking(self, verb: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Run a verb that sends text; if its server still needs consent, ask the user first."""
        self._tasks.spawn(self._try(verb))

    async def _try(self, verb: Callable[[], Coroutine[Any, Any, None]]) -> None:
        try:
            await verb()
        except ConsentNeeded as needed:
            connection = needed.connection

            def allowed() -> None:
                self._servers.allow(connection.id)
                self._tasks.spawn(verb())

            self.needed.emit(connection, allowed)
