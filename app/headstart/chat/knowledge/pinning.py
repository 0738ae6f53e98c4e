"""Whole documents of a chat or a folder: pinned, read for prompts, compared with their files.

On the event loop's thread. Their text is that of the index, which keeps it while a chat pins it.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct

from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import Trouble
from headstart.chat.knowledge.costs import PinCost, PromptCosts
from headstart.chat.knowledge.indexing import read_bytes
from headstart.chat.knowledge.knowledge import Knowledge
from headstart.core.chats.attachments import about_tokens
from headstart.core.chats.values import Chat
from headstart.core.errors import EnvironmentProblem
from headstart.core.knowledge.pinned import DocumentText, PinnedDocument, documents_of, folder_owner
from headstart.core.text.folding import unfolded
from headstart.core.told import told
from headstart.extraction.pieces_process import PieceReader

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
        # digests and the chats for which the index keeps them
        self._kept: set[tuple[str, str]] = set()

    async def read(self, path: str) -> PinnedDocument:
        """The document at a path; nothing is kept on disk of it yet. Raises EnvironmentProblem for
        a file without text."""
        path = os.path.abspath(path)  # noqa: PTH100 - links in it stay as the user named them
        found = await asyncio.to_thread(_read, Path(path))
        if found is None:
            raise EnvironmentProblem("knowledge-away", quotes=True, name=path)
        digest, text = found
        self._remember(digest, text)
        source, inside = self._source_of(path)
        return PinnedDocument(source or path, inside, digest)

    async def texts(self, chat: Chat) -> tuple[DocumentText, ...]:
        """The documents for a chat's prompts; one whose text is gone is left out, and told."""
        found = []
        for one in self.documents(chat):
            text = await self.text(one)
            if text is not None:
                found.append(DocumentText(one.name, text, one.digest))
                if not chat.private and (one.digest, chat.id) not in self._kept:
                    # a branch, an import, a folder's document
                    self._kept.add((one.digest, chat.id))
                    await self._knowledge.pin(one.digest, chat.id)
            elif one.digest not in self._lost:
                self._lost.add(one.digest)
                self._broadcast.tell(Trouble(told("document-lost", name=one.name)))
        return tuple(found)

    @staticmethod
    def documents(chat: Chat) -> tuple[PinnedDocument, ...]:
        """The documents of a chat's folders and its own."""
        return documents_of((*(one.pinned for one in reversed(chat.above)), chat.options.pinned))

    async def keep_only(self, chat: Chat) -> None:
        """Keep the texts that a chat pins, and give up those that it does no longer. Those of a
        private chat are in memory only."""
        if not chat.private:
            for one in chat.options.pinned:
                await self._keep(one, chat.id)
        await self._knowledge.unpin(chat.id, [one.digest for one in self.documents(chat)])

    async def keep_for_folder(self, path: str, documents: Sequence[PinnedDocument]) -> None:
        """Keep the texts that a folder of chats pins, and give up its others."""
        owner = folder_owner(path)
        for one in documents:
            await self._keep(one, owner)
        await self._knowledge.unpin(owner, [one.digest for one in documents])

    async def _keep(self, document: PinnedDocument, owner: str) -> None:
        if document.source not in self._knowledge.sources:
            self._knowledge.add(document.source)
        if await self._knowledge.searching.whole(document.digest) is None:
            with contextlib.suppress(EnvironmentProblem):
                await self._knowledge.indexing.read_file(document.source, document.path)
        await self._knowledge.pin(document.digest, owner)

    async def cost(self, chat: Chat, tokens: int) -> PinCost:
        """The cost of a document of about `tokens` with the chat's model."""
        return await self._models.cost(chat, tokens)

    async def states(self, documents: Sequence[PinnedDocument]) -> list[PinnedState]:
        """The documents with their sizes, and whether their files have changed."""
        found = []
        for one in documents:
            text = await self.text(one)
            now, _ = await self._knowledge.searching.state_of(one.source, one.path)
            found.append(
                PinnedState(
                    one,
                    0 if text is None else about_tokens(text),
                    now is not None and now != one.digest,
                )
            )
        return found

    async def text(self, document: PinnedDocument) -> str | None:
        """A document's text as it was read; None if it is gone."""
        known = self._texts.get(document.digest)
        if known is not None:
            self._texts.move_to_end(document.digest)
            return known
        try:
            text = await self._knowledge.searching.whole(document.digest)
            if text is None:
                # the index was deleted, or the chat is private: the file may have the same bytes
                path = Path(document.source, document.path)
                found = await asyncio.to_thread(_read, path)
                text = found[1] if found is not None and found[0] == document.digest else None
        except (EnvironmentProblem, ValueError):
            return None
        if text is not None:
            self._remember(document.digest, text)
        return text

    def _remember(self, digest: str, text: str) -> None:
        self._texts[digest] = text
        while sum(map(len, self._texts.values())) > _KEPT and len(self._texts) > 1:
            self._texts.popitem(last=False)

    def _source_of(self, path: str) -> tuple[str, str]:
        """The source that has a path, and the path in it; ("", "") without one."""
        for source in self._knowledge.sources:
            if path == source:
                return source, ""
            if path.startswith(source.rstrip(os.sep) + os.sep):
                inside = path[len(source.rstrip(os.sep)) + 1 :]
                return source, inside.replace(os.sep, "/")
        return "", ""


def _read(path: Path) -> tuple[str, str] | None:
    """The digest (hexadecimal) and the text of a file; None for one that cannot be opened. Raises
    EnvironmentProblem for one without text. On a worker thread."""
    reader = PieceReader()
    try:
        data, digest = read_bytes(path)
        found = reader.read(data, path.name)
    except (OSError, ValueError):
        return None
    finally:
        reader.close()
    return digest.hex(), "".join(unfolded(row.folded) for row in found.rows)
