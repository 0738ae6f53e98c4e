"""Finds the database of a chat: the one on disk, or the one in memory for private chats. Also keeps
new chats that are not stored yet.

On the event loop's thread; each database has its own thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from msgspec.structs import replace

from headstart.chat.background import Background
from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import ChatChanged, ChatsChanged, What
from headstart.chat.outbox import Outbox
from headstart.core.chats.values import Chat, ChatDraft, ChatSummary, Folder, TrashedChat, new_id
from headstart.storage.worker import Storage, Store

T = TypeVar("T")


class Databases:
    """The databases. The private one is created with the first private chat and dies with the
    program."""

    def __init__(
        self, storage: Storage, broadcast: Broadcast, outbox: Outbox | None = None
    ) -> None:
        """Without an outbox (in unrelated tests) there is one that nothing closes."""
        self.outbox = outbox or Outbox(Background(), broadcast)
        self._storage = storage
        self._broadcast = broadcast
        self._private: Storage | None = None
        self._private_ids: set[str] = set()
        self._begun: dict[str, ChatDraft] = {}

    # --- new chats -----------------------------------------------------------------------

    def begin(self, private: bool = False, folder: Folder | None = None) -> ChatDraft:
        """A new chat; it has its id from the start, and is stored with its first message."""
        draft = ChatDraft(new_id(), private)
        if folder is not None and not private:
            draft = replace(draft, folder=folder.path, model=folder.model)
        if private:
            self._private_ids.add(draft.id)
        self._begun[draft.id] = draft
        return draft

    def begin_again(self, draft: ChatDraft) -> None:
        """Bring back a new chat from the last run of the program."""
        self._begun.setdefault(draft.id, draft)

    def begun(self, chat_id: str) -> ChatDraft | None:
        """The chat, if it has no message yet."""
        return self._begun.get(chat_id)

    def change_begun(self, draft: ChatDraft, what: What) -> None:
        self._begun[draft.id] = draft
        self.tell(draft.id, what)

    def end_begun(self, chat_id: str) -> None:
        """Drop the draft of a new chat: it is stored, or no longer wanted."""
        self._begun.pop(chat_id, None)

    # --- chats ---------------------------------------------------------------------------

    async def chat(self, chat_id: str) -> Chat | None:
        """A stored or new chat; None for an unknown id."""
        draft = self._begun.get(chat_id)
        if draft is not None and not draft.folder:
            return draft.chat()

        def read(store: Store) -> Chat | None:
            chat = store.chats.get(chat_id) if draft is None else draft.chat()
            if chat is None or not chat.folder:
                return chat
            folders = store.folders.above(chat.folder)
            return replace(chat, above=tuple(folder.options for folder in folders))

        chat = await self.run(chat_id, read)
        return None if chat is None else replace(chat, private=self.is_private(chat_id))

    async def summaries(self) -> list[ChatSummary]:
        """All chats, private ones first."""
        chats = await self._storage.run(lambda store: store.chats.summaries())
        if self._private is None:
            return chats
        private = await self._private.run(lambda store: store.chats.summaries())
        return [*(replace(chat, private=True) for chat in private), *chats]

    def files(self) -> tuple[Path, ...]:
        return self._storage.files

    async def look(self) -> None:
        """Announce changes made by another program, such as an import beside this window."""
        if await self._storage.run(lambda store: store.transfers.changed_elsewhere()):
            self._broadcast.tell(ChatsChanged())

    async def ids(self) -> list[str]:
        """Ids of all listed chats on disk, the last used first."""
        return await self._storage.run(lambda store: store.transfers.ids())

    async def summary(self, chat_id: str) -> ChatSummary | None:
        """A chat's line in the list; None if it is not stored, or deleted."""
        found = await self.run(chat_id, lambda store: store.chats.summaries(chat_id))
        return replace(found[0], private=self.is_private(chat_id)) if found else None

    async def trashed(self) -> list[TrashedChat]:
        """Deleted chats in the trash; private ones never get there."""
        return await self._storage.run(lambda store: store.chats.trashed())

    def keep_private(self, chat_id: str) -> None:
        """Mark a chat derived from a private one as private."""
        self._private_ids.add(chat_id)

    def is_private(self, chat_id: str) -> bool:
        return chat_id in self._private_ids

    def of(self, chat_id: str) -> Storage:
        if chat_id not in self._private_ids:
            return self._storage
        if self._private is None:
            self._private = Storage(None)
        return self._private

    @property
    def on_disk(self) -> Storage:
        return self._storage

    def all(self) -> list[Storage]:
        """The existing databases, the private one first."""
        return [self._storage] if self._private is None else [self._private, self._storage]

    async def run(self, chat_id: str, call: Callable[[Store], T]) -> T:
        return await self.of(chat_id).run(call)

    async def change(self, chat_id: str, what: What, call: Callable[[Store], object]) -> None:
        """Change a chat's row, and announce it; kept in memory where the disk refuses."""

        async def write() -> None:
            await self.run(chat_id, call)
            self.tell(chat_id, what)

        await self.outbox.save((what.value, chat_id), write)

    def tell(self, chat_id: str, what: What) -> None:
        self._broadcast.tell(ChatChanged(chat_id, what))

    async def close(self) -> None:
        """Close the private database; the opener closes the one on disk."""
        if self._private is not None:
            await asyncio.to_thread(self._private.close)
