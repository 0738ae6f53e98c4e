"""Keeps the computer awake while a reply, a download or a program's request runs. On the event
loop's thread; the lock has a thread of its own, since to start and end a program takes a while."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from headstart.chat.answering.loading import Loader
from headstart.chat.background import Background, Timer
from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import DownloadsChanged, ReplyEnded, ReplyEvent, ServedEnded
from headstart.chat.library.downloads import Downloads
from headstart.chat.replies import Replies
from headstart.core.hub.downloads import DownloadState
from headstart.core.told import told
from headstart.core.wake_lock import WakeLock, make_wake_lock

log = logging.getLogger(__name__)

# an agent's next request, or the next step of a reply, begins within this; seconds
_REST = 20.0
# one that waits for a network may wait for days
_GETS_ON = (DownloadState.RUNNING, DownloadState.CHECKING)


class Awake:
    def __init__(
        self,
        lock: WakeLock,
        works: Callable[[], bool],
        broadcast: Broadcast,
        background: Background,
    ) -> None:
        """`works`: True while something runs that a sleeping computer would end."""
        self._lock = lock
        self._works = works
        self._background = background
        self._held = False
        # one thread that stays: the lock of Windows belongs to a thread
        self._thread = ThreadPoolExecutor(1, "awake")
        self._timer: Timer | None = None
        for change in (ReplyEvent, ReplyEnded, ServedEnded, DownloadsChanged):
            broadcast.on(change, lambda _change: self.look())

    def look(self) -> None:
        """Take the lock if something runs; drop it some seconds after the last has ended."""
        if self._background.closing:
            # what ends now must not take it again
            return
        if self._works():
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            if not self._held:
                self._held = True
                self._on_thread(self._lock.take)
        elif self._held and self._timer is None:
            self._timer = self._background.later(_REST, self._on_rest)

    def close(self) -> None:
        """Drop the lock for good, without waiting for it."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._drop()
        self._thread.shutdown(wait=False)

    def _on_rest(self) -> None:
        self._timer = None
        if not self._works():
            self._drop()

    def _drop(self) -> None:
        if self._held:
            self._held = False
            self._on_thread(self._lock.drop)

    def _on_thread(self, verb: Callable[[], None]) -> None:
        self._thread.submit(verb).add_done_callback(_tell_failure)


def _tell_failure(done: Future[None]) -> None:
    if (error := done.exception()) is not None:
        log.error("the lock that keeps this computer awake failed", exc_info=error)


def make_awake(
    replies: Replies,
    loader: Loader,
    downloads: Downloads,
    broadcast: Broadcast,
    background: Background,
) -> Awake:
    """Keep this computer awake for replies, other programs' requests, and downloads that get on."""

    def works() -> bool:
        gets_on = any(one.state in _GETS_ON for one in downloads.all)
        return bool(replies.writing_chats() or loader.served or gets_on)

    why = told("awake").message
    awake = Awake(make_wake_lock(why), works, broadcast, background)
    loader.on_request(awake.look)
    return awake
