"""Work ahead of the user's message: loading, restoring and prefilling. Main thread."""

from __future__ import annotations

import asyncio

from PySide6.QtCore import QObject, Signal

from headstart.chat.answering.prefill_ahead import PrefillAhead
from headstart.chat.answering.preload import Preload
from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import AheadProgress, AheadState
from headstart.ui.kit.tasks import Tasks
from headstart.ui.open_chat import OpenChat

# a user who clicks through chats does not want each of them prefilled
OPENED_SECONDS = 0.4


class AheadController(QObject):
    prefilled = Signal(int)  # prefilled tokens of the text being typed
    progressed = Signal(int, int)  # tokens of the next prompt processed ahead, of all

    def __init__(
        self,
        preload: Preload,
        ahead: PrefillAhead,
        open_chat: OpenChat,
        tasks: Tasks,
        broadcast: Broadcast,
    ) -> None:
        super().__init__()
        self._preload = preload
        self._ahead = ahead
        self._open = open_chat
        self._tasks = tasks
        open_chat.opened.connect(self._on_opened)
        broadcast.on(AheadState, self._on_ahead)
        broadcast.on(AheadProgress, self._on_progress)

    def typing_began(self) -> None:
        """Load the open chat's model, and allow the chat to be prefilled."""
        self._ahead.used(self._open.id)
        self._tasks.spawn(self._load())

    def read_now(self) -> None:
        """Process what is known of the open chat's next prompt, loading its model if needed."""
        self.typing_began()
        self._tasks.spawn(self._read_now(self._open.id))

    def typed(self, text: str) -> None:
        """Take the composer's text: its settled part can be prefilled."""
        self._tasks.spawn(self._ahead.typed(self._open.id, text, self._open.parts))

    async def _read_now(self, chat_id: str) -> None:
        await self._preload.load(chat_id)
        await self._ahead.prefill(chat_id)

    async def _load(self) -> None:
        await self._preload.load(self._open.id)

    def _on_opened(self) -> None:
        self._ahead.show(self._open.id, self._open.unsent, self._open.parts)
        if self._open.stored:
            self._tasks.spawn(self._opened(self._open.id))

    async def _opened(self, chat_id: str) -> None:
        """Restore a chat that stays open for a moment."""
        await asyncio.sleep(OPENED_SECONDS)
        if chat_id == self._open.id:
            await self._preload.opened(chat_id)

    def _on_progress(self, change: AheadProgress) -> None:
        if change.chat_id == self._open.id:
            self.progressed.emit(change.done, change.total)

    def _on_ahead(self, change: AheadState) -> None:
        if change.chat_id == self._open.id:
            self.prefilled.emit(change.typed)
