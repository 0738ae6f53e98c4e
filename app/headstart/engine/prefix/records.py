"""The records of stored KV state, with their presence in memory and on disk, and the chats that
need them.

Callers hold `lock` around a transition and the queueing of its effects, so that both have one
order; no file or index is accessed under it.

Policy: a record is in memory while it is recent, and on disk while a chat needs it on disk. In
both, the least recently used leaves go first. A tail that grew is removed once the longer record is
on disk: with neither on disk, a kill would cause a recompute.

Invariants: the catalogue has exactly the entries with bytes in memory or on disk; `memory_size` and
`disk_size` are the sums of their sizes; an entry that waits for the writer keeps its payload;
nothing is queued for a chat that `permits` bars.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping

import psutil
from msgspec import Struct
from msgspec.structs import replace

from headstart.core.audiences import WINDOW, private
from headstart.core.prefixes import IndexState, RecordInfo, RecordKind
from headstart.engine.prefix.budget import to_evict
from headstart.engine.prefix.catalogue import Catalogue, PrefixEntry
from headstart.engine.prefix.permits import Permits
from headstart.engine.prefix.record_file import Payload

# one part in this many of the computer's memory is for records outside a loaded model's context
_MEMORY_SHARE = 16
_MOST_MEMORY = 1 << 30


class Holder(Struct, frozen=True):
    """The user of a record: a chat, None for a request of none, and those who may reuse it."""

    chat_id: str | None = None
    audience: str = WINDOW.name


NOBODY = Holder()


class Write(Struct, frozen=True):
    """Write a record's file, then its row."""

    entry: PrefixEntry


class Remove(Struct, frozen=True):
    """Remove a record's file and row, unless it was written again meanwhile."""

    info: RecordInfo


class Use(Struct, frozen=True):
    """A chat needs a record that is on disk."""

    chat_id: str
    key: bytes


class ReleaseRecord(Struct, frozen=True):
    """A chat no longer needs a record."""

    chat_id: str
    key: bytes


class ForgetChat(Struct, frozen=True):
    """A chat no longer needs any record."""

    chat_id: str


class Touch(Struct, frozen=True):
    """Stamps of last use, by key."""

    stamps: Mapping[bytes, int]


Effect = Write | Remove | Use | ReleaseRecord | ForgetChat | Touch
Effects = list[Effect]


class Records:
    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.catalogue = Catalogue()
        self.permits = Permits()
        self.memory_size = self.disk_size = 0
        self.most_memory = automatic_memory()
        # entries with a payload, the least recently used first
        self._memory: dict[bytes, PrefixEntry] = {}
        self._clock = 0

    # --- the engine's records: computed, used, released -----------------------------------

    def put(
        self, info: RecordInfo, payload: Payload, owner: str | None = None, holder: Holder = NOBODY
    ) -> tuple[PrefixEntry, Effects]:
        """Keep a new record in memory, and on disk for the chat `owner` if that is permitted.
        `holder`: those who use it, in memory too."""
        effects: Effects = []
        known = self.catalogue.get(info.key)
        if known is None or not known.there:
            known = PrefixEntry(info, audience=holder.audience)
            self.catalogue.add(known)
        self.hold(known, holder)
        if known.payload is None:
            known.payload = payload
            self.memory_size += payload.size
        for shorter in self.catalogue.covered(known):
            # a tail that grew into this one; a tail on disk stays until this one is on disk
            if not shorter.on_disk and (owner is not None or not shorter.chats):
                for chat in shorter.chats:
                    effects += self.use(known, chat)
                known.holders |= shorter.holders
                effects += self.forget(shorter)
        self._touch(known)
        if owner is not None:
            effects += self.use(known, owner)
        self._trim_memory()
        return known, effects

    def use(self, entry: PrefixEntry, chat_id: str) -> Effects:
        """Note that a chat needs the record on disk; called repeatedly, since a full disk may have
        refused it."""
        if not self.permits.may_write(chat_id):
            return []
        new = chat_id not in entry.chats
        entry.chats.add(chat_id)
        entry.holders.add(chat_id)
        if entry.on_disk:
            return [Use(chat_id, entry.info.key)] if new else []
        if entry.queued or entry.payload is None:
            return []
        entry.queued = True
        return [Write(entry)]

    def hold(self, entry: PrefixEntry, holder: Holder) -> None:
        """Note who uses a record, in memory or on disk."""
        if holder.chat_id is not None:
            entry.holders.add(holder.chat_id)

    def touch(self, entries: Iterable[PrefixEntry], persist: bool) -> Effects:
        """Note the use of these entries; the first gets the latest stamp."""
        stamps = {}
        for entry in reversed(list(entries)):
            self._touch(entry)
            if entry.on_disk:
                stamps[entry.info.key] = entry.used
        return [Touch(stamps)] if persist and stamps else []

    def release(self, entry: PrefixEntry, chat_id: str) -> Effects:
        """Note that a chat no longer needs the record."""
        entry.chats.discard(chat_id)
        entry.holders.discard(chat_id)
        if not entry.chats and self.catalogue.get(entry.info.key) is entry:
            return self.forget(entry)
        return [ReleaseRecord(chat_id, entry.info.key)] if entry.on_disk else []

    def was_read(self, entry: PrefixEntry, payload: Payload | None) -> None:
        """Note a read from the disk; `payload` is given if it is worth keeping in memory."""
        entry.reads += 1
        if payload is not None and entry.payload is None and entry.there:
            entry.payload = payload
            self.memory_size += payload.size
            self._touch(entry)
            self._trim_memory()

    def first_on_disk(self, namespace: bytes, chat_id: str, count: int) -> list[PrefixEntry]:
        """The first ranges of a chat that are only on disk."""
        found = (
            entry
            for entry in self.catalogue
            if chat_id in entry.chats
            and entry.on_disk
            and entry.payload is None
            and (entry.info.namespace, entry.info.kind) == (namespace, RecordKind.RANGE)
        )
        return sorted(found, key=lambda entry: (entry.info.start, -entry.used))[:count]

    # --- the user's decisions -------------------------------------------------------------

    def limit_memory(self, most: int) -> None:
        """`most` bytes; 0 is automatic."""
        self.most_memory = most or automatic_memory()
        self._trim_memory()

    def clear(self) -> Effects:
        self.permits.all_cleared()
        return [effect for entry in self.catalogue for effect in self.forget(entry)]

    def forget_chat(self, chat_id: str, for_good: bool = False) -> Effects:
        """Forget the records that only this chat needs; shared ones stay. `for_good`: also those
        that it uses in memory, and all that a private chat has computed."""
        effects: Effects = []
        self.permits.cleared(chat_id)
        alone = private(chat_id).name
        for entry in self.catalogue:
            needed = chat_id in entry.chats
            held = for_good and chat_id in entry.holders
            entry.chats.discard(chat_id)
            entry.holders.discard(chat_id)
            unused = not entry.chats and (needed or (held and not entry.holders))
            if unused or (for_good and entry.audience == alone):
                effects += self.forget(entry)
        return [*effects, ForgetChat(chat_id)]

    def sizes_by_chat(self) -> dict[str, int]:
        """Bytes on disk by chat; a shared record counts for each of its chats."""
        sizes: dict[str, int] = {}
        for entry in self.catalogue:
            if entry.on_disk:
                for chat in entry.chats:
                    sizes[chat] = sizes.get(chat, 0) + entry.info.size
        return sizes

    # --- the writer's work ----------------------------------------------------------------

    def load(self, state: IndexState, has_file: Callable[[RecordInfo], bool]) -> list[bytes]:
        """List the records written by earlier runs of the app; returns the keys of useless rows:
        those without a file, a parent or a chat."""
        lost: list[bytes] = []
        known = {info.key for info in state.records}
        chats: dict[bytes, set[str]] = {}
        for chat, key in state.uses:
            chats.setdefault(key, set()).add(chat)
        for info in sorted(state.records, key=lambda info: info.start):
            reachable = info.kind is RecordKind.SNAPSHOT or not info.start or info.parent in known
            if not reachable or info.key not in chats or not has_file(info):
                lost.append(info.key)
                known.discard(info.key)
                continue
            owners = chats[info.key]
            self.catalogue.add(
                PrefixEntry(info, on_disk=True, used=info.used, chats=owners, holders=set(owners))
            )
            self.disk_size += info.size
            self._clock = max(self._clock, info.used)
        return lost

    def to_write(self, entry: PrefixEntry) -> Payload | None:
        """The bytes to write; None if the record could not be found after a restart."""
        info, parent = entry.info, self.catalogue.get(entry.info.parent)
        reachable = parent is not None and parent.on_disk
        if reachable or not info.start or info.kind is RecordKind.SNAPSHOT:
            return entry.payload
        return None

    def make_room(self, info: RecordInfo, limit: int) -> tuple[bool, Effects]:
        """Evict the least recently used records, so that a new one fits in `limit` bytes; False if
        it does not."""
        if info.size > limit:
            return False, []
        effects = self.evict(self.disk_size + info.size - limit, frozenset({info.parent}))
        return self.disk_size + info.size <= limit, effects

    def evict(self, excess: int, keep: frozenset[bytes] = frozenset()) -> Effects:
        """Evict records from the disk to free `excess` bytes."""
        effects: Effects = []
        stored = [(entry.info, entry.used) for entry in self.catalogue if entry.on_disk]
        for info in to_evict(stored, excess, keep):
            entry = self.catalogue.get(info.key)
            if entry is not None:
                effects.append(self._off_disk(entry))
                if entry.payload is None:
                    self.catalogue.remove(entry)
        return effects

    def written(self, entry: PrefixEntry) -> tuple[RecordInfo, list[str]] | None:
        """Note that the file was written; returns the row to add and its chats, None if the record
        was forgotten meanwhile."""
        if not entry.chats or self.catalogue.get(entry.info.key) is not entry:
            return None
        entry.on_disk = True
        self.disk_size += entry.info.size
        for shorter in self.catalogue.covered(entry):
            # the chats of the shorter record need this one
            entry.chats |= shorter.chats
            entry.holders |= shorter.holders
        return replace(entry.info, used=entry.used), list(entry.chats)

    def indexed(self, entry: PrefixEntry) -> Effects:
        """Note that the row was added too: the shorter records that it contains are no longer
        needed."""
        effects: Effects = []
        if self.catalogue.get(entry.info.key) is not entry:
            # forgotten meanwhile: only the shorter ones are left
            return effects
        for shorter in self.catalogue.covered(entry):
            late = shorter.chats - entry.chats
            entry.chats |= late
            entry.holders |= shorter.holders
            effects += [Use(chat, entry.info.key) for chat in late]
            effects += self.forget(shorter)
        return effects

    def not_indexed(self, entry: PrefixEntry) -> None:
        """Note that the row was not added: a file without one is an orphan."""
        if entry.on_disk:
            entry.on_disk = False
            self.disk_size -= entry.info.size

    def let_go(self, entry: PrefixEntry) -> None:
        """Note that the writer has finished with the record, or given up."""
        entry.queued = False
        self._trim_memory()

    def forget(self, entry: PrefixEntry) -> Effects:
        self.catalogue.remove(entry)
        self.drop_payload(entry)
        return [self._off_disk(entry)] if entry.on_disk else []

    def drop_payload(self, entry: PrefixEntry) -> None:
        if self._memory.get(entry.info.key) is entry:
            del self._memory[entry.info.key]
        if entry.payload is not None:
            self.memory_size -= entry.payload.size
            entry.payload = None

    # --- inside ---------------------------------------------------------------------------

    def _touch(self, entry: PrefixEntry) -> None:
        self._clock += 1
        entry.used = self._clock
        if entry.payload is not None:
            self._memory[entry.info.key] = entry

    def _off_disk(self, entry: PrefixEntry) -> Effect:
        entry.on_disk = False
        self.disk_size -= entry.info.size
        return Remove(entry.info)

    def _trim_memory(self) -> None:
        """Drop the least recently used leaves first; entries that wait for the writer stay."""
        while (excess := self.memory_size - self.most_memory) > 0:
            held = [(entry.info, entry.used) for entry in self._memory.values()]
            queued = frozenset(key for key, entry in self._memory.items() if entry.queued)
            # files are slightly larger than payloads: one pass may not be enough
            gone = to_evict(held, excess, queued)
            for info in gone:
                entry = self._memory[info.key]
                self.drop_payload(entry)
                if not entry.on_disk:
                    self.catalogue.remove(entry)
            if not gone:
                break


def automatic_memory() -> int:
    """Bytes that records may take in memory, unless the settings say otherwise."""
    return min(_MOST_MEMORY, psutil.virtual_memory().total // _MEMORY_SHARE)
