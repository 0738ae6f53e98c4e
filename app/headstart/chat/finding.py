"""Searches all chats, or one. On the event loop's thread.

In the background, in slices, the search index takes in chats older than itself and drops deleted
ones.
"""

from __future__ import annotations

import asyncio
import logging

from headstart.chat.background import Background
from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import ChatChanged, ChatsChanged, IndexChanged, What
from headstart.chat.databases import Databases
from headstart.core.chats.finding import FoundInChat
from headstart.core.chats.search import FoundChat, SearchHit, parsed
from headstart.core.errors import EnvironmentProblem
from headstart.storage.worker import Storage, Store

log = logging.getLogger(__name__)

# messages fetched for one search, and messages shown per chat
MOST, EACH = 120, 4
# seconds after the start, and between two slices of the index
FIRST_SECONDS, PAUSE_SECONDS = 4.0, 0.05
# seconds until the write-ahead log is tried again
AGAIN_SECONDS = 2.0
# the pause after a slice, as a multiple of the slice's time
_SHARE = 3.0
# seconds between two reports of index progress to a waiting search
_TOLD_SECONDS = 1.0


class Finding:
    def __init__(self, databases: Databases, background: Background, broadcast: Broadcast) -> None:
        self._databases = databases
        self._background = background
        self._broadcast = broadcast
        self._building = False
        # a search waits for the index: the pauses are cut short
        self._waited_for = self._failed = False
        broadcast.on(ChatsChanged, lambda _change: self._build_soon())
        broadcast.on(ChatChanged, self._on_chat)

    def start(self) -> None:
        """Start to keep the index up to date in the background."""
        self._build_soon(FIRST_SECONDS)
        self._background.run(self._merge_owed(self._databases.on_disk))

    async def find(self, query: str) -> list[FoundChat]:
        """Chats with all words of a query in their title or in one message; the query may contain
        filters (`core.chats.search`). Title matches come first."""
        words, filters = parsed(query)
        if not words.strip() and not filters.any:
            return []

        def look(store: Store) -> list[FoundChat]:
            found = store.search.find(words, filters, MOST)
            titles = store.search.titles(words) if words.strip() and not filters.any else []
            chats = store.search.chats([*titles, *(one.chat_id for one in found)])
            return _grouped(titles, found, chats)

        return [chat for storage in self._databases.all() for chat in await storage.run(look)]

    async def is_whole(self) -> bool:
        """True if the index covers all messages; else the missing ones are added at once, and
        `IndexChanged` tells when a search may find more. Also True if they cannot be added, as in
        a read-only database: there is nothing to wait for."""
        whole = await self._databases.on_disk.run(lambda store: store.search.is_whole())
        if whole or self._failed:
            return True
        self._waited_for = True
        self._build_soon()
        return False

    async def in_chat(self, chat_id: str, query: str, everywhere: bool) -> list[FoundInChat]:
        """Messages of a chat that contain the query verbatim; `everywhere`: on all branches."""
        if self._databases.begun(chat_id) is not None or not query.strip():
            return []
        return await self._databases.run(
            chat_id, lambda store: store.branches.find(chat_id, query, everywhere)
        )

    def _on_chat(self, change: ChatChanged) -> None:
        if change.what is What.PURGED:
            self._background.run(self._merge(self._databases.of(change.chat_id)))

    def _build_soon(self, seconds: float = 0.0) -> None:
        if not self._building:
            self._building = True
            self._background.run(self._build(seconds))

    async def _build(self, seconds: float) -> None:
        try:
            await self._pause(seconds, hurried=True)
            loop = asyncio.get_running_loop()
            told = loop.time()
            while not self._background.closing:
                began = loop.time()
                if not await self._databases.on_disk.run(lambda store: store.search.build()):
                    break
                self._failed = False
                if self._waited_for and loop.time() - told > _TOLD_SECONDS:
                    told = loop.time()
                    self._broadcast.tell(IndexChanged())
                rest = max(PAUSE_SECONDS, _SHARE * (loop.time() - began))
                await self._pause(rest, hurried=True)
        except EnvironmentProblem as problem:
            log.warning("the index of words is made later: %s", problem)
            self._failed = True
        finally:
            waited_for = self._waited_for and not self._background.closing
            self._building = self._waited_for = False
        if waited_for:
            # also after a failure: there is nothing more to wait for
            self._broadcast.tell(IndexChanged())

    async def _merge_owed(self, storage: Storage) -> None:
        """Finish the merge that the last run of the program left open."""
        try:
            await storage.ready()
        except EnvironmentProblem:
            # reported elsewhere
            return
        await self._pause(FIRST_SECONDS)
        if storage.index_owed:
            await self._merge(storage)

    async def _merge(self, storage: Storage) -> None:
        """Remove purged chats from the index completely."""
        try:
            purges = storage.purges
            more = await storage.run(lambda store: store.search.merge(begin=True))
            while more and not self._background.closing:
                await self._pause(PAUSE_SECONDS)
                more = await storage.run(lambda store: store.search.merge())
            while not more and not await storage.index_merged(purges):
                if self._background.closing:
                    break
                # a backup copy is being made
                await self._pause(AGAIN_SECONDS)
        except EnvironmentProblem as problem:
            log.warning("deleted words leave the index later: %s", problem)

    async def _pause(self, seconds: float, hurried: bool = False) -> None:
        """Sleep until the time is over or the program ends; if `hurried`, also end it when a search
        waits for the index."""
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        while loop.time() < end and not self._background.closing:
            if hurried and self._waited_for:
                break
            await asyncio.sleep(min(0.2, max(0.0, end - loop.time())))


def _grouped(
    titles: list[str], found: list[SearchHit], chats: dict[str, tuple[str, int, bool]]
) -> list[FoundChat]:
    by_chat: dict[str, list[SearchHit]] = {one: [] for one in titles}
    for one in found:
        by_chat.setdefault(one.chat_id, []).append(one)
    return [
        FoundChat(
            chat_id, *chats[chat_id], messages=tuple(inside[:EACH]), more=max(0, len(inside) - EACH)
        )
        for chat_id, inside in by_chat.items()
        if chat_id in chats
    ]
