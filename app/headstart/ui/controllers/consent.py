"""Asking before text leaves this computer, and before a question goes with passages that may not
answer it. Main thread."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any

from PySide6.QtCore import QObject, Signal

from headstart.chat.knowledge.asking import DoubtfulPassages
from headstart.chat.servers import ConsentNeeded, Servers
from headstart.ui.controllers.chat import ChatController
from headstart.ui.kit.tasks import Tasks

Verb = Callable[[], Coroutine[Any, Any, None]]


class Consent(QObject):
    """`needed`: a Connection and the function to call if the user allows it. `doubted`:
    DoubtfulPassages and the function to call with True to give them, or False."""

    needed = Signal(object, object)
    doubted = Signal(object, object)

    def __init__(self, servers: Servers, chat: ChatController, tasks: Tasks) -> None:
        super().__init__()
        self._servers = servers
        self._chat = chat
        self._tasks = tasks

    def asking(self, verb: Verb) -> None:
        """Run a verb that sends text; if it still needs an answer of the user, ask first."""
        self._tasks.spawn(self._try(verb))

    async def _try(self, verb: Verb) -> None:
        try:
            await verb()
        except ConsentNeeded as needed:
            connection = needed.connection

            def allowed() -> None:
                self._servers.allow(connection.id)
                self.asking(verb)

            self.needed.emit(connection, allowed)
        except DoubtfulPassages as doubted:
            # an exception's name ends with its clause
            about = doubted
            self.doubted.emit(about, lambda give: self._tasks.spawn(self._go_on(about, give, verb)))

    async def _go_on(self, doubted: DoubtfulPassages, give: bool, verb: Verb) -> None:
        await self._chat.decide(doubted, give)
        await self._try(verb)
