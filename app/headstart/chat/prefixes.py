"""The prefix cache on disk: sizes, limits, clearing. Event loop's thread."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Collection

import psutil
from msgspec.structs import replace

from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import PrefixesChanged, Trouble
from headstart.chat.preferences import Preferences
from headstart.core.prefixes import PrefixUse
from headstart.core.settings.schema import Settings
from headstart.core.told import Told
from headstart.engine.prefix.controls import PrefixControls
from headstart.storage.worker import Storage

# the automatic limit is no larger than this
_USUAL_MB = 1_000


class Prefixes:
    """Without controls (in unrelated tests) nothing is cached."""

    def __init__(
        self,
        controls: PrefixControls | None,
        preferences: Preferences,
        broadcast: Broadcast,
        storage: Storage | None = None,
        wake: Callable[[], None] = lambda: None,
    ) -> None:
        """`storage`: it has the names of owners that are no chats. `wake`: has the engine look for
        work."""
        self._wake = wake
        self._storage = storage
        self._controls = controls
        self._preferences = preferences
        self._tell = broadcast.tell
        self._loop = asyncio.get_running_loop()
        self._apply(preferences.current)
        preferences.listen(self._apply, "prefix", "server")
        if controls is not None:
            controls.on_trouble(self._on_trouble)

    async def use(self) -> PrefixUse | None:
        """Sizes by chat and in total, budget, bytes written today, location."""
        if self._controls is None:
            return None
        use = await asyncio.to_thread(self._controls.use_of_disk)
        if self._storage is None:
            return use
        named = await self._storage.run(lambda store: store.sessions.named())
        return replace(use, names=named)

    async def owners(self) -> Collection[str]:
        """The chats, documents and sessions with state on disk."""
        if self._controls is None:
            return ()
        return (await asyncio.to_thread(self._controls.use_of_disk)).by_chat.keys()

    async def allow(self, chat_id: str, on_disk: bool) -> bool:
        """Set whether the user allows this chat on disk; off removes its cached prefixes. Returns
        True if it has just been switched off."""
        if self._controls is None or not self._controls.allow(chat_id, on_disk) or on_disk:
            return False
        self.forget_words()
        await self.forget(chat_id)
        return True

    def forget_words(self) -> None:
        """Have a chat's text removed from the drafts based on earlier chats."""
        if self._controls is not None:
            self._controls.forget_words()

    async def clear(self) -> None:
        """Remove the cached prefixes of all chats."""
        if self._controls is not None:
            await asyncio.to_thread(self._controls.clear)
            self._tell(PrefixesChanged())

    async def forget(self, chat_id: str, for_good: bool = False) -> None:
        """Remove the prefixes that only this chat uses; `for_good`: the chat is deleted, the
        state the engine still holds for it is never written, and it forgets its text."""
        if self._controls is None:
            return
        if for_good:
            self._controls.allow(chat_id, False)
        await self._forget(chat_id, for_good)

    async def forget_session(self, session: str) -> None:
        """Remove the prefixes of a program's session, which may begin again."""
        if self._controls is not None:
            self._controls.forget_words()
            await self._forget(session, for_good=True)

    async def _forget(self, owner: str, for_good: bool) -> None:
        assert self._controls is not None
        await asyncio.to_thread(self._controls.forget_chat, owner, for_good)
        if for_good:
            self._wake()
        self._tell(PrefixesChanged())

    def _apply(self, settings: Settings) -> None:
        if self._controls is not None:
            prefix = settings.prefix
            self._controls.set_limits(prefix.on_disk, prefix.most_gb, _memory_mb(settings))

    def _on_trouble(self, why: Told) -> None:
        """Report a problem from the writer's thread; a closed loop shows nothing any more."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._tell, Trouble(why))


def _memory_mb(settings: Settings) -> int:
    """Megabytes of memory for computed prompts; 0 is automatic. While programs are served, an
    automatic limit is a quarter of the free memory: one session of an agent is 1 to 3 GB."""
    if settings.prefix.memory_mb or not settings.server.on:
        return settings.prefix.memory_mb
    quarter = psutil.virtual_memory().available // 4 // 1_000_000
    return quarter if quarter > _USUAL_MB else 0
