"""The models that the open chat can choose. Main thread."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import ChatChanged, What
from headstart.chat.chat_models import ModelListing
from headstart.chat.models import ModelList
from headstart.ui.kit.tasks import Tasks
from headstart.ui.open_chat import OpenChat


class ModelListController(QObject):
    listed = Signal(ModelList)

    def __init__(
        self, listing: ModelListing, open_chat: OpenChat, tasks: Tasks, broadcast: Broadcast
    ) -> None:
        super().__init__()
        self._listing = listing
        self._open = open_chat
        self._tasks = tasks
        broadcast.on(ChatChanged, self._on_chat)

    def list(self) -> None:
        """List the installed models at once, and those of servers when they have answered."""
        self._tasks.spawn(self._list(ask=True))

    async def _list(self, ask: bool) -> None:
        async for models in self._listing.lists(self._open.id, ask):
            self.listed.emit(models)

    def _on_chat(self, change: ChatChanged) -> None:
        if change.what is What.MODEL and change.chat_id == self._open.id:
            # nobody looks at the list now: servers are not asked for it
            self._tasks.spawn(self._list(ask=False))
