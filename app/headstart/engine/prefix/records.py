"""The records of stored KV state: which there are, whose bytes are in memory, which are on disk and
for which chats.

Callers hold `lock` around a transition and around queueing its effects, so that both have one
order; no file and no index is worked on under it.

Policy: a record is in memory while it is fresh, and on disk while a chat needs it there. Of both
the least recently used leaves go first. A tail that grew goes once the longer record is on disk:
with neither of them there, the text would be recomputed after a kill.

Invariants: the catalogue has exactly the entries whose bytes are somewhere; `memory_size` and
`disk_size` are the sums of theirs; the payload of an entry that waits for the writer stays; nothing
is queued for a chat that `permits` bars.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping

import psutil
from msgspec import Struct
from msgspec.structs import replace

from headstart.core.prefixes import IndexState, RecordInfo, RecordKind
from headstart.engine.prefix.budget import to_evict
from headstart.engine.prefix.catalogue import Catalogue, PrefixEntry
from headstart.engine.prefix.permits import Permits
from headstart.engine.prefix.record_file import Payload

# of the computer's memory, for records that are not in a loaded model's context
_MEMORY_SHARE = 16
_MOST_MEMORY = 1 << 30


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
    """A chat does not need a record any more."""

    chat_id: str
    key: bytes


class ForgetChat(Struct, frozen=True):
    """A chat needs no record any more."""

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

    # --- what the engine has computed, used, and found damaged ----------------------------

    def put(
        self, info: RecordInfo, payload: Payload, owner: str | None = None
    ) -> tuple[PrefixEntry, Effects]:
        """Keep a new record in memory, and on disk for the chat `owner` if it may be there."""
        effects: Effects = []
        known = self.catalogue.get(info.key)
        if known is None or not known.there:
            known = PrefixEntry(info)
            self.catalogue.add(known)
        if known.payload is None:
            known.payload = payload
            self.memory_size += payload.size
        for shorter in self.catalogue.covered(known):
            # a tail that grew into this one; one on disk stays until this one is there
            if not shorter.on_disk and (owner is not None or not shorter.chats):
                for chat in shorter.chats:
                    effects += self.use(known, chat)
                effects += self.forget(shorter)
        self._touch(known)
        if owner is not None:
            effects += self.use(known, owner)
        self._trim_memory()
        return known, effects

    def use(self, entry: PrefixEntry, chat_id: str) -> Effects:
        """A chat needs the record on disk; also again: it may have been refused when the disk was
        full."""
        if not self.permits.may_write(chat_id):
            return []
        new = chat_id not in entry.chats
        entry.chats.add(chat_id)
        if entry.on_disk:
            return [Use(chat_id, entry.info.key)] if new else []
        if entry.queued or entry.payload is None:
            return []
        entry.queued = True
        return [Write(entry)]

    def touch(self, entries: Iterable[PrefixEntry], persist: bool) -> Effects:
        """These were used, the first of them with all others after it."""
        stamps = {}
        for entry in reversed(list(entries)):
            self._touch(entry)
            if entry.on_disk:
                stamps[entry.info.key] = entry.used
        return [Touch(stamps)] if persist and stamps else []

    def release(self, entry: PrefixEntry, chat_id: str) -> Effects:
        """A chat does not need the record any more."""
        entry.chats.discard(chat_id)
        if not entry.chats and self.catalogue.get(entry.info.key) is entry:
            return self.forget(entry)
        return [ReleaseRecord(chat_id, entry.info.key)] if entry.on_disk else []

    def was_read(self, entry: PrefixEntry, payload: Payload | None) -> None:
        """The record was read from the disk; with a payload that is worth memory of its own."""
        entry.reads += 1
        if payload is not None and entry.payload is None and entry.there:
            entry.payload = payload
            self.memory_size += payload.size
            self._touch(entry)
            self._trim_memory()

    def first_on_disk(self, namespace: bytes, chat_id: str, count: int) -> list[PrefixEntry]:
        """The first ranges of a chat that have to come from the disk."""
        found = (
            entry
            for entry in self.catalogue
            if chat_id in entry.chats
            and entry.on_disk
            and entry.payload is None
            and (entry.info.namespace, entry.info.kind) == (namespace, RecordKind.RANGE)
        )
        return sorted(found, key=lambda entry: (entry.info.start, -entry.used))[:count]

    # --- what the user decides ------------------------------------------------------------

    def limit_memory(self, most: int) -> None:
        """`most` bytes; 0 is automatic."""
        self.most_memory = most or automatic_memory()
        self._trim_memory()

    def clear(self) -> Effects:
        self.permits.all_cleared()
        return [effect for entry in self.catalogue for effect in self.forget(entry)]

    def forget_chat(self, chat_id: str) -> Effects:
        """Forget what only this chat needs; what it shares with others stays."""
        effects: Effects = []
        self.permits.cleared(chat_id)
        for entry in self.catalogue:
            if chat_id in entry.chats:
                entry.chats.discard(chat_id)
                if not entry.chats:
                    effects += self.forget(entry)
        return [*effects, ForgetChat(chat_id)]

    def sizes_by_chat(self) -> dict[str, int]:
        """Bytes on disk; what several chats share counts for each."""
        sizes: dict[str, int] = {}
        for entry in self.catalogue:
            if entry.on_disk:
                for chat in entry.chats:
                    sizes[chat] = sizes.get(chat, 0) + entry.info.size
        return sizes

    # --- what the writer does -------------------------------------------------------------

    def load(self, state: IndexState, has_file: Callable[[RecordInfo], bool]) -> list[bytes]:
        """List what an earlier start has written; returns the keys of rows that are of no use:
        without a file, a parent or a chat."""
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
            self.catalogue.add(
                PrefixEntry(info, on_disk=True, used=info.used, chats=chats[info.key])
            )
            self.disk_size += info.size
            self._clock = max(self._clock, info.used)
        return lost

    def to_write(self, entry: PrefixEntry) -> Payload | None:
        """The bytes to write; None where the record could not be found again after a restart."""
        info, parent = entry.info, self.catalogue.get(entry.info.parent)
        reachable = parent is not None and parent.on_disk
        if reachable or not info.start or info.kind is RecordKind.SNAPSHOT:
            return entry.payload
        return None

    def make_room(self, info: RecordInfo, limit: int) -> tuple[bool, Effects]:
        """Evict what was used least, so that a new record fits in `limit` bytes; False where it
        does not."""
        if info.size > limit:
            return False, []
        effects = self.evict(self.disk_size + info.size - limit, frozenset({info.parent}))
        return self.disk_size + info.size <= limit, effects

    def evict(self, excess: int, keep: frozenset[bytes] = frozenset()) -> Effects:
        """Evict records from the disk to save `excess` bytes there."""
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
        """The file is there: the row to add, with its chats; None where the record was forgotten
        meanwhile."""
        if not entry.chats or self.catalogue.get(entry.info.key) is not entry:
            return None
        entry.on_disk = True
        self.disk_size += entry.info.size
        for shorter in self.catalogue.covered(entry):
            # the chats that needed it need this one
            entry.chats |= shorter.chats
        return replace(entry.info, used=entry.used), list(entry.chats)

    def indexed(self, entry: PrefixEntry) -> Effects:
        """The row is there too: shorter records that say nothing more are not needed."""
        effects: Effects = []
        if self.catalogue.get(entry.info.key) is not entry:
            # forgotten meanwhile: the shorter ones are what is left
            return effects
        for shorter in self.catalogue.covered(entry):
            late = shorter.chats - entry.chats
            entry.chats |= late
            effects += [Use(chat, entry.info.key) for chat in late]
            effects += self.forget(shorter)
        return effects

    def not_indexed(self, entry: PrefixEntry) -> None:
        """Without its row a file is an orphan."""
        if entry.on_disk:
            entry.on_disk = False
            self.disk_size -= entry.info.size

    def let_go(self, entry: PrefixEntry) -> None:
        """The writer has done with the record, or given it up."""
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
        """The least recently used ends go first; what waits for the writer stays."""
        while (excess := self.memory_size - self.most_memory) > 0:
            held = [(entry.info, entry.used) for entry in self._memory.values()]
            queued = frozenset(key for key, entry in self._memory.items() if entry.queued)
            # files are a little larger than what is in memory: once may not be enough
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
