"""Writes that the disk refused, in memory until it takes them. On the event loop's thread.

A write that fails is not lost: it is tried again by itself, in the order of the user's actions, and
once more when the program ends. Meanwhile the window says how much is not saved yet, and why.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from headstart.chat.background import Background
from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import OutboxChanged
from headstart.core.errors import EnvironmentProblem, NotWritten

log = logging.getLogger(__name__)

# seconds until refused writes are tried again, growing to the last
AGAIN_SECONDS = (1.0, 2.0, 4.0, 8.0)

Write = Callable[[], Awaitable[object]]
# what is written; a later write of the same replaces an earlier one
Key = tuple[str, ...]


class Outbox:
    def __init__(self, background: Background, broadcast: Broadcast) -> None:
        self._background = background
        self._broadcast = broadcast
        self._waiting: dict[Key, Write] = {}
        self._problem: EnvironmentProblem | None = None
        self._trying = asyncio.Lock()
        self._going_on = False

    @property
    def count(self) -> int:
        """Number of writes that wait."""
        return len(self._waiting)

    @property
    def problem(self) -> EnvironmentProblem | None:
        """Why the first one waits."""
        return self._problem

    async def save(self, key: Key, write: Write) -> bool:
        """Run a write now, or keep it if the disk refuses, or if others wait; returns whether it
        was written. Raises EnvironmentProblem for what no later try can help."""
        if self._waiting:
            await self.try_now()
        if not self._waiting:
            try:
                await write()
            except NotWritten as problem:
                self.keep(key, write, problem)
                return False
            return True
        self.keep(key, write)
        return False

    def keep(self, key: Key, write: Write, problem: EnvironmentProblem | None = None) -> None:
        """Keep a write that was refused, to be tried again."""
        # the later one comes behind all that the user did before it
        self._waiting.pop(key, None)
        self._waiting[key] = write
        self._problem = problem or self._problem
        self._tell()
        if not self._going_on and not self._background.closing:
            self._going_on = True
            self._background.run(self._go_on())

    def waits(self, key: Key) -> bool:
        return key in self._waiting

    def forget(self, key: Key) -> bool:
        """Give up a write: the user took it back. False if it does not wait."""
        waits = self._waiting.pop(key, None) is not None
        if waits:
            self._tell()
        return waits

    async def try_now(self) -> bool:
        """Try all that waits, in order, until one is refused; True if none is left."""
        async with self._trying:
            for key, write in list(self._waiting.items()):
                if self._waiting.get(key) is not write:
                    # replaced or given up meanwhile
                    continue
                try:
                    await write()
                except NotWritten as problem:
                    self._problem = problem
                    break
                except EnvironmentProblem as problem:
                    # its chat is gone, or the database is damaged
                    log.warning("a kept write is given up: %s", problem.for_log)
                if self._waiting.get(key) is write:
                    del self._waiting[key]
                    self._tell()
        return not self._waiting

    async def close(self) -> None:
        """Try all that waits for the last time."""
        if self._waiting and not await self.try_now():
            log.error("%d writes were refused until the end", len(self._waiting))

    async def _go_on(self) -> None:
        tries = 0
        try:
            while self._waiting and not self._background.closing:
                await asyncio.sleep(AGAIN_SECONDS[min(tries, len(AGAIN_SECONDS) - 1)])
                tries = 0 if await self.try_now() else tries + 1
        finally:
            self._going_on = False

    def _tell(self) -> None:
        problem = None if self._problem is None else self._problem.told
        self._broadcast.tell(OutboxChanged(len(self._waiting), problem if self._waiting else None))
