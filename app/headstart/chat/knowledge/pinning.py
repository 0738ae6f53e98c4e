"""Whole documents of a chat or a folder: pinned, read for prompts, compared with their files.

On the event loop's thread. Their text is that of the index, which keeps it while a chat pins it.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import Trouble
from headstart.chat.knowledge.costs import PinCost, PromptCosts
from headstart.chat.knowledge.knowledge import Knowledge
from headstart.core.chats.attachments import LARGEST, about_tokens
from headstart.core.chats.values import Chat
from headstart.core.errors import EnvironmentProblem
from headstart.core.files import read_regular
from headstart.core.knowledge.pinned import DocumentText, PinnedDocument, documents_of
from headstart.core.told import from_stored, told

log = logging.getLogger(__name__)

# characters of documents kept in memory between requests
_KEPT = 16_000_000


class PinnedState(Struct, frozen=True):
    """A pinned document; `tokens` are estimated, 0 if its text is gone. `changed`: its file has
    other bytes now."""

    document: PinnedDocument
    tokens: int
    changed: bool = False


class Pinning:
    def __init__(self, knowledge: Knowledge, broadcast: Broadcast, models: PromptCosts) -> None:
        self._models = models
        self._knowledge = knowledge
        self._broadcast = broadcast
        self._texts: OrderedDict[str, str] = OrderedDict()
        # digests of documents whose loss was told
        self._lost: set[str] = set()

    async def read(self, path: str, owner: str) -> PinnedDocument:
        """The document at a path, for the chat or folder `owner`; a file outside all sources
        becomes one. Raises EnvironmentProblem for a file without text."""
        path = os.path.abspath(path)  # noqa: PTH100 - links in it stay as the user named them
        source, inside = self._source_of(path)
        if not source:
            source, inside = path, ""
            self._knowledge.add(path)
        else:
            self._knowledge.look((source,))
        await self._knowledge.indexing.settled()
        digest, problem = await self._knowledge.searching.state_of(source, inside)
        if digest is None:
            why = from_stored(problem)
            if why is not None:
                raise EnvironmentProblem.of(why)
            raise EnvironmentProblem("knowledge-away", name=path)
        await self._knowledge.pin(digest, owner)
        return PinnedDocument(source, inside, digest)

    async def texts(self, chat: Chat) -> tuple[DocumentText, ...]:
        """The documents for a chat's prompts; one whose text is gone is left out, and told."""
        found = []
        for one in self.documents(chat):
            text = await self._text(one)
            if text is not None:
                found.append(DocumentText(one.name, text))
            elif one.digest not in self._lost:
                self._lost.add(one.digest)
                self._broadcast.tell(Trouble(told("document-lost", name=one.name)))
        return tuple(found)

    @staticmethod
    def documents(chat: Chat) -> tuple[PinnedDocument, ...]:
        """The documents of a chat's folders and its own."""
        return documents_of((*(one.pinned for one in reversed(chat.above)), chat.options.pinned))

    async def keep_only(self, chat: Chat) -> None:
        """Give up the texts that the chat no longer pins."""
        await self._knowledge.unpin(chat.id, [one.digest for one in chat.options.pinned])

    async def cost(self, chat: Chat, tokens: int) -> PinCost:
        """The cost of a document of about `tokens` with the chat's model."""
        return await self._models.cost(chat, tokens)

    async def states(self, documents: Sequence[PinnedDocument]) -> list[PinnedState]:
        """The documents with their sizes, and whether their files have changed."""
        found = []
        for one in documents:
            text = await self._text(one)
            now, _ = await self._knowledge.searching.state_of(one.source, one.path)
            found.append(
                PinnedState(
                    one,
                    0 if text is None else about_tokens(text),
                    now is not None and now != one.digest,
                )
            )
        return found

    async def _text(self, document: PinnedDocument) -> str | None:
        known = self._texts.get(document.digest)
        if known is not None:
            self._texts.move_to_end(document.digest)
            return known
        try:
            text = await self._knowledge.searching.whole(document.digest)
            if text is None and await asyncio.to_thread(_is_unchanged, document):
                # the index was deleted: the file still has the same bytes
                self._knowledge.look((document.source,))
                await self._knowledge.indexing.settled()
                text = await self._knowledge.searching.whole(document.digest)
        except (EnvironmentProblem, ValueError):
            return None
        if text is not None:
            self._texts[document.digest] = text
            while sum(map(len, self._texts.values())) > _KEPT and len(self._texts) > 1:
                self._texts.popitem(last=False)
        return text

    def _source_of(self, path: str) -> tuple[str, str]:
        """The source that has a path, and the path in it; ("", "") without one."""
        for source in self._knowledge.sources:
            if path == source:
                return source, ""
            if path.startswith(source.rstrip(os.sep) + os.sep):
                inside = path[len(source.rstrip(os.sep)) + 1 :]
                return source, inside.replace(os.sep, "/")
        return "", ""


def _is_unchanged(document: PinnedDocument) -> bool:
    """True if the file still has the bytes that were pinned. On a worker thread."""
    path = Path(document.source, document.path) if document.path else Path(document.source)
    try:
        return hashlib.sha256(read_regular(path, LARGEST)).hexdigest() == document.digest
    except (OSError, ValueError):
        return False
