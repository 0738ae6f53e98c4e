"""The storage thread: opens the database on it and runs every call there, in order.

Callers await `run`; the window never waits for a disk.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from headstart.core.errors import DatabaseProblem

if TYPE_CHECKING:
    from headstart.storage.chats import ChatTable
    from headstart.storage.messages import MessageTable
    from headstart.storage.prefixes import PrefixTable
    from headstart.storage.profiles import ProfileTable

log = logging.getLogger(__name__)
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Store:
    """What a storage call works on."""

    chats: ChatTable
    messages: MessageTable
    profiles: ProfileTable
    prefixes: PrefixTable
    interrupted: int  # replies that the last run left unfinished


class Storage:
    """One database, one thread. `open` once, `run` anything, `close` at the end."""

    def __init__(self, path: Path | None, backups: Path | None = None) -> None:
        """`path` None keeps everything in memory, for private chats."""
        self._path = path
        self._backups = backups
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="storage")
        self._opened: Future[Store] = self._executor.submit(self._open)

    async def ready(self) -> Store:
        """Wait until the database is open; raises DatabaseProblem when it cannot be."""
        return await asyncio.wrap_future(self._opened)

    async def run(self, call: Callable[[Store], T]) -> T:
        """Run `call` on the storage thread, after everything asked for before it."""
        return await asyncio.wrap_future(self.submit(call))

    def submit(self, call: Callable[[Store], T]) -> Future[T]:
        """The same for other threads; RuntimeError once the storage is closed."""
        return self._executor.submit(self._run, call)

    def close(self) -> None:
        """Finish what is queued, then close the database; blocks for as long as that takes."""
        self._executor.submit(self._close)
        self._executor.shutdown(wait=True)

    def _run(self, call: Callable[[Store], T]) -> T:
        store = self._opened.result()
        from sqlalchemy.exc import OperationalError

        try:
            return call(store)
        except (OperationalError, OSError) as error:
            cause = getattr(error, "orig", error)
            raise DatabaseProblem(
                f"The chat database could not be used: {cause}.",
                "Is this computer out of memory?"
                if self._path is None
                else f"Is the disk of {self._path.parent} full, or not writable?",
            ) from error

    def _open(self) -> Store:
        # SQLAlchemy takes a fifth of a second to import: here, beside the window's start
        from headstart.storage.chats import ChatTable
        from headstart.storage.database import open_database, open_memory
        from headstart.storage.messages import MessageTable
        from headstart.storage.prefixes import PrefixTable
        from headstart.storage.profiles import ProfileTable

        try:
            if self._path is None or self._backups is None:
                self._engine = open_memory()
            else:
                self._engine = open_database(self._path, self._backups)
        except OSError as error:
            raise DatabaseProblem(
                f"The folder of the chat database cannot be used: {error}.",
                "Check its permissions, or choose another one with --home.",
            ) from error
        messages = MessageTable(self._engine)
        chats = ChatTable(self._engine)
        interrupted = messages.recover()
        try:
            chats.purge_deleted()
        except Exception:
            # what is hidden stays hidden; no reason not to open
            log.exception("deleted chats could not be removed")
        profiles, prefixes = ProfileTable(self._engine), PrefixTable(self._engine)
        return Store(chats, messages, profiles, prefixes, interrupted)

    def _close(self) -> None:
        if self._opened.exception() is None:
            self._engine.dispose()
