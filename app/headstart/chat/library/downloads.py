"""Downloads: the user's actions on them, and reports of their progress. On the event loop's thread;
the queue has its own threads and is created on first use.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from headstart.chat.background import Background
from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import DownloadEnded, DownloadsChanged
from headstart.chat.library.hub import Hub
from headstart.chat.preferences import Preferences
from headstart.core.beginnings import Beginning, BegunKind
from headstart.core.errors import EnvironmentProblem
from headstart.core.hub.downloads import (
    ACTIVE,
    LARGEST_HTTP,
    Download,
    DownloadRequest,
    DownloadState,
    RemoteFile,
)
from headstart.core.settings.schema import Settings

if TYPE_CHECKING:
    from headstart.hub.downloads.queue import DownloadQueue as Queue
    from headstart.hub.downloads.source import DownloadSource

# seconds between two progress reports to the window
_TICK = 0.25


class Downloads:
    def __init__(
        self,
        hub: Hub,
        book: Path | None,
        preferences: Preferences,
        broadcast: Broadcast,
        background: Background,
    ) -> None:
        self._hub = hub
        self._book = book
        self._preferences = preferences
        self._broadcast = broadcast
        self._queue: Queue | None = None
        self._making: asyncio.Future[Queue] | None = None
        self._ticking = False
        self._closed = False
        # reported ends, by download
        self._told: dict[str, int] = {}
        self._limits: tuple[int, float] | None = None
        self._background = background
        self._beginnings = background.beginnings
        # bytes of each download that is beginning, as first seen
        self._beginning: dict[str, int] = {}
        preferences.listen(self._on_settings, "library")

    # --- state ---------------------------------------------------------------------------

    @property
    def all(self) -> tuple[Download, ...]:
        """All downloads, in the order of the queue."""
        return () if self._queue is None else self._queue.all()

    async def wake(self) -> None:
        """Resume the downloads that were running when the program ended, except for those that did
        not begin to the end."""
        self._beginnings.begins(BegunKind.DOWNLOAD, self._begin_again)
        if self._book is not None and await asyncio.to_thread(self._book.exists):
            queue = await self._ready()
            self._beginnings.only(BegunKind.DOWNLOAD, [one.id for one in queue.all()])
            await asyncio.to_thread(queue.sweep)
            queue.start()
            self._on_change()
        else:
            self._beginnings.only(BegunKind.DOWNLOAD, ())

    def _begin_again(self, download_id: str) -> None:
        """Resume a download that was held, or all of them for ""."""
        ids = [download_id] if download_id else [one.id for one in self.all if one.held]
        free = [one for one in ids if self._beginnings.why_held(BegunKind.DOWNLOAD, one) is None]
        self._background.run(self.resume(free))

    async def close(self) -> None:
        self._closed = True
        if self._making is not None:
            # the queue may still be in the making; a failure was reported to its caller
            with contextlib.suppress(Exception):
                queue = await self._making
                await asyncio.to_thread(queue.close)

    # --- actions of the user -------------------------------------------------------------

    async def add(self, wanted: Sequence[DownloadRequest]) -> None:
        """Queue these downloads in order; raises EnvironmentProblem, also for a file too large for
        the hub to serve over plain HTTP."""
        for one in wanted:
            large = next((file for file in one.files if file.size > LARGEST_HTTP), None)
            if large is not None:
                raise EnvironmentProblem("file-over-http", name=large.path, limit=LARGEST_HTTP)
        queue = await self._ready()
        for one in wanted:
            self._beginnings.ask_for(BegunKind.DOWNLOAD, one.id)
            await asyncio.to_thread(queue.add, one)

    async def pause(self, ids: Sequence[str]) -> None:
        await self._do(lambda queue: queue.pause(ids))

    async def resume(self, ids: Sequence[str]) -> None:
        for one in ids:
            self._beginnings.ask_for(BegunKind.DOWNLOAD, one)
        await self._do(lambda queue: queue.resume(ids))

    async def cancel(self, ids: Sequence[str]) -> None:
        for one in ids:
            self._beginnings.ask_for(BegunKind.DOWNLOAD, one)
        await self._do(lambda queue: queue.cancel(ids))

    async def move(self, download_id: str, place: int) -> None:
        await self._do(lambda queue: queue.move(download_id, place))

    async def clear_done(self) -> None:
        await self._do(lambda queue: queue.clear_done())

    # --- the queue -----------------------------------------------------------------------

    async def _do(self, what: Callable[[Queue], None]) -> None:
        queue = await self._ready()
        await asyncio.to_thread(what, queue)

    async def _ready(self) -> Queue:
        if self._queue is not None:
            return self._queue
        if self._making is None:
            loop = asyncio.get_running_loop()
            self._making = asyncio.ensure_future(asyncio.to_thread(self._make, loop))
        self._queue = await self._making
        self._on_settings(self._preferences.current)
        return self._queue

    def _make(self, loop: asyncio.AbstractEventLoop) -> Queue:
        from headstart.hub.downloads.book import Book
        from headstart.hub.downloads.queue import DownloadQueue as Queue

        def changed() -> None:
            # called from any thread; the loop may have ended
            if not loop.is_closed():
                loop.call_soon_threadsafe(self._on_change)

        def source(wanted: DownloadRequest, file: RemoteFile) -> DownloadSource:
            # on the download's thread, before its first byte
            one = Beginning(BegunKind.DOWNLOAD, wanted.id, wanted.title)
            self._beginnings.begin_here(one)
            return self._hub.client.source(wanted, file)

        book = Book(self._book or Path())
        queue = Queue(book, self._hub.cache, source, changed)
        why = {one.id: self._beginnings.why_held(BegunKind.DOWNLOAD, one.id) for one in queue.all()}
        queue.hold({name: held for name, held in why.items() if held is not None})
        return queue

    def _on_settings(self, settings: Settings) -> None:
        limits = (settings.library.parallel, settings.library.limit_mb * 1e6)
        if self._queue is not None and limits != self._limits:
            self._limits = limits
            self._queue.set_limits(*limits)

    # --- reports -------------------------------------------------------------------------

    def _on_change(self) -> None:
        if self._queue is None or self._closed:
            # no listener is left
            return
        now = self._queue.all()
        # counted, not compared by state: one may fail twice before this is called
        ended = [one for one in now if one.state in _ENDED and one.ends > self._told.get(one.id, 0)]
        self._told = {one.id: one.ends for one in now}
        self._follow_beginnings(now)
        self._broadcast.tell(DownloadsChanged(now))
        for one in ended:
            self._broadcast.tell(DownloadEnded(one))
        self._tick()

    def _tick(self) -> None:
        if not self._ticking and any(one.state in ACTIVE for one in self.all):
            self._ticking = True
            asyncio.get_running_loop().call_later(_TICK, self._on_tick)

    def _on_tick(self) -> None:
        self._ticking = False
        if self._queue is not None and not self._closed:
            now = self._queue.all()
            self._follow_beginnings(now)
            self._broadcast.tell(DownloadsChanged(now))
            self._tick()

    def _follow_beginnings(self, now: Sequence[Download]) -> None:
        """Take from the notes what has received bytes, waits in order, or ended."""
        known = {one.id: one for one in now}
        for download_id in self._beginnings.noted_of(BegunKind.DOWNLOAD):
            one = known.get(download_id)
            runs = one is not None and one.state is DownloadState.RUNNING
            received = one.received if one is not None else 0
            if runs and self._beginning.setdefault(download_id, received) >= received:
                continue
            self._beginning.pop(download_id, None)
            self._beginnings.end_soon(BegunKind.DOWNLOAD, download_id)


_ENDED = (DownloadState.DONE, DownloadState.FAILED)
