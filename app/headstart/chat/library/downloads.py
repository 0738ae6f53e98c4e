"""Downloads: the user's actions on them, and reports of their progress. On the event loop's thread;
the queue has its own threads and is created on first use.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import DownloadEnded, DownloadsChanged
from headstart.chat.library.hub import Hub
from headstart.chat.preferences import Preferences
from headstart.core.errors import EnvironmentProblem
from headstart.core.hub.downloads import (
    ACTIVE,
    LARGEST_HTTP,
    Download,
    DownloadRequest,
    DownloadState,
)
from headstart.core.settings.schema import Settings

if TYPE_CHECKING:
    from headstart.hub.downloads.queue import DownloadQueue as Queue

# seconds between two progress reports to the window
_TICK = 0.25


class Downloads:
    def __init__(
        self, hub: Hub, book: Path | None, preferences: Preferences, broadcast: Broadcast
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
        preferences.listen(self._on_settings, "library")

    # --- state ---------------------------------------------------------------------------

    @property
    def all(self) -> tuple[Download, ...]:
        """All downloads, in the order of the queue."""
        return () if self._queue is None else self._queue.all()

    async def wake(self) -> None:
        """Resume the downloads that were running when the program ended."""
        if self._book is not None and await asyncio.to_thread(self._book.exists):
            queue = await self._ready()
            await asyncio.to_thread(queue.sweep)
            queue.start()
            self._on_change()

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
            await asyncio.to_thread(queue.add, one)

    async def pause(self, ids: Sequence[str]) -> None:
        await self._do(lambda queue: queue.pause(ids))

    async def resume(self, ids: Sequence[str]) -> None:
        await self._do(lambda queue: queue.resume(ids))

    async def cancel(self, ids: Sequence[str]) -> None:
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

        book = Book(self._book or Path())
        return Queue(book, self._hub.cache, self._hub.client.source, changed)

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
            self._broadcast.tell(DownloadsChanged(self._queue.all()))
            self._tick()


_ENDED = (DownloadState.DONE, DownloadState.FAILED)
