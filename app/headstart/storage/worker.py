"""The storage thread: opens the database and runs every call on it, in order.

Callers await `run`; the window never waits for a disk.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Collection
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import msgspec
from msgspec import Struct

from headstart.core.errors import DatabaseProblem
from headstart.core.told import Told
from headstart.storage.blobs import Blobs
from headstart.storage.rescue import owed
from headstart.storage.rescue.owed import Owed

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from headstart.storage.adapters.prefixes import PrefixTable
    from headstart.storage.branching import BranchTable
    from headstart.storage.chats import ChatTable
    from headstart.storage.folders import FolderTable
    from headstart.storage.messages import MessageTable
    from headstart.storage.profiles import ProfileTable
    from headstart.storage.rescue.copies import DailyCopies
    from headstart.storage.search import SearchTable
    from headstart.storage.sessions import SessionTable
    from headstart.storage.transfers import TransferTable
    from headstart.storage.unsent import UnsentTable

log = logging.getLogger(__name__)
T = TypeVar("T")
# longest wait for the window's first paint, which may never come
LONGEST_HELD_SECONDS = 2.0


class Store(Struct, frozen=True):
    """Tables and blobs for a storage call."""

    chats: ChatTable
    messages: MessageTable
    profiles: ProfileTable
    prefixes: PrefixTable
    sessions: SessionTable
    transfers: TransferTable
    branches: BranchTable
    search: SearchTable
    folders: FolderTable
    unsent: UnsentTable
    blobs: Blobs
    interrupted: int  # replies that the last run left unfinished
    # news for the user about the state of the database
    notices: tuple[Told, ...] = ()
    # why nothing can be written; None if it can
    read_only: Told | None = None


class Storage:
    """One database, one thread. `open` once, `run` anything, `close` at the end."""

    engine: Engine
    # number of permanent removals of chats
    purges = 0
    _owed = Owed()
    _damaged = False
    _closed = False

    def __init__(
        self,
        path: Path | None,
        backups: Path | None = None,
        *,
        beside: bool = False,
        held: bool = False,
    ) -> None:
        """`path` None keeps everything in memory, for private chats. `beside`: another program has
        this database open, and maintains it. `held`: not opened before `release`, since its imports
        would compete with building the window."""
        self._path = path
        self._beside = beside
        self._backups = backups
        self._executor = ThreadPoolExecutor(max_workers=1, thread_name_prefix="storage")
        self._copies: DailyCopies | None = None
        self._released = threading.Event()
        if not held:
            self.release()
        self._opened: Future[Store] = self._executor.submit(self._open)

    def release(self) -> None:
        """Open a held database now."""
        self._released.set()

    @property
    def files(self) -> tuple[Path, ...]:
        """The database and its log, to which every writer writes; none in memory."""
        path = self._path
        return () if path is None else (path, path.with_name(path.name + "-wal"))

    @property
    def copies(self) -> DailyCopies | None:
        """The daily copies; None for a database that has none, and until it is open."""
        return self._copies

    async def ready(self) -> Store:
        """Wait until the database is open; raises DatabaseProblem if it cannot be opened."""
        return await asyncio.wrap_future(self._opened)

    async def run(self, call: Callable[[Store], T]) -> T:
        """Run `call` on the storage thread, after all earlier calls."""
        return await asyncio.wrap_future(self.submit(call))

    def submit(self, call: Callable[[Store], T]) -> Future[T]:
        """The same for other threads; RuntimeError once the storage is closed."""
        return self._executor.submit(self._run, call)

    async def purge(self, chat_id: str | None = None) -> list[str]:
        """Remove a deleted chat for good, from copies and the write-ahead log too; without an id
        all deleted chats. Returns their ids. The next start finishes an interrupted removal; the
        index of words must then be merged, see `index_owed`."""
        return await self.run(lambda store: self._purge(store, chat_id))

    async def index_merged(self, purges: int) -> bool:
        """Note that the index has no more words of the chats removed by the first `purges` purges;
        returns whether the write-ahead log is free of them too."""
        return await self.run(lambda _store: self._index_merged(purges))

    @property
    def index_owed(self) -> bool:
        """True if the index may have words of removed chats; known once the database is open."""
        return self._owed.index

    def close(self) -> None:
        """Finish the queue, then close the database; blocks for as long as that takes."""
        if self._closed:
            return
        self._closed = True
        self.release()
        if self._copies is not None:
            self._copies.close()
        self._executor.submit(self._close)
        self._executor.shutdown(wait=True)

    def _run(self, call: Callable[[Store], T]) -> T:
        store = self._opened.result()
        from sqlalchemy.exc import SQLAlchemyError

        from headstart.storage.rescue.trouble import (
            DatabaseTrouble,
            is_database_error,
            is_of_index,
            problem_of,
            trouble_of,
        )

        try:
            try:
                return call(store)
            except SQLAlchemyError as error:
                if not is_of_index(error) or store.read_only is not None:
                    raise
                # texts come before their index: none is lost for it
                log.warning("the index of words was damaged, and is made again")
                store.search.make_again()
                return call(store)
        except (SQLAlchemyError, OSError) as error:
            if not is_database_error(error):
                raise
            if store.read_only is not None:
                raise DatabaseProblem(
                    "read-only", reason=store.read_only.facts["reason"]
                ) from error
            if self._path is None:
                raise DatabaseProblem("private-chat-not-kept") from error
            if trouble_of(error) is DatabaseTrouble.DAMAGED:
                self._note_damage(self._path)
            raise problem_of(error) from error

    def _note_damage(self, path: Path) -> None:
        """Have the next start salvage, even if SQLite's own check finds nothing."""
        from headstart.storage.rescue import last_state

        self._damaged = True
        known = last_state.load(path) or last_state.LastState(0, 0, 0)
        last_state.save(path, msgspec.structs.replace(known, damaged=True, clean=False))

    def _open(self) -> Store:
        self._released.wait(LONGEST_HELD_SECONDS)
        # SQLAlchemy takes a fifth of a second to import: do that on this thread, not on the main
        # one
        from headstart.storage.adapters.prefixes import PrefixTable
        from headstart.storage.branching import BranchTable
        from headstart.storage.chats import ChatTable
        from headstart.storage.database import open_memory
        from headstart.storage.folders import FolderTable
        from headstart.storage.messages import MessageTable
        from headstart.storage.profiles import ProfileTable
        from headstart.storage.rescue.opening import Opened, open_beside, open_home
        from headstart.storage.search import SearchTable
        from headstart.storage.sessions import SessionTable
        from headstart.storage.transfers import TransferTable
        from headstart.storage.unsent import UnsentTable

        if self._path is None or self._backups is None:
            opened = Opened(open_memory(), 0)
        elif self._beside:
            opened = open_beside(self._path)
        else:
            opened = open_home(self._path, self._backups)
        engine = self.engine = opened.engine
        messages = MessageTable(engine)
        transfers = TransferTable(engine, messages)
        store = Store(
            ChatTable(engine),
            messages,
            ProfileTable(engine),
            PrefixTable(engine),
            SessionTable(engine),
            transfers,
            BranchTable(engine, messages, transfers),
            SearchTable(engine),
            FolderTable(engine),
            UnsentTable(engine),
            Blobs(None if self._path is None else self._path.parent / "blobs"),
            opened.interrupted,
            opened.notices,
            opened.read_only,
        )
        keeps = self._path is not None and opened.read_only is None and not self._beside
        if keeps and self._path is not None and self._backups is not None:
            self._begin(store, self._path, self._backups, opened.same)
        return store

    def _begin(self, store: Store, path: Path, backups: Path, same: bool) -> None:
        """Prepare a database for writing; `same`: it is the last run's."""
        from headstart.storage.rescue import last_state
        from headstart.storage.rescue.copies import DailyCopies, find_part, remove_unfinished

        store.messages.find_copy = partial(find_part, path, backups)
        remove_unfinished(backups)

        def remember() -> None:
            if not self._damaged:
                last_state.save(path, last_state.of_engine(self.engine))

        store.messages.on_stored = remember
        if same:
            # the blobs that a salvaged or new database needs are unknown
            try:
                self._free_blobs(store)
            except Exception:
                # no reason not to open the database
                log.exception("files that nobody needs could not be removed")
        self._owed = owed.load(path)
        if self._owed.chats:
            try:
                self._remove(store, list(self._owed.chats))
            except Exception:
                # no reason not to open the database: the removal is still recorded
                log.exception("what the last run left of deleted chats could not be removed")
        remember()
        self._copies = DailyCopies(path, backups)

    def _purge(self, store: Store, chat_id: str | None) -> list[str]:
        gone = [one for one in store.chats.deleted() if chat_id in (None, one)]
        if not gone:
            return []
        if store.read_only is not None:
            # before anything is removed from the copies
            raise DatabaseProblem("read-only", reason=store.read_only.facts["reason"])
        self.purges += 1
        # first: if the program is killed from here on, the next start knows what to remove
        self._owe(Owed(tuple(dict.fromkeys((*self._owed.chats, *gone))), index=True))
        self._remove(store, gone)
        return gone

    def _remove(self, store: Store, gone: list[str]) -> None:
        """Remove hidden chats, and all remains of removed ones."""
        here = [one for one in store.chats.deleted() if one in gone]
        blobs = store.messages.used_blobs(here)
        seen = self._remove_from_copies(gone, ())
        store.chats.purge(here)
        if self._copies is not None:
            self._copies.outdate()
        # a copy that was made meanwhile
        seen |= self._remove_from_copies(gone, seen)
        # at once: the next start would salvage a database that is smaller than recorded
        store.messages.on_stored()
        store.blobs.settle(blobs)
        self._free_blobs(store)
        if self._path is not None:
            from headstart.storage.database import leave_nothing_deleted

            leave_nothing_deleted(self.engine)
        if all(seen.values()):
            left = [one for one in self._owed.chats if one not in gone]
            self._owe(Owed(tuple(left), index=True))

    def _remove_from_copies(self, gone: list[str], seen: Collection[Path]) -> dict[Path, bool]:
        """Remove chats from every copy except those in `seen`; returns whether each succeeded."""
        if self._path is None or self._backups is None:
            return {}
        from headstart.storage.rescue.copies import newest_first, remove_chats

        new = [copy for copy in newest_first(self._path, self._backups) if copy not in seen]
        failed = remove_chats(new, gone)
        return {copy: copy not in failed for copy in new}

    def _owe(self, now: Owed) -> None:
        self._owed = now
        if self._path is not None:
            owed.save(self._path, now)

    def _index_merged(self, purges: int) -> bool:
        # after a further purge, only that purge's merge counts
        if self._path is not None and self._owed.index and purges == self.purges:
            from headstart.storage.database import leave_nothing_deleted

            if not leave_nothing_deleted(self.engine):
                return False
            self._owe(Owed(self._owed.chats))
        return True

    def _free_blobs(self, store: Store) -> None:
        def named_by_copies() -> set[str] | None:
            if self._path is None or self._backups is None:
                return set()
            from headstart.storage.rescue.copies import named_blobs

            return named_blobs(self._path, self._backups)

        used = store.messages.used_blobs() | store.unsent.used_blobs()
        store.blobs.free(used, named_by_copies)

    def _close(self) -> None:
        if self._opened.exception() is not None:
            return
        from headstart.storage.rescue import last_state

        keeps = not self._beside and not self._opened.result().read_only
        if self._path is not None and keeps and not self._damaged:
            try:
                last_state.save(self._path, last_state.of_engine(self.engine, clean=True))
            except Exception:
                log.exception("what the database holds could not be noted")
        self.engine.dispose()
