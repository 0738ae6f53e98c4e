"""Stored KV state, as the engine sees it: looked up, fetched and put. Engine thread.

Reader threads fetch files before the engine needs them; `writer` writes and removes them. Any file
problem is a logged miss. The user's decisions come from the main thread (`controls`).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from headstart.core.prefixes import PrefixIndex, RecordInfo, RecordKind
from headstart.engine.prefix import record_file
from headstart.engine.prefix.catalogue import PrefixEntry, Step
from headstart.engine.prefix.controls import PrefixControls
from headstart.engine.prefix.keys import record_key
from headstart.engine.prefix.record_file import Payload, RecordDamaged
from headstart.engine.prefix.records import NOBODY, Holder, Records
from headstart.engine.prefix.writer import Writer

log = logging.getLogger(__name__)

# threads that read while a record is restored (a second one would take the core that restores), and
# records read ahead
READERS, AHEAD = 1, 6


class PrefixStore:
    def __init__(self, folder: Path, index: PrefixIndex) -> None:
        self.records = Records()
        self.writer = Writer(folder, index, self.records)
        self.controls = PrefixControls(self.records, self.writer)
        self._reader = ThreadPoolExecutor(max_workers=READERS, thread_name_prefix="prefix-read")

    def wait_until_ready(self) -> None:
        """Wait until the index has been read, for a limited time if the database never opens."""
        self.writer.wait_until_ready()

    def steps(self, namespaces: Sequence[bytes], tokens: bytes, chunk: int) -> list[Step]:
        with self.records.lock:
            return self.records.catalogue.steps(namespaces, tokens, chunk)

    def snapshots(
        self, namespaces: Sequence[bytes], tokens: bytes, chunk: int
    ) -> list[PrefixEntry]:
        with self.records.lock:
            return self.records.catalogue.snapshots(namespaces, tokens, chunk)

    def covering(self, parent: bytes, tokens: bytes, to_disk: bool) -> PrefixEntry | None:
        """A record that begins with `tokens`; with `to_disk` only one that may be on disk."""
        with self.records.lock:
            return self.records.catalogue.covering(parent, tokens, to_disk)

    def get(self, key: bytes) -> PrefixEntry | None:
        with self.records.lock:
            entry = self.records.catalogue.get(key)
            return entry if entry is not None and entry.there else None

    def fetch(self, entry: PrefixEntry, quietly: bool = False) -> Future[Payload | None]:
        """The bytes of a record, from a reader thread if they are on disk; None: a miss. `quietly`:
        another audience reads it, which leaves no trace."""
        with self.records.lock:
            if entry.payload is not None:
                done: Future[Payload | None] = Future()
                done.set_result(entry.payload)
                return done
            coming, entry.coming = entry.coming, None
        if coming is not None:
            return coming
        return self._reader.submit(self._read, entry, quietly)

    def expect(self, namespace: bytes, chat_id: str) -> Callable[[], None]:
        """Read this chat's first records ahead, while its prompt is made.

        Call the result once the chat has been restored, or will not be.
        """
        with self.records.lock:
            first = self.records.first_on_disk(namespace, chat_id, AHEAD)
            for entry in first:
                entry.coming = self._reader.submit(self._read, entry)

        def done() -> None:
            for entry in first:
                with self.records.lock:
                    left, entry.coming = entry.coming, None
                if left is not None:
                    left.cancel()

        return done

    def put(
        self, info: RecordInfo, payload: Payload, owner: str | None = None, holder: Holder = NOBODY
    ) -> PrefixEntry:
        """Keep a new record in memory, and on disk for the chat `owner` if that is permitted.
        `holder`: those who use it, in memory too."""
        with self.records.lock:
            entry, effects = self.records.put(info, payload, owner, holder)
            self.writer.queue(effects)
        return entry

    def hold(self, entry: PrefixEntry, holder: Holder) -> None:
        """Note who uses a record, in memory or on disk."""
        with self.records.lock:
            self.records.hold(entry, holder)

    def use(self, entry: PrefixEntry, chat_id: str) -> None:
        """Note that `chat_id` needs this record on disk, and write it if necessary."""
        with self.records.lock:
            self.writer.queue(self.records.use(entry, chat_id))

    def touch(self, entries: Iterable[PrefixEntry], persist: bool) -> None:
        """Note the use of these entries; the first gets the latest stamp."""
        with self.records.lock:
            self.writer.queue(self.records.touch(entries, persist))

    def release(self, entry: PrefixEntry, chat_id: str) -> None:
        """Note that `chat_id` no longer needs this record."""
        with self.records.lock:
            self.writer.queue(self.records.release(entry, chat_id))

    def drop(self, entry: PrefixEntry) -> None:
        """Forget a record with wrong bytes."""
        with self.records.lock:
            self.writer.queue(self.records.forget(entry))

    def begin_reply(self, owner: str | None) -> None:
        """Note the start of a reply in this chat: writing pauses, and a cleared chat may be stored
        again."""
        self.writer.pause()
        if owner is not None:
            self.records.permits.begin(owner)

    def pause_writing(self) -> None:
        self.writer.pause()

    def go_on_writing(self) -> None:
        self.writer.resume()

    def end_reply(self) -> None:
        self.writer.resume()

    def flush(self, seconds: float) -> bool:
        """Wait until all queued writes are done; False if that takes longer than `seconds`."""
        return self.writer.flush(seconds)

    def close(self, seconds: float) -> None:
        """Finish queued writes for at most `seconds`, and abandon the rest."""
        self.writer.close(seconds)
        self._reader.shutdown(wait=False, cancel_futures=True)

    def _read(self, entry: PrefixEntry, quietly: bool = False) -> Payload | None:
        """Read a record's file; on a reader thread."""
        # a record read a second time is worth keeping in memory
        keep = entry.reads > 0 and not quietly
        try:
            payload = record_file.read(self.writer.path(entry.info), entry.info, keep)
        except (OSError, RecordDamaged) as problem:
            log.warning("a stored prefix is not used: %s", problem)
            self.drop(entry)
            return None
        if not quietly:
            with self.records.lock:
                self.records.was_read(entry, payload if keep else None)
        return payload


def make_info(
    namespace: bytes, parent: bytes, kind: RecordKind, start: int, tokens: bytes, payload: Payload
) -> RecordInfo:
    size = record_file.file_size(tokens, payload)
    return RecordInfo(
        record_key(kind, parent, tokens), parent, namespace, kind, start, tokens, size
    )
