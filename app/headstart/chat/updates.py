"""Checks for a newer version, once a day and only if the user wants it. Event loop's thread."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable

from headstart import __version__
from headstart.chat.preferences import Preferences
from headstart.core.errors import EnvironmentProblem
from headstart.core.updates import PERIOD, Release, packaged_address

log = logging.getLogger(__name__)

# queries an address, on a worker thread; raises EnvironmentProblem
Ask = Callable[[str], Release]


def ask_online(address: str) -> Release:
    # the HTTP client is imported with the first check
    from headstart.hub.online.updates import newest

    return newest(address)


class Updates:
    """`clock` as `time.time`, for tests."""

    def __init__(
        self,
        preferences: Preferences,
        ask: Ask = ask_online,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._preferences = preferences
        self._ask = ask
        self._clock = clock

    @property
    def address(self) -> str:
        return self._preferences.current.updates.address or packaged_address()

    async def look(self) -> Release | None:
        """A newer version; None if there is none, the last check was too recent, or the user does
        not want checks. Errors are only logged: the user did not ask."""
        settings, now = self._preferences.current, self._clock()
        # a clock that jumped back must not stop the checks forever
        waited = now - self._preferences.state.current.updates_looked_at
        if not settings.updates.look or not self.address or 0 <= waited < PERIOD:
            return None
        self._preferences.state.update(updates_looked_at=now)
        return await self._newer(log_only=True)

    async def look_now(self) -> Release | None:
        """Check because the user asked; raises EnvironmentProblem."""
        return await self._newer(log_only=False)

    async def _newer(self, *, log_only: bool) -> Release | None:
        try:
            release = await asyncio.to_thread(self._ask, self.address)
        except EnvironmentProblem as problem:
            if not log_only:
                raise
            log.info("%s", problem.for_log)
            return None
        return release if release.newer_than(__version__) else None
