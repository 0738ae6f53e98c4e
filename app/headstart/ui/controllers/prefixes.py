"""Stored prefixes: sizes and clearing. Main thread."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal

from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import PrefixesChanged, ReplyEnded
from headstart.chat.prefixes import Prefixes
from headstart.ui.kit.tasks import Tasks
from headstart.ui.open_chat import OpenChat

# by then the state that a reply computed is on disk
SAVED_MS = 2500


class PrefixesController(QObject):
    listed = Signal(object)  # PrefixUse, or None

    def __init__(
        self, prefixes: Prefixes, open_chat: OpenChat, tasks: Tasks, broadcast: Broadcast
    ) -> None:
        super().__init__()
        self._prefixes = prefixes
        self._tasks = tasks
        self._later = QTimer(self)
        self._later.setSingleShot(True)
        self._later.setInterval(SAVED_MS)
        self._later.timeout.connect(self.list)
        open_chat.opened.connect(self.list)
        broadcast.on(PrefixesChanged, lambda _change: self.list())
        broadcast.on(ReplyEnded, lambda _change: self._later.start())

    def list(self) -> None:
        self._tasks.spawn(self._list())

    def clear_chat(self, chat_id: str) -> None:
        """Remove the prefixes that only this chat needs."""
        self._tasks.spawn(self._prefixes.forget(chat_id))

    def clear_all(self) -> None:
        self._tasks.spawn(self._prefixes.clear())

    async def _list(self) -> None:
        self.listed.emit(await self._prefixes.use())
