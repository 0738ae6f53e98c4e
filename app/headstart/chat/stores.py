"""Which database a chat's words are in: the one on disk, or one in memory for private chats.

On the event loop's thread; each database has its own thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeVar

from headstart.core.values import ChatSummary, is_private
from headstart.storage.worker import Storage, Store

T = TypeVar("T")


class Stores:
    """The private database is made with the first private chat and ends with the program."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._private: Storage | None = None

    def of(self, chat_id: str | None) -> Storage:
        if not is_private(chat_id):
            return self._storage
        if self._private is None:
            self._private = Storage(None)
        return self._private

    async def run(self, chat_id: str | None, call: Callable[[Store], T]) -> T:
        return await self.of(chat_id).run(call)

    async def summaries(self) -> list[ChatSummary]:
        """All chats, private ones first."""
        chats = await self._storage.run(lambda store: store.chats.summaries())
        if self._private is None:
            return chats
        return [*await self._private.run(lambda store: store.chats.summaries()), *chats]

    async def close(self) -> None:
        """End the private database; the other one is closed by who opened it."""
        if self._private is not None:
            await asyncio.to_thread(self._private.close)
