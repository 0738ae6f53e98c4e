"""Keeps the index equal to the files of its sources: one source after the other, file by file.

On the event loop's thread; files are read on worker threads and in a child process, the index is
written on its own. A stop or a kill loses at most the file being read.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from headstart.chat.background import Background
from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import KnowledgeChanged
from headstart.core.beginnings import Beginning, BegunKind
from headstart.core.chats.attachments import LARGEST
from headstart.core.errors import EnvironmentProblem
from headstart.core.files import read_regular
from headstart.core.knowledge.plan import FRESH_NS, IndexPlan, planned
from headstart.core.knowledge.values import FileStamp, SourceState
from headstart.core.told import Told, told
from headstart.extraction.pieces_process import PieceReader, ReadingEnded
from headstart.knowledge.scan import Scan, scan
from headstart.storage.knowledge.index import KnowledgeIndex

if TYPE_CHECKING:
    from headstart.storage.knowledge.files import FileTable

log = logging.getLogger(__name__)

# seconds between two announcements of progress, and without work until the child ends
_ANNOUNCED, _REST = 0.3, 20.0
# problems that another moment may not have
_MAY_PASS = frozenset(("attachment-slow", "attachment-crashed", "attachment-too-large"))


class Indexing:
    """`states`: what the index has, by source."""

    def __init__(self, index: KnowledgeIndex, broadcast: Broadcast, background: Background) -> None:
        self._index = index
        self._broadcast = broadcast
        self._background = background
        self._beginnings = background.beginnings
        self._reader = PieceReader()
        self._waiting: dict[str, None] = {}
        self._now = ""
        self._stopped = False
        self._task: asyncio.Task[None] | None = None
        self._told = 0.0
        # digests of files that could not be read in time, or ended the child, and why
        self._failed: dict[bytes, str] = {}
        self.states: dict[str, SourceState] = {}

    @property
    def busy(self) -> bool:
        return self._task is not None and not self._task.done()

    def look(self, sources: Iterable[str], asked: bool = False) -> None:
        """Look at these sources, after those that wait already; those that did not end last time
        only where the user `asked`."""
        for source in sources:
            if asked:
                self._beginnings.ask_for(BegunKind.FOLDER, source)
            held = self._beginnings.why_held(BegunKind.FOLDER, source)
            self._hold(source, held)
            if held is None and source != self._now:
                self._waiting[source] = None
        if self._waiting and not self.busy and not self._background.closing:
            self._task = asyncio.get_running_loop().create_task(self._run())

    def is_whole(self, sources: Iterable[str]) -> bool:
        """True if all of these sources were looked at, and read."""
        states = [self.states.get(one, SourceState(one)) for one in sources]
        looked = (one.looked_at or one.away or one.problem is not None for one in states)
        return not self._waiting and all(looked) and not any(one.waiting for one in states)

    async def settled(self) -> None:
        """Wait until every source is up to date."""
        while self._task is not None and not self._task.done():
            await asyncio.wait([self._task])

    async def forget(self, source: str) -> None:
        """Remove a source from the index."""
        self._waiting.pop(source, None)
        self._beginnings.ask_for(BegunKind.FOLDER, source)
        if self._now == source:
            await self.stop()
        self.states.pop(source, None)
        await self._index.write(lambda index: index.files.remove_source(source))
        self._broadcast.tell(KnowledgeChanged(source))
        self.look(())

    async def stop(self) -> None:
        """End the work on the present source; what it has so far stays."""
        self._stopped = True
        task = self._task
        if task is not None and not task.done():
            await asyncio.wait([task])

    async def close(self) -> None:
        self._waiting.clear()
        self._stopped = True
        # ends the file that is being read
        await asyncio.to_thread(self._reader.close)
        if self._task is not None:
            await asyncio.wait([self._task])

    async def count(self, source: str, embedder: int | None = None) -> SourceState:
        """The source's state, with numbers from the index."""
        files, pieces, characters, meant = await self._index.write(
            lambda index: index.files.counts(source, embedder)
        )
        state = replace(
            self.states.get(source, SourceState(source)),
            files=files,
            pieces=pieces,
            characters=characters,
            meant=meant,
        )
        self.states[source] = state
        return state

    # --- inside --------------------------------------------------------------------------

    async def _run(self) -> None:
        self._stopped = False
        while self._waiting and not self._stopped:
            source = self._now = next(iter(self._waiting))
            del self._waiting[source]
            one = Beginning(BegunKind.FOLDER, source, Path(source).name or source)
            try:
                async with self._beginnings.noted(one):
                    await self._update(source)
            except ReadingEnded:
                return
            except EnvironmentProblem as problem:
                self._state(source, problem=problem.told, waiting=0)
            except Exception as error:
                log.exception("a folder could not be indexed")
                self._state(
                    source, problem=told("internal-kind", kind=type(error).__name__), waiting=0
                )
            finally:
                self._now = ""
            self._tell(source, at_once=True)
        if not self._background.closing:
            self._background.later(_REST, self._rest)

    def _rest(self) -> None:
        if not self.busy and not self._background.closing:
            self._background.run(asyncio.to_thread(self._reader.rest))

    async def _update(self, source: str) -> None:
        found = await asyncio.to_thread(scan, Path(source), lambda: self._stopped)
        if self._stopped:
            return
        rows = await self._index.write(lambda index: index.files.of(source))
        # a disk that is not mounted leaves an empty folder
        if found.away or (rows and not found.stamps and not found.left_out):
            self._state(source, away=True, waiting=0, problem=None)
            await self.count(source)
            return
        now = time.time_ns()
        plan = await asyncio.to_thread(planned, rows, found.stamps, found.hides, now // 1_000_000)
        self._state(
            source,
            away=False,
            problem=None,
            left_out=found.left_out,
            waiting=len(plan.read),
            looked_at=now // 1_000_000,
        )
        await self._apply(source, plan, now)
        await self._summed(source, found)

    async def _apply(self, source: str, plan: IndexPlan, now: int) -> None:
        left = len(plan.read)
        for stamp in plan.read:
            if self._stopped:
                return
            await self._index.check_room()
            place = os.fsdecode(stamp.path)
            await asyncio.to_thread(self._beginnings.at, BegunKind.FOLDER, source, place)
            await self._file(source, stamp, now, self._reader)
            left -= 1
            self._state(source, waiting=left)
            self._tell(source)
        # after the new ones: a moved file keeps its content
        if plan.remove or plan.lose or plan.find_again:
            await self._index.write(lambda index: _tidy(index.files, plan, now // 1_000_000))

    async def read_file(self, source: str, path: str) -> None:
        """Read a single file now, beside the work on folders. Raises EnvironmentProblem for one
        that cannot be read."""
        place = Path(source, path) if path else Path(source)
        try:
            found = await asyncio.to_thread(place.stat)
        except OSError as error:
            raise EnvironmentProblem("knowledge-away", quotes=True, name=place.name) from error
        stamp = FileStamp(os.fsencode(path), found.st_size, found.st_mtime_ns)
        reader = PieceReader()
        try:
            await self._file(source, stamp, time.time_ns(), reader)
        finally:
            await asyncio.to_thread(reader.close)

    async def _file(self, source: str, stamp: FileStamp, now: int, reader: PieceReader) -> None:
        path = Path(source, os.fsdecode(stamp.path)) if stamp.path else Path(source)
        try:
            data, digest = await asyncio.to_thread(read_bytes, path)
        except FileNotFoundError:
            # it went since the scan; the next one removes it
            return
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            problem = told("attachment-gone", name=path.name, reason=reason).stored
            await self._index.write(
                lambda index: index.files.unreadable(source, stamp, problem, now // 1_000_000)
            )
            return
        if abs(now - stamp.mtime_ns) < FRESH_NS:
            # a change within the clock's step would go unseen
            stamp = replace(stamp, mtime_ns=0)
        if await self._index.write(lambda index: index.files.link(source, stamp, digest)):
            return
        known = self._failed.get(digest)
        if known is not None:
            # once in a run of the program is enough
            await self._put_problem(source, stamp, digest, known)
            return
        try:
            found = await asyncio.to_thread(reader.read, data, path.name)
        except EnvironmentProblem as error:
            if error.told.code in _MAY_PASS:
                self._failed[digest] = error.told.stored
            await self._put_problem(source, stamp, digest, error.told.stored)
            return
        await self._index.write(lambda index: index.files.put(source, stamp, digest, found))

    async def _put_problem(
        self, source: str, stamp: FileStamp, digest: bytes, problem: str
    ) -> None:
        if digest in self._failed:
            # tried again at the next start
            stamp = replace(stamp, mtime_ns=0)
        await self._index.write(
            lambda index: index.files.put(source, stamp, digest, problem=problem)
        )

    async def _summed(self, source: str, found: Scan) -> None:
        """Add the files without text to the counts."""
        problems = await self._index.write(lambda index: index.files.problems(source))
        left = dict(found.left_out)
        for _, problem in problems:
            reason = "empty" if "attachment-empty" in problem else "no-text"
            left[reason] = left.get(reason, 0) + 1
        self._state(source, left_out=tuple(sorted(left.items())))
        await self.count(source)

    def _hold(self, source: str, held: Told | None) -> None:
        """Show that a source is held, or that it is not any more."""
        before = self.states.get(source, SourceState(source))
        if before.held != (held is not None):
            self._state(source, held=held is not None, problem=held)
            self._tell(source, at_once=True)

    def _state(self, source: str, **changes: object) -> None:
        before = self.states.get(source, SourceState(source))
        self.states[source] = replace(before, **changes)

    def _tell(self, source: str, at_once: bool = False) -> None:
        now = time.monotonic()
        if at_once or now - self._told > _ANNOUNCED:
            self._told = now
            self._broadcast.tell(KnowledgeChanged(source))


def _tidy(files: FileTable, plan: IndexPlan, now: int) -> None:
    """On the knowledge thread."""
    files.remove(plan.remove)
    files.lose(plan.lose, now)
    files.find_again(plan.find_again)


def read_bytes(path: Path) -> tuple[bytes, bytes]:
    """A file's bytes and their SHA-256; raises OSError, and ValueError for a file that grew too
    large. On a worker thread."""
    data = read_regular(path, LARGEST)
    return data, hashlib.sha256(data).digest()
