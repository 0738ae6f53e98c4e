"""Stored KV state: in memory while it is fresh, on disk as long as the budget allows.

The engine thread looks up, puts and gets; the main thread asks for sizes and clears; a few reader
threads fetch files before the engine needs them; `disk` writes and removes. All trouble with files
is a logged miss.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import psutil

from headstart.core.prefixes import PrefixIndex, PrefixUse, RecordInfo, RecordKind
from headstart.core.told import Told
from headstart.engine.prefix import record_file
from headstart.engine.prefix.budget import to_evict
from headstart.engine.prefix.catalogue import Catalogue, Entry, Step
from headstart.engine.prefix.disk import Disk, Owner
from headstart.engine.prefix.keys import record_key
from headstart.engine.prefix.permits import Permits
from headstart.engine.prefix.record_file import Payload, RecordDamaged

log = logging.getLogger(__name__)

# of the computer's memory, for records that are not in a loaded model's context
_MEMORY_SHARE = 16
_MOST_MEMORY = 1 << 30
# threads that read while a record goes into a context (a second one would take the core that does
# that), and records that are read before they are asked for
READERS, AHEAD = 1, 6


class PrefixStore:
    def __init__(self, folder: Path, index: PrefixIndex) -> None:
        self.lock = threading.RLock()
        self.catalogue = Catalogue()
        self._memory: dict[bytes, Entry] = {}
        self._memory_size = 0
        self._most_memory = automatic_memory()
        self._clock = 0
        self.permits = Permits()
        # how often words of chats had to be forgotten since the start, also by other than prefixes
        self.forgets = 0
        self._reader = ThreadPoolExecutor(max_workers=READERS, thread_name_prefix="prefix-read")
        owner = Owner(self.lock, self._trim_memory, self._forget)
        self.disk = Disk(folder, index, self.catalogue, owner)

    # --- for the engine thread -----------------------------------------------------------

    def wait_until_ready(self) -> None:
        """Until the index has been read; a database that never opens is waited for shortly."""
        self.disk.wait_until_ready()

    def steps(self, namespace: bytes, tokens: bytes, chunk: int) -> list[Step]:
        with self.lock:
            return self.catalogue.steps(namespace, tokens, chunk)

    def snapshots(self, namespace: bytes, tokens: bytes, chunk: int) -> list[Entry]:
        with self.lock:
            return self.catalogue.snapshots(namespace, tokens, chunk)

    def covering(self, parent: bytes, tokens: bytes, to_disk: bool) -> Entry | None:
        """A record that begins with `tokens`; with `to_disk` only one that may be there."""
        with self.lock:
            return self.catalogue.covering(parent, tokens, to_disk)

    def get(self, key: bytes) -> Entry | None:
        with self.lock:
            entry = self.catalogue.get(key)
            return entry if entry is not None and entry.there else None

    def fetch(self, entry: Entry) -> Future[Payload | None]:
        """The bytes of a record, from a reader's thread if they are on disk; None: a miss."""
        with self.lock:
            if entry.payload is not None:
                done: Future[Payload | None] = Future()
                done.set_result(entry.payload)
                return done
            coming, entry.coming = entry.coming, None
        if coming is not None:
            return coming
        return self._reader.submit(self._read, entry)

    def expect(self, namespace: bytes, chat_id: str) -> Callable[[], None]:
        """This chat is about to be restored: its first records are read while its prompt is made.

        The result is to be called when it has been, or not.
        """
        with self.lock:
            first = sorted(
                (
                    entry
                    for entry in self.catalogue
                    if chat_id in entry.chats
                    and entry.on_disk
                    and entry.payload is None
                    and (entry.info.namespace, entry.info.kind) == (namespace, RecordKind.RANGE)
                ),
                key=lambda entry: (entry.info.start, -entry.used),
            )[:AHEAD]
            for entry in first:
                entry.coming = self._reader.submit(self._read, entry)

        def done() -> None:
            for entry in first:
                with self.lock:
                    left, entry.coming = entry.coming, None
                if left is not None:
                    left.cancel()

        return done

    def put(self, info: RecordInfo, payload: Payload, owner: str | None = None) -> Entry:
        """Keep a new record in memory, and on disk for the chat `owner` if it may be there."""
        with self.lock:
            known = self.catalogue.get(info.key)
            if known is None or not known.there:
                known = Entry(info)
                self.catalogue.add(known)
            if known.payload is None:
                known.payload = payload
                self._memory_size += payload.size
            for shorter in self.catalogue.covered(known):
                # a tail that grew into this one; one on disk stays until this one is there
                if not shorter.on_disk and (owner is not None or not shorter.chats):
                    for chat in shorter.chats:
                        self._need(known, chat)
                    self._forget(shorter)
            self._touch(known)
            if owner is not None:
                self._need(known, owner)
            self._trim_memory()
            return known

    def use(self, entry: Entry, chat_id: str) -> None:
        """`chat_id` needs this record on disk; written there unless it is."""
        with self.lock:
            if not self.permits.may_write(chat_id):
                return
            new = chat_id not in entry.chats
            # also again: it may have been refused when the disk was full
            self._need(entry, chat_id)
            if new and entry.on_disk:
                key = entry.info.key
                self.disk.put(lambda: self.disk.index.use(chat_id, [key]))

    def touch(self, entries: Iterable[Entry], persist: bool) -> None:
        """These were used, the first of them with all others after it."""
        with self.lock:
            stamps = {}
            for entry in reversed(list(entries)):
                self._touch(entry)
                if entry.on_disk:
                    stamps[entry.info.key] = entry.used
            if persist and stamps:
                self.disk.put(lambda: self.disk.index.touch(stamps))

    def release(self, entry: Entry, chat_id: str) -> None:
        """`chat_id` does not need this record any more."""
        with self.lock:
            entry.chats.discard(chat_id)
            if not entry.chats and self.catalogue.get(entry.info.key) is entry:
                self._forget(entry)
            elif entry.on_disk:
                key = entry.info.key
                self.disk.put(lambda: self.disk.index.release(chat_id, key))

    def drop(self, entry: Entry) -> None:
        """Its bytes are not what they should be."""
        with self.lock:
            self._forget(entry)

    def pause(self) -> None:
        """A reply is being made: files wait."""
        self.disk.pause()

    def resume(self) -> None:
        self.disk.resume()

    def flush(self, seconds: float) -> bool:
        """Wait until what is queued is on disk; False when that takes longer."""
        return self.disk.flush(seconds)

    # --- for the main thread -------------------------------------------------------------

    def on_trouble(self, tell: Callable[[Told], None]) -> None:
        """Have `tell` called, on the writer's thread, when nothing can be written."""
        self.disk.tell_trouble = tell

    def set_limits(self, on_disk: bool, most_gb: int, memory_mb: int = 0) -> None:
        """What may be on disk and in memory; 0 MB of memory is automatic."""
        self.disk.set_limits(on_disk, most_gb)
        with self.lock:
            self._most_memory = memory_mb * 1_000_000 or automatic_memory()
            self._trim_memory()

    def use_of_disk(self) -> PrefixUse:
        with self.lock:
            by_chat: dict[str, int] = {}
            for entry in self.catalogue:
                if entry.on_disk:
                    for chat in entry.chats:
                        by_chat[chat] = by_chat.get(chat, 0) + entry.info.size
            return PrefixUse(
                total=self.disk.size,
                budget=self.disk.budget(),
                by_chat=by_chat,
                written_today=self.disk.written_today,
                location=str(self.disk.folder),
                in_memory=self._memory_size,
                memory_budget=self._most_memory,
                trouble=self.disk.trouble,
            )

    def allow(self, chat_id: str, on_disk: bool) -> bool:
        """Whether anything of this chat may be written from now on; True if that is new."""
        with self.lock:
            return self.permits.allow(chat_id, on_disk)

    def clear(self) -> None:
        """Forget everything, in memory and on disk."""
        # what is not listed yet would come back
        self.wait_until_ready()
        with self.lock:
            self.permits.all_cleared()
            for entry in self.catalogue:
                self._forget(entry)

    def forget_chat(self, chat_id: str) -> None:
        """What only this chat needs goes; what it shares with others stays."""
        self.wait_until_ready()
        with self.lock:
            self.permits.cleared(chat_id)
            for entry in self.catalogue:
                if chat_id in entry.chats:
                    entry.chats.discard(chat_id)
                    if not entry.chats:
                        self._forget(entry)
            self.disk.put(lambda: self.disk.index.forget_chat(chat_id))

    def close(self, seconds: float) -> None:
        """Write what is queued for at most `seconds`, leave the rest."""
        self.disk.close(seconds)
        self._reader.shutdown(wait=False, cancel_futures=True)

    # --- inside, with the lock -----------------------------------------------------------

    def _touch(self, entry: Entry) -> None:
        self._clock = max(self._clock, self.disk.latest) + 1
        entry.used = self._clock
        if entry.payload is not None:
            self._memory[entry.info.key] = entry

    def _need(self, entry: Entry, chat_id: str) -> None:
        if not self.permits.may_write(chat_id):
            return
        entry.chats.add(chat_id)
        self.disk.write(entry)

    def _forget(self, entry: Entry) -> None:
        self.catalogue.remove(entry)
        self.drop_payload(entry)
        if entry.on_disk:
            self.disk.leave(entry)

    def drop_payload(self, entry: Entry) -> None:
        if self._memory.get(entry.info.key) is entry:
            del self._memory[entry.info.key]
        if entry.payload is not None:
            self._memory_size -= entry.payload.size
            entry.payload = None

    def _trim_memory(self) -> None:
        """The least recently used ends go first; what waits for the writer stays."""
        excess = self._memory_size - self._most_memory
        if excess <= 0:
            return
        held = [(entry.info, entry.used) for entry in self._memory.values()]
        queued = frozenset(key for key, entry in self._memory.items() if entry.queued)
        for info in to_evict(held, excess, queued):
            entry = self._memory[info.key]
            self.drop_payload(entry)
            if not entry.on_disk:
                self.catalogue.remove(entry)

    # --- the readers' threads -------------------------------------------------------------

    def _read(self, entry: Entry) -> Payload | None:
        # what is read a second time is worth memory of its own
        keep = entry.reads > 0
        try:
            payload = record_file.read(self.disk.path(entry.info), entry.info, keep)
        except (OSError, RecordDamaged) as problem:
            log.warning("a stored prefix is not used: %s", problem)
            self.drop(entry)
            return None
        with self.lock:
            entry.reads += 1
            if keep and entry.payload is None and entry.there:
                entry.payload = payload
                self._memory_size += payload.size
                self._touch(entry)
                self._trim_memory()
        return payload


def automatic_memory() -> int:
    """Bytes that records may take in memory, unless the settings say otherwise."""
    return min(_MOST_MEMORY, psutil.virtual_memory().total // _MEMORY_SHARE)


def make_info(
    namespace: bytes, parent: bytes, kind: RecordKind, start: int, tokens: bytes, payload: Payload
) -> RecordInfo:
    size = record_file.file_size(tokens, payload)
    return RecordInfo(
        record_key(kind, parent, tokens), parent, namespace, kind, start, tokens, size
    )
