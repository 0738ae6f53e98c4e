"""Stored KV state: in memory while it is fresh, on disk as long as the budget allows.

The engine thread looks up, puts and gets; the main thread asks for sizes and clears; one writer
thread owns files and the index behind them, one reader thread reads ahead of the engine. All
trouble with files is a logged miss.
"""

from __future__ import annotations

import datetime
import logging
import queue
import shutil
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import psutil

from headstart.core.errors import EnvironmentProblem
from headstart.core.prefixes import PrefixIndex, PrefixUse, RecordInfo, RecordKind
from headstart.engine.prefix import record_file
from headstart.engine.prefix.budget import LEAST_FREE, budget, to_evict
from headstart.engine.prefix.catalogue import Catalogue, Entry, Step
from headstart.engine.prefix.keys import record_key
from headstart.engine.prefix.record_file import Payload, RecordDamaged, WriteAbandoned
from headstart.engine.prefix.scratch import Scratch

log = logging.getLogger(__name__)

# of the computer's memory, for records that are not in a loaded model's context
_MEMORY_SHARE = 8
_MOST_MEMORY = 4 << 30
# threads that read while a record goes into a context: the page cache is faster than one of them
READERS = 2
# after a write failed, nothing is tried for so long
_PAUSE_SECONDS = 60.0
_INDEX_SECONDS = 20.0
GB = 10**9


class PrefixStore:
    def __init__(self, folder: Path, index: PrefixIndex) -> None:
        self._folder = folder
        self._index = index
        self._tell_trouble: Callable[[str], None] = lambda _text: None
        self._lock = threading.RLock()
        self._catalogue = Catalogue()
        self._memory: dict[bytes, Entry] = {}
        self._memory_size = 0
        self._most_memory = min(_MOST_MEMORY, psutil.virtual_memory().total // _MEMORY_SHARE)
        self._on_disk = True
        self._most_disk = 8 * GB
        self._disk_size = 0
        self._written: dict[str, int] = {}
        self._clock = 0
        # chats whose user does not want them on disk
        self._barred: set[str] = set()
        self._trouble = ""
        self._quiet_until = 0.0
        self._abandoned = False
        self._busy = threading.Event()
        self._ready = threading.Event()
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._reader = ThreadPoolExecutor(max_workers=READERS, thread_name_prefix="prefix-read")
        self._scratch = Scratch()
        self._writer = threading.Thread(
            target=self._write_forever, name="prefix-write", daemon=True
        )
        self._writer.start()

    # --- for the engine thread -----------------------------------------------------------

    def wait_until_ready(self) -> None:
        """Until the index has been read; a database that never opens is waited for shortly."""
        self._ready.wait(_INDEX_SECONDS)

    def steps(self, family: bytes, tokens: bytes, chunk: int) -> list[Step]:
        with self._lock:
            return self._catalogue.steps(family, tokens, chunk)

    def snapshots(self, family: bytes, tokens: bytes, chunk: int) -> list[Entry]:
        with self._lock:
            return self._catalogue.snapshots(family, tokens, chunk)

    def covering(self, parent: bytes, tokens: bytes, to_disk: bool) -> Entry | None:
        """A record that begins with `tokens`; with `to_disk` only one that may be there."""
        with self._lock:
            return self._catalogue.covering(parent, tokens, to_disk)

    def get(self, key: bytes) -> Entry | None:
        with self._lock:
            entry = self._catalogue.get(key)
            return entry if entry is not None and entry.there else None

    def fetch(self, entry: Entry) -> Future[Payload | None]:
        """The bytes of a record, from a reader's thread if they are on disk; None: a miss.

        `give_back` when they are not needed any more.
        """
        with self._lock:
            if entry.payload is not None:
                done: Future[Payload | None] = Future()
                done.set_result(entry.payload)
                return done
            coming, entry.coming = entry.coming, None
        if coming is not None:
            return coming
        return self._reader.submit(self._read, entry)

    def expect(self, family: bytes, chat_id: str) -> Callable[[], None]:
        """This chat is about to be restored: its first records are read while its prompt is made.

        The result is to be called when it has been, or not.
        """
        with self._lock:
            first = sorted(
                (
                    entry
                    for entry in self._catalogue
                    if chat_id in entry.chats
                    and entry.on_disk
                    and entry.payload is None
                    and (entry.info.family, entry.info.kind) == (family, RecordKind.RANGE)
                ),
                key=lambda entry: (entry.info.start, -entry.used),
            )[:READERS]
            for entry in first:
                entry.coming = self._reader.submit(self._read, entry)

        def done() -> None:
            for entry in first:
                with self._lock:
                    left, entry.coming = entry.coming, None
                if left is not None:
                    left.add_done_callback(self.give_back_unused)

        return done

    def give_back(self, payload: Payload) -> None:
        """Bytes from `fetch` are not looked at any more; to be called once for each of them."""
        if payload.scratch is not None:
            self._scratch.put_back(payload.scratch)

    def give_back_unused(self, fetched: Future[Payload | None]) -> None:
        """The same for bytes that were never looked at."""
        payload = None if fetched.cancelled() or fetched.exception() else fetched.result()
        if payload is not None:
            self.give_back(payload)

    def prepare(self, family: bytes) -> None:
        """A model is loaded: make room to read its records into, before anybody waits for it."""
        with self._lock:
            sizes = [entry.info.size for entry in self._catalogue if entry.info.family == family]
        if sizes:
            self._scratch.prepare(max(sizes), READERS + 1)

    def put(self, info: RecordInfo, payload: Payload, chat_id: str, to_disk: bool) -> Entry:
        """Keep a new record in memory, and for `chat_id` on disk if it may be there."""
        with self._lock:
            known = self._catalogue.get(info.key)
            if known is None or not known.there:
                known = Entry(info)
                self._catalogue.add(known)
            if known.payload is None:
                known.payload = payload
                self._memory_size += payload.size
            for shorter in self._catalogue.covered(known):
                # a tail that grew into this one; one on disk stays until this one is there
                if not shorter.on_disk and (to_disk or not shorter.chats):
                    for chat in shorter.chats:
                        self._need(known, chat)
                    self._forget(shorter)
            self._touch(known)
            if to_disk:
                self._need(known, chat_id)
            self._trim_memory()
            return known

    def use(self, entry: Entry, chat_id: str) -> None:
        """`chat_id` needs this record on disk; written there unless it is."""
        with self._lock:
            if chat_id in self._barred:
                return
            new = chat_id not in entry.chats
            # also again: it may have been refused when the disk was full
            self._need(entry, chat_id)
            if new and entry.on_disk:
                key = entry.info.key
                self._jobs.put(lambda: self._index.use(chat_id, [key]))

    def touch(self, entries: Iterable[Entry], persist: bool) -> None:
        """These were used, the first of them with all others after it."""
        with self._lock:
            stamps = {}
            for entry in reversed(list(entries)):
                self._touch(entry)
                if entry.on_disk:
                    stamps[entry.info.key] = entry.used
            if persist and stamps:
                self._jobs.put(lambda: self._index.touch(stamps))

    def release(self, entry: Entry, chat_id: str) -> None:
        """`chat_id` does not need this record any more."""
        with self._lock:
            entry.chats.discard(chat_id)
            if not entry.chats and self._catalogue.get(entry.info.key) is entry:
                self._forget(entry)
            elif entry.on_disk:
                key = entry.info.key
                self._jobs.put(lambda: self._index.release(chat_id, key))

    def drop(self, entry: Entry) -> None:
        """Its bytes are not what they should be."""
        with self._lock:
            self._forget(entry)

    def pause(self) -> None:
        """A reply is being made: files wait."""
        self._busy.set()

    def resume(self) -> None:
        self._busy.clear()

    def flush(self, seconds: float) -> bool:
        """Wait until what is queued is on disk; False when that takes longer."""
        done = threading.Event()
        self._jobs.put(done.set)
        return done.wait(max(0.0, seconds))

    # --- for the main thread -------------------------------------------------------------

    def on_trouble(self, tell: Callable[[str], None]) -> None:
        """Have `tell` called, on the writer's thread, when nothing can be written."""
        self._tell_trouble = tell

    def set_limits(self, on_disk: bool, most_gb: int) -> None:
        with self._lock:
            self._on_disk, self._most_disk = on_disk, most_gb * GB
            self._jobs.put(self._shrink)

    def use_of_disk(self) -> PrefixUse:
        with self._lock:
            by_chat: dict[str, int] = {}
            for entry in self._catalogue:
                if entry.on_disk:
                    for chat in entry.chats:
                        by_chat[chat] = by_chat.get(chat, 0) + entry.info.size
            return PrefixUse(
                total=self._disk_size,
                budget=self._budget(),
                by_chat=by_chat,
                written_today=self._written.get(_today(), 0),
                location=str(self._folder),
                in_memory=self._memory_size,
                trouble=self._trouble,
            )

    def allow(self, chat_id: str, on_disk: bool) -> bool:
        """Whether anything of this chat may be written from now on; True if that is new."""
        with self._lock:
            if on_disk == (chat_id not in self._barred):
                return False
            if on_disk:
                self._barred.discard(chat_id)
            else:
                self._barred.add(chat_id)
            return True

    def clear(self) -> None:
        """Forget everything, in memory and on disk."""
        with self._lock:
            for entry in self._catalogue:
                self._forget(entry)

    def forget_chat(self, chat_id: str) -> None:
        """What only this chat needs goes; what it shares with others stays."""
        with self._lock:
            for entry in self._catalogue:
                if chat_id in entry.chats:
                    entry.chats.discard(chat_id)
                    if not entry.chats:
                        self._forget(entry)
            self._jobs.put(lambda: self._index.forget_chat(chat_id))

    def close(self, seconds: float) -> None:
        """Write what is queued for at most `seconds`, leave the rest."""
        self._busy.clear()
        if not self.flush(seconds):
            self._abandoned = True
        self._jobs.put(None)
        self._writer.join(0.3)
        self._reader.shutdown(wait=False, cancel_futures=True)

    # --- inside, with the lock -----------------------------------------------------------

    def _touch(self, entry: Entry) -> None:
        self._clock += 1
        entry.used = self._clock
        if entry.payload is not None:
            self._memory[entry.info.key] = entry

    def _need(self, entry: Entry, chat_id: str) -> None:
        if chat_id in self._barred:
            return
        entry.chats.add(chat_id)
        if not entry.on_disk and not entry.queued and entry.payload is not None:
            entry.queued = True
            self._jobs.put(lambda: self._write(entry))

    def _forget(self, entry: Entry) -> None:
        self._catalogue.remove(entry)
        self._drop_payload(entry)
        if entry.on_disk:
            self._leave_disk(entry)

    def _drop_payload(self, entry: Entry) -> None:
        if self._memory.get(entry.info.key) is entry:
            del self._memory[entry.info.key]
        if entry.payload is not None:
            self._memory_size -= entry.payload.size
            entry.payload = None

    def _leave_disk(self, entry: Entry) -> None:
        entry.on_disk = False
        self._disk_size -= entry.info.size
        key, path = entry.info.key, self._path(entry.info)
        self._jobs.put(lambda: self._remove(key, path))

    def _trim_memory(self) -> None:
        """The least recently used ends go first; what waits for the writer stays."""
        excess = self._memory_size - self._most_memory
        if excess <= 0:
            return
        held = [(entry.info, entry.used) for entry in self._memory.values()]
        queued = frozenset(key for key, entry in self._memory.items() if entry.queued)
        for info in to_evict(held, excess, queued):
            entry = self._memory[info.key]
            self._drop_payload(entry)
            if not entry.on_disk:
                self._catalogue.remove(entry)

    def _budget(self) -> int:
        try:
            free = shutil.disk_usage(self._folder.parent).free
        except OSError:
            # not known: nothing is given up for that
            return self._disk_size
        return budget(self._most_disk, self._disk_size, free)

    def _path(self, info: RecordInfo) -> Path:
        name = info.key.hex() + record_file.SUFFIX
        return self._folder / info.family.hex()[:16] / name

    # --- the readers' threads -------------------------------------------------------------

    def _read(self, entry: Entry) -> Payload | None:
        # what is read a second time is worth memory of its own
        keep = entry.reads > 0
        into = None if keep else self._scratch.take(entry.info.size)
        try:
            payload = record_file.read(self._path(entry.info), entry.info, into)
        except (OSError, RecordDamaged) as problem:
            log.warning("a stored prefix is not used: %s", problem)
            if into is not None:
                self._scratch.put_back(into)
            self.drop(entry)
            return None
        with self._lock:
            entry.reads += 1
            if keep and entry.payload is None and entry.there:
                entry.payload = payload
                self._memory_size += payload.size
                self._touch(entry)
                self._trim_memory()
        return payload

    # --- the writer's thread -------------------------------------------------------------

    def _write_forever(self) -> None:
        try:
            self._load()
        except EnvironmentProblem as problem:
            log.warning("stored prefixes are not used: %s", problem)
            self._on_disk = False
        except Exception:
            log.exception("stored prefixes could not be looked through")
            self._on_disk = False
        finally:
            self._ready.set()
        while (job := self._jobs.get()) is not None:
            try:
                job()
            except EnvironmentProblem as problem:
                log.warning("the index of stored prefixes: %s", problem)
            except Exception:
                log.exception("the prefix writer failed")

    def _load(self) -> None:
        state = self._index.load()
        files = {path.name: path for path in self._folder.glob("*/*") if path.is_file()}
        lost: list[bytes] = []
        with self._lock:
            known = {info.key for info in state.records}
            chats: dict[bytes, set[str]] = {}
            for chat, key in state.uses:
                chats.setdefault(key, set()).add(chat)
            for info in sorted(state.records, key=lambda info: info.start):
                path = files.get(self._path(info).name)
                reachable = (
                    info.kind is RecordKind.SNAPSHOT or not info.start or info.parent in known
                )
                if path is None or not reachable or info.key not in chats:
                    lost.append(info.key)
                    known.discard(info.key)
                    continue
                files.pop(path.name)
                entry = Entry(info, on_disk=True, used=info.used, chats=chats[info.key])
                self._catalogue.add(entry)
                self._disk_size += info.size
                self._clock = max(self._clock, info.used)
            self._written = dict(state.written)
        # files that no row knows: a write was cut off, or a removal
        for path in files.values():
            if path.suffix in (record_file.SUFFIX, record_file.PARTIAL):
                path.unlink(missing_ok=True)
        if lost:
            self._index.remove(lost)
        self._shrink()

    def _write(self, entry: Entry) -> None:
        while self._busy.is_set() and not self._abandoned:
            time.sleep(0.02)
        info, payload = entry.info, entry.payload
        try:
            if payload is None or self._abandoned or not self._has_parent(info):
                return
            if not self._make_room(info):
                return
            path = self._path(info)
            path.parent.mkdir(parents=True, exist_ok=True)
            record_file.write(path, info, payload, lambda: self._abandoned)
            with self._lock:
                wanted = entry.chats and self._catalogue.get(info.key) is entry
                entry.on_disk = bool(wanted)
                if wanted:
                    self._disk_size += info.size
                    today = _today()
                    self._written[today] = self._written.get(today, 0) + info.size
                    for shorter in self._catalogue.covered(entry):
                        # whoever needed it needs this one
                        entry.chats |= shorter.chats
                        self._forget(shorter)
                chats, stamped = list(entry.chats), _stamped(info, entry.used)
            if not wanted:
                # forgotten while it was written
                path.unlink(missing_ok=True)
                return
            self._index.add(stamped, chats, _today())
            self._trouble = ""
        except WriteAbandoned:
            pass
        except OSError as error:
            self._fail(f"Prefixes cannot be kept on disk: {error.strerror or error}.")
        except EnvironmentProblem as problem:
            # without its row the file is an orphan
            with self._lock:
                if entry.on_disk:
                    entry.on_disk = False
                    self._disk_size -= info.size
            self._path(info).unlink(missing_ok=True)
            self._fail(f"Prefixes cannot be kept on disk: {problem.message}")
        finally:
            with self._lock:
                entry.queued = False
                self._trim_memory()

    def _has_parent(self, info: RecordInfo) -> bool:
        """Whether the record could be found again after a restart."""
        with self._lock:
            parent = self._catalogue.get(info.parent)
        there = parent is not None and parent.on_disk
        return there or not info.start or info.kind is RecordKind.SNAPSHOT

    def _make_room(self, info: RecordInfo) -> bool:
        """Whether the record may be written; older ones go for it."""
        if not self._on_disk or time.monotonic() < self._quiet_until:
            return False
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            free = shutil.disk_usage(self._folder).free
        except OSError as error:
            self._fail(f"Prefixes cannot be kept on disk: {error.strerror or error}.")
            return False
        if free < LEAST_FREE:
            self._fail("Prefixes are not kept on disk: less than 10 GiB of it are free.")
            return False
        with self._lock:
            limit = budget(self._most_disk, self._disk_size, free)
            if info.size > limit:
                return False
            excess = self._disk_size + info.size - limit
            self._evict(excess, frozenset({info.parent}))
            return self._disk_size + info.size <= limit

    def _shrink(self) -> None:
        with self._lock:
            if self._disk_size:
                self._evict(self._disk_size - self._budget(), frozenset())

    def _evict(self, excess: int, keep: frozenset[bytes]) -> None:
        stored = [(entry.info, entry.used) for entry in self._catalogue if entry.on_disk]
        for info in to_evict(stored, excess, keep):
            entry = self._catalogue.get(info.key)
            if entry is not None:
                self._leave_disk(entry)
                if entry.payload is None:
                    self._catalogue.remove(entry)

    def _remove(self, key: bytes, path: Path) -> None:
        with self._lock:
            entry = self._catalogue.get(key)
            if entry is not None and entry.on_disk:
                # written again meanwhile
                return
        path.unlink(missing_ok=True)
        self._index.remove([key])

    def _fail(self, text: str) -> None:
        log.warning("%s", text)
        self._quiet_until = time.monotonic() + _PAUSE_SECONDS
        if self._trouble != text:
            self._trouble = text
            self._tell_trouble(text)


def make_info(
    family: bytes, parent: bytes, kind: RecordKind, start: int, tokens: bytes, payload: Payload
) -> RecordInfo:
    size = record_file.file_size(tokens, payload)
    return RecordInfo(record_key(kind, parent, tokens), parent, family, kind, start, tokens, size)


def _stamped(info: RecordInfo, used: int) -> RecordInfo:
    return RecordInfo(
        info.key, info.parent, info.family, info.kind, info.start, info.tokens, info.size, used
    )


def _today() -> str:
    return datetime.date.today().isoformat()
