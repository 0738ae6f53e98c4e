"""Notes of what begins by itself, before and after; what did not end last time is held back.

Notes are written on any thread, before the work they stand for; the rest is on the event loop's.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable, Collection
from contextlib import asynccontextmanager

from msgspec.structs import replace

from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import HeldChanged
from headstart.core.beginnings import Beginning, BegunKind, BegunNotes, Key
from headstart.core.settings.schema import Settings
from headstart.core.told import Told, told

# most seconds that one beginning waits for another; where a user waits for it, fewer
TURN_SECONDS, ASKED_SECONDS = 10.0, 2.0
_LOOK_SECONDS = 0.05


class Beginnings:
    """Without `notes` nothing outlives the program. `held`: what did not end last time, and is not
    begun before the user asks for it; only what is in the `settings`, where they are given."""

    def __init__(
        self,
        notes: BegunNotes | None = None,
        broadcast: Broadcast | None = None,
        settings: Settings | None = None,
    ) -> None:
        self._notes = notes
        self._broadcast = broadcast or Broadcast()
        last = () if notes is None else notes.last()
        self._held: dict[Key, Beginning] = {one.key: one for one in last}
        self._now: dict[Key, Beginning] = {}
        # when each began, monotonic seconds
        self._since: dict[Key, float] = {}
        self._hurried = False
        # noted in this run already: a disk need not be waited for twice
        self._known: set[Key] = set()
        # begun by the user although nothing begins by itself
        self._asked: set[Key] = set()
        self._lock = threading.Lock()
        self._ways: dict[BegunKind, Callable[[str], object]] = {}
        self.safe = False
        if settings is not None:
            self._keep_known(settings)

    # --- what is held --------------------------------------------------------------------

    @property
    def held(self) -> tuple[Beginning, ...]:
        return tuple(self._held.values())

    def why_held(self, kind: BegunKind, name: str = "") -> Told | None:
        """The reason why this is not begun by itself; None where it may begin."""
        found = self._held.get((kind, name))
        if found is not None:
            return found.told
        return told("held-safe") if self.safe and (kind, name) not in self._asked else None

    def hold_all(self) -> None:
        """Begin nothing by itself in this run."""
        self.safe = True
        self._broadcast.tell(HeldChanged())

    def ask_for(self, kind: BegunKind, name: str = "") -> None:
        """The user wants this to begin, or it is gone: it is not held any more."""
        self._asked.add((kind, name))
        if self._held.pop((kind, name), None) is not None:
            self._keep_later()
            self._broadcast.tell(HeldChanged())

    def _keep_known(self, settings: Settings) -> None:
        """Forget what is in no setting any more."""
        self.only(BegunKind.FOLDER, settings.knowledge.sources)
        self.only(BegunKind.MIRROR, [""] if settings.mirror_folder else [])
        self.only(BegunKind.SERVER, [""] if settings.server.on else [])
        self.only(BegunKind.TOOL_SERVER, [one.id for one in settings.tool_servers])

    def only(self, kind: BegunKind, names: Collection[str]) -> None:
        """Forget what is held of a kind and does not exist any more."""
        for key in [key for key in self._held if key[0] is kind and key[1] not in names]:
            self.ask_for(*key)

    def begins(self, kind: BegunKind, begin: Callable[[str], object]) -> None:
        """Name the way to begin one of a kind, or all that may begin for ""."""
        self._ways[kind] = begin

    def begin_again(self, kind: BegunKind, name: str) -> None:
        """Begin what was held."""
        self.ask_for(kind, name)
        way = self._ways.get(kind)
        if way is not None:
            way(name)

    def begin_all(self) -> None:
        """Begin what only waits because nothing begins by itself in this run."""
        self.safe = False
        for way in list(self._ways.values()):
            way("")
        self._broadcast.tell(HeldChanged())

    # --- notes ---------------------------------------------------------------------------

    @asynccontextmanager
    async def noted(self, one: Beginning) -> AsyncIterator[None]:
        """Note something while it begins, in its turn; an exception is an end, too."""
        await self.begin(one)
        try:
            yield
        finally:
            await asyncio.to_thread(self.end, one.kind, one.name)

    async def begin(self, one: Beginning, most: float | None = None) -> None:
        """Note it, on the disk, in its turn: after `most` seconds at the latest, by default
        TURN_SECONDS."""
        most = TURN_SECONDS if most is None else most
        while not await asyncio.to_thread(self._note, one, most):
            await asyncio.sleep(_LOOK_SECONDS)

    def begin_here(self, one: Beginning) -> None:
        """Note it, on the disk, in its turn; on a thread of its own."""
        while not self._note(one, TURN_SECONDS):
            time.sleep(_LOOK_SECONDS)

    def _note(self, one: Beginning, most: float) -> bool:
        """Note it, unless something else is beginning, for `most` seconds: where one thing begins
        after the other, a hang has one name. Two that have begun before in this run do not wait for
        each other."""
        with self._lock:
            now, known = time.monotonic(), one.key in self._known
            turns = [self._since[key] for key in self._now if not (known and key in self._known)]
            if not self._hurried and any(now - since < most for since in turns):
                return False
            self._now[one.key] = one
            self._since[one.key] = now
            self._write(one.key)
            return True

    def hurry(self) -> None:
        """Nothing waits for its turn any more: the program ends."""
        self._hurried = True

    def at(self, kind: BegunKind, name: str, place: str) -> None:
        """Note the file that it is at; for a hang, which leaves the system running, so the disk is
        not waited for."""
        with self._lock:
            one = self._now.get((kind, name))
            if one is not None:
                self._now[one.key] = replace(one, at=place)
                self._save(wait=False)

    def end(self, kind: BegunKind, name: str = "") -> None:
        """Take it from the notes."""
        with self._lock:
            if self._now.pop((kind, name), None) is not None:
                self._write((kind, name))
                self._known.add((kind, name))

    def end_soon(self, kind: BegunKind, name: str = "") -> None:
        """Take it from the notes, on another thread; on the event loop's."""
        if name in self.noted_of(kind):
            asyncio.get_running_loop().run_in_executor(None, self.end, kind, name)

    def noted_of(self, kind: BegunKind) -> list[str]:
        """The names of a kind that are beginning now."""
        with self._lock:
            return [name for one, name in self._now if one is kind]

    async def close(self) -> None:
        """The program ends in order: what is beginning may begin again."""
        await asyncio.to_thread(self._close)

    def _close(self) -> None:
        with self._lock:
            if self._now:
                self._now.clear()
                self._save(wait=True)

    def _keep_later(self) -> None:
        def keep() -> None:
            with self._lock:
                self._save(wait=True)

        try:
            asyncio.get_running_loop().run_in_executor(None, keep)
        except RuntimeError:
            # there is no loop yet, and nothing to wait for
            keep()

    def _write(self, key: Key) -> None:
        self._save(wait=key not in self._known)

    def _save(self, wait: bool) -> None:
        if self._notes is not None:
            self._notes.write((*self._held.values(), *self._now.values()), wait)
