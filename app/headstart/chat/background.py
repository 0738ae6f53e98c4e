"""Background tasks of the chats, and their clock. On the event loop's thread."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any, Protocol

from headstart.chat.beginnings import Beginnings
from headstart.core.chats.values import now_ms

log = logging.getLogger(__name__)


class Timer(Protocol):
    def cancel(self) -> None: ...


class Background:
    """Keeps tasks from being garbage-collected, logs their failures, and cancels them on close.
    Tests use one whose clock they control. `beginnings`: notes of what begins by itself."""

    def __init__(self, beginnings: Beginnings | None = None) -> None:
        self.beginnings = beginnings or Beginnings()
        self._tasks: set[asyncio.Task[None]] = set()
        self.closing = False

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def later(self, seconds: float, act: Callable[[], object]) -> Timer:
        return asyncio.get_running_loop().call_later(seconds, act)

    def now(self) -> int:
        """Milliseconds since 1970."""
        return now_ms()

    async def close(self, seconds: float) -> None:
        """Wait up to `seconds` for the tasks, then cancel the rest and wait for their cleanup."""
        self.closing = True
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=seconds)
        left = list(self._tasks)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and task.exception() is not None:
            log.error("a task of the chats failed", exc_info=task.exception())
