"""Marks of chats that were answered out of sight. Main thread."""

from __future__ import annotations

from PySide6.QtCore import QObject

from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import ReplyEnded
from headstart.chat.chat_list import ChatList
from headstart.ui.kit.tasks import Tasks
from headstart.ui.open_chat import OpenChat


class UnseenController(QObject):
    """`seen`: True while the user sees the open chat."""

    def __init__(
        self, chat_list: ChatList, open_chat: OpenChat, tasks: Tasks, broadcast: Broadcast
    ) -> None:
        super().__init__()
        self._chat_list = chat_list
        self._open = open_chat
        self._tasks = tasks
        self.seen = True
        broadcast.on(ReplyEnded, lambda change: self._on_reply(change.chat_id))
        open_chat.opened.connect(lambda: self.see(self.seen))

    def see(self, seen: bool) -> None:
        self.seen = seen
        if seen and self._open.stored:
            self._tasks.spawn(self._see(self._open.id))

    async def _see(self, chat_id: str) -> None:
        summary = await self._chat_list.summary(chat_id)
        if summary is not None and summary.unseen:
            await self._chat_list.set_unseen(chat_id, False)

    def _on_reply(self, chat_id: str) -> None:
        if chat_id != self._open.id or not self.seen:
            self._tasks.spawn(self._chat_list.set_unseen(chat_id, True))
