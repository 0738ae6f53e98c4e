"""The files that a chat names: nothing else may reach its model. On the event loop's thread."""

from __future__ import annotations

from msgspec import Struct

from headstart.chat.branches import Branches
from headstart.chat.knowledge.asking import PassageFinder
from headstart.chat.knowledge.pinning import Pinning
from headstart.core.chats.values import Chat
from headstart.core.knowledge.pinned import PinnedDocument


class NamedFiles(Struct, frozen=True):
    """`sources`: folders and files from which questions are answered; `documents`: those that
    stand first, as they were read."""

    sources: tuple[str, ...] = ()
    documents: tuple[PinnedDocument, ...] = ()


class ChatFiles:
    def __init__(self, passages: PassageFinder, pinning: Pinning, branches: Branches) -> None:
        self._passages = passages
        self._pinning = pinning
        self._branches = branches

    async def of(self, chat: Chat, model_key: str) -> NamedFiles:
        """The files that are in force now: those of the chat, its folder, or the model. What the
        user switched off while a reply is written is off for its next call."""
        now = await self._branches.chat(chat.id) or chat
        return NamedFiles(self._passages.sources(now, model_key), self._pinning.documents(now))

    async def text(self, document: PinnedDocument) -> str:
        """A whole document's text; "" if it is gone."""
        return await self._pinning.text(document) or ""
