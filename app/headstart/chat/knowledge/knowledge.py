"""The folders and files that questions are answered from: added, removed, looked at, searched.

On the event loop's thread. Sources are in the settings; the index can be deleted at any time.
"""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from headstart.chat.background import Background
from headstart.chat.knowledge.indexing import Indexing
from headstart.chat.knowledge.meaning import Meaning
from headstart.chat.knowledge.searching import KnowledgeSearching
from headstart.chat.preferences import Preferences
from headstart.core.beginnings import BegunKind
from headstart.core.errors import EnvironmentProblem
from headstart.core.knowledge.values import SourceState
from headstart.core.text.whole import is_text
from headstart.knowledge.scan import scan
from headstart.storage.knowledge.index import KnowledgeIndex

log = logging.getLogger(__name__)

# files of a folder from which on the user is asked before they are read
MANY = 2_000
# seconds between two looks at the folders of the open chat
LOOK_SECONDS = 30.0


class FolderSize(Struct, frozen=True):
    """A folder before it is added."""

    path: str
    files: int
    size: int

    @property
    def many(self) -> bool:
        return self.files > MANY


class Knowledge:
    def __init__(
        self,
        index: KnowledgeIndex,
        indexing: Indexing,
        meaning: Meaning,
        searching: KnowledgeSearching,
        parts: tuple[Preferences, Background],
    ) -> None:
        self._index = index
        self.indexing = indexing
        self.meaning = meaning
        self.searching = searching
        self._preferences, self._background = parts

    @property
    def sources(self) -> tuple[str, ...]:
        return self._preferences.current.knowledge.sources

    @property
    def size(self) -> int:
        """Bytes of the index on disk."""
        return self._index.size

    async def measure(self, path: str) -> FolderSize:
        """The files of a folder or file that could be added. Raises EnvironmentProblem."""
        if not is_text(path):
            raise EnvironmentProblem("knowledge-odd-name", quotes=True, name=path)
        found = await asyncio.to_thread(scan, Path(path))
        if found.away:
            raise EnvironmentProblem("knowledge-away", quotes=True, name=path)
        return FolderSize(path, len(found.stamps), sum(one.size for one in found.stamps))

    def add(self, path: str) -> None:
        """Add a folder or a file, and read it. One that is inside another source, or has one
        inside, is a source of its own."""
        path = os.path.abspath(path)  # noqa: PTH100 - links in it stay as the user named them
        if path not in self.sources:
            self._set_sources((*self.sources, path))
        self.indexing.look([path], asked=True)

    async def remove(self, path: str) -> None:
        """Remove a source, and its text from the index; its files stay."""
        self._set_sources(tuple(one for one in self.sources if one != path))
        await self.indexing.forget(path)

    def look(self, sources: tuple[str, ...] | None = None) -> None:
        """Look for changed files, in all sources or in these."""
        wanted = self.sources if sources is None else sources
        self.indexing.look([one for one in wanted if one in self.sources])

    def wake(self, owners: Callable[[], Awaitable[Mapping[str, Sequence[str]]]]) -> None:
        """Look at all sources, now that the window is shown, and remove what no setting and no
        owner names any more; `owners` returns all chats and folders, with the digests of texts that
        folders keep."""
        self._background.beginnings.begins(BegunKind.FOLDER, self._begin)
        self._begin("")
        self.tidy(owners)

    def begin_again(self, source: str) -> None:
        """Look at a source that was held, as the user asked."""
        self.indexing.look([source], asked=True)

    def _begin(self, source: str) -> None:
        """Look at a source, or at all of them for ""."""
        self.look((source,) if source else None)
        if not self._background.beginnings.safe:
            self.meaning.go_on()

    def tidy(self, owners: Callable[[], Awaitable[Mapping[str, Sequence[str]]]]) -> None:
        """Remove what no setting and no owner names any more."""
        if self._index.exists:
            self._background.run(self._tidy(owners))

    async def _tidy(self, owners: Callable[[], Awaitable[Mapping[str, Sequence[str]]]]) -> None:
        try:
            await self._remove_unnamed(await owners())
        except EnvironmentProblem as problem:
            # the program ends, or a disk refuses: the next start tries it
            log.info("the index was not tidied: %s", problem.for_log)

    async def _remove_unnamed(self, known: Mapping[str, Sequence[str]]) -> None:
        for owner, digests in known.items():
            # a folder may have another name now
            for digest in digests:
                await self.pin(digest, owner)
        stored = await self._index.write(lambda index: index.files.owners())
        for owner in stored - known.keys():
            await self.unpin(owner)
        sources = await self._index.write(lambda index: index.files.sources())
        for source in sources - set(self.sources):
            await self.indexing.forget(source)

    async def pin(self, digest: str, owner: str) -> None:
        """Keep a text for a chat or a folder, whatever happens to its file."""
        await self._index.write(lambda index: index.files.pin(bytes.fromhex(digest), owner))

    async def unpin(self, owner: str, keep: Sequence[str] = ()) -> None:
        """Give up the texts that an owner pinned, except for some digests."""
        if self._index.exists:
            kept = [bytes.fromhex(one) for one in keep]
            await self._index.write(lambda index: index.files.unpin(owner, kept))

    async def states(self) -> list[SourceState]:
        """The state of each source, in their order."""
        embedder = await self.meaning.number() if self.sources else None
        found = []
        for source in self.sources:
            state = self.indexing.states.get(source, SourceState(source))
            if self._index.exists:
                state = await self.indexing.count(source, embedder)
            found.append(state)
        return found

    async def rebuild(self) -> None:
        """Delete the index, and read all files again."""
        await self.indexing.stop()
        # a chat's document may be the only copy of an older text
        kept = await self._index.write(lambda index: index.files.pinned())
        await self._index.delete()
        await self._index.write(lambda index: index.files.carry(kept))
        self.indexing.states.clear()
        self.indexing.look(self.sources, asked=True)

    async def close(self) -> None:
        await self.meaning.close()
        await self.indexing.close()
        await asyncio.to_thread(self._index.close)

    def _set_sources(self, sources: tuple[str, ...]) -> None:
        now = self._preferences.current.knowledge
        self._preferences.update(knowledge=replace(now, sources=sources))
