"""Searches all chats, or one. On the event loop's thread.

In the background, in slices, the search index takes in chats older than itself and drops deleted
ones.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable

from headstart.chat.background import Background
from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import ChatChanged, ChatsChanged, IndexChanged, What
from headstart.chat.databases import Databases
from headstart.core.chats.finding import FoundInChat
from headstart.core.chats.search import (
    ChatMatches,
    Filters,
    FoundChat,
    FoundChats,
    SearchHit,
    in_order,
    parsed,
)
from headstart.core.chats.values import now_ms
from headstart.core.errors import EnvironmentProblem
from headstart.storage.worker import Storage, Store

log = logging.getLogger(__name__)

# places shown at first: of a chat, in chats; and those fetched then for one
EACH, SHOWN, MORE = 3, 40, 20
# matching parts that are looked at first; where there are more, all are counted after these are
# shown
LATEST = 120
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

    async def find(self, query: str, quick: bool = False) -> FoundChats:
        """All chats with all words of a query in their title or in one message, best first; the
        query may contain filters (`core.chats.search`). `quick`: where many messages match, only
        the latest ones are looked at."""
        words, filters = parsed(query)
        if not words.strip() and not filters.any:
            return FoundChats()
        found = [
            await storage.run(lambda store: _find(store, words, filters, quick))
            for storage in self._databases.all()
        ]
        chats = tuple(chat for one in found for chat in one.chats)
        return FoundChats(chats, all(one.whole for one in found))

    async def places(self, query: str, chat_id: str, begin: int) -> list[SearchHit]:
        """Further messages of a chat with all words of a query: `MORE` from the number `begin`
        on, the latest first."""
        words, filters = parsed(query)
        return await self._databases.run(
            chat_id, lambda store: store.search.places(words, filters, chat_id, begin, MORE)
        )

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


def _find(store: Store, words: str, filters: Filters, quick: bool) -> FoundChats:
    """On the storage thread."""
    search = store.search
    titles = search.titles(words) if words.strip() and not filters.any else []
    hits = search.find(words, filters, LATEST + 1)
    whole = len(hits) <= LATEST
    if whole or quick:
        latest = hits[:LATEST] if not whole else hits
        hits = list({hit.message_id: hit for hit in reversed(latest)}.values())[::-1]
        matches = _chats_of(hits)
    else:
        matches = search.matches(words, filters, EACH)
    matching = {one.chat_id for one in matches}
    matches += [ChatMatches(one, 0) for one in titles if one not in matching]
    chats = search.chats(one.chat_id for one in matches)
    used = [(one, chats[one.chat_id][1]) for one in matches if one.chat_id in chats]
    ordered = in_order(used, titles, now_ms())
    if not whole and not quick:
        hits = search.hits(words, [part for one in ordered[:SHOWN] for part in one.parts])
    places: dict[str, list[SearchHit]] = {}
    for hit in hits:
        places.setdefault(hit.chat_id, []).append(hit)
    found = []
    for one in ordered:
        shown = tuple(places.get(one.chat_id, ())[:EACH])
        found.append(FoundChat(one.chat_id, *chats[one.chat_id], shown, one.messages - len(shown)))
    return FoundChats(tuple(found), whole or not quick)


def _chats_of(hits: Iterable[SearchHit]) -> list[ChatMatches]:
    """The chats of hits, one for each message."""
    counts: dict[str, int] = {}
    for hit in hits:
        counts[hit.chat_id] = counts.get(hit.chat_id, 0) + 1
    return [ChatMatches(chat_id, count) for chat_id, count in counts.items()]
