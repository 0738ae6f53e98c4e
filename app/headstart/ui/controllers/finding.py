"""Searching for words, in all chats and in the open one. Main thread."""

from __future__ import annotations

import asyncio

from PySide6.QtCore import QObject, Signal

from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import BranchChanged, IndexChanged, ReplyEnded
from headstart.chat.finding import Finding
from headstart.core.chats.search import FoundChats
from headstart.ui.kit.tasks import Tasks
from headstart.ui.open_chat import OpenChat

# pause in typing after which all matches of a frequent word are counted
COUNT_SECONDS = 0.3


class FindingController(QObject):
    # a query, what was found, and False if some messages have not been searched yet
    found = Signal(str, FoundChats, bool)
    # a query, the id of a chat, and further messages in it
    places_found = Signal(str, str, list)
    found_here = Signal(str, list)  # a query, and its FoundInChats in the open chat
    changed_here = Signal()  # the messages of the open chat changed

    def __init__(
        self, finding: Finding, open_chat: OpenChat, tasks: Tasks, broadcast: Broadcast
    ) -> None:
        super().__init__()
        self._finding = finding
        self._open = open_chat
        self._tasks = tasks
        # the last query wins
        self._serial = 0
        # the query whose result was incomplete, or ""
        self._query = ""
        broadcast.on(IndexChanged, lambda _change: self._again())
        broadcast.on(BranchChanged, lambda change: self._on_branch(change.chat_id))
        broadcast.on(ReplyEnded, lambda change: self._on_branch(change.chat_id))

    def find(self, query: str) -> None:
        """Search all chats."""
        self._serial += 1
        # the previous query is dropped
        self._query = ""
        self._tasks.spawn(self._find(query, self._serial))

    def find_places(self, query: str, chat_id: str, begin: int) -> None:
        """Find further messages of a chat, from a number on; `places_found` follows."""
        self._tasks.spawn(self._find_places(query, chat_id, begin))

    def find_here(self, query: str, everywhere: bool) -> None:
        """Search the open chat; `everywhere`: on all of its branches."""
        self._tasks.spawn(self._find_here(query, everywhere, self._open.id))

    async def _find(self, query: str, serial: int) -> None:
        whole = await self._finding.is_whole()
        for quick in (True, False):
            if not quick:
                # the next letter may make it few
                await asyncio.sleep(COUNT_SECONDS)
                if serial != self._serial:
                    return
            found = await self._finding.find(query, quick)
            if serial != self._serial:
                return
            self._query = "" if whole else query
            self.found.emit(query, found, whole and found.whole)
            if found.whole:
                return

    async def _find_places(self, query: str, chat_id: str, begin: int) -> None:
        found = await self._finding.places(query, chat_id, begin)
        self.places_found.emit(query, chat_id, found)

    def _again(self) -> None:
        if self._query:
            self.find(self._query)

    async def _find_here(self, query: str, everywhere: bool, chat_id: str) -> None:
        found = await self._finding.in_chat(chat_id, query, everywhere)
        if chat_id == self._open.id:
            self.found_here.emit(query, found)

    def _on_branch(self, chat_id: str) -> None:
        if chat_id == self._open.id:
            self.changed_here.emit()
