"""The files of stored prefixes, and the index behind them: written, given up, cleaned up.

One writer thread owns them. It shares the catalogue with the store under the store's lock, which
is never held while a file or the index is worked on.
"""

from __future__ import annotations

import datetime
import logging
import queue
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from headstart.core.errors import EnvironmentProblem
from headstart.core.files import PARTIAL
from headstart.core.prefixes import PrefixIndex, RecordInfo, RecordKind
from headstart.core.told import Told, about, told
from headstart.engine.prefix import record_file
from headstart.engine.prefix.budget import LEAST_FREE, budget, to_evict
from headstart.engine.prefix.catalogue import Catalogue, Entry
from headstart.engine.prefix.record_file import WriteAbandoned
from headstart.engine.stop import StopSignal

log = logging.getLogger(__name__)

# after a write failed, nothing is tried for so long
_PAUSE_SECONDS = 60.0
_INDEX_SECONDS = 20.0
GB = 10**9


class Owner(NamedTuple):
    """What the store does for its disk, with the lock held: `on_written` when an entry's payload
    need not wait for the writer any more, `forget` for a record that another one has replaced."""

    lock: threading.RLock
    on_written: Callable[[], None]
    forget: Callable[[Entry], None]


class Disk:
    def __init__(
        self,
        folder: Path,
        index: PrefixIndex,
        catalogue: Catalogue,
        owner: Owner,
    ) -> None:
        self.folder = folder
        self.index = index
        self.size = 0
        self.trouble: Told | None = None
        self.tell_trouble: Callable[[Told], None] = lambda _trouble: None
        # the latest stamp of use that the index knows
        self.latest = 0
        self._lock = owner.lock
        self._catalogue = catalogue
        self._on_written = owner.on_written
        self._forget = owner.forget
        self._allowed = True
        self._most = 8 * GB
        self._written: dict[str, int] = {}
        self._quiet_until = 0.0
        self._abandon = StopSignal()
        # cleared while a reply is made: files wait
        self._free = threading.Event()
        self._free.set()
        self._ready = threading.Event()
        self._jobs: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(
            target=self._write_forever, name="prefix-write", daemon=True
        )
        self._thread.start()

    # --- from any thread -----------------------------------------------------------------

    def wait_until_ready(self) -> None:
        self._ready.wait(_INDEX_SECONDS)

    @property
    def written_today(self) -> int:
        return self._written.get(_today(), 0)

    def path(self, info: RecordInfo) -> Path:
        name = info.key.hex() + record_file.SUFFIX
        return self.folder / info.namespace.hex()[:16] / name

    def budget(self) -> int:
        """Bytes that may be on disk now."""
        try:
            free = shutil.disk_usage(self.folder.parent).free
        except OSError:
            # not known: nothing is given up for that
            return self.size
        return budget(self._most, self.size, free)

    def set_limits(self, allowed: bool, most_gb: int) -> None:
        with self._lock:
            self._allowed, self._most = allowed, most_gb * GB
            # the user may have made room
            self._quiet_until = 0.0
        self._jobs.put(self._shrink)

    def put(self, job: Callable[[], None]) -> None:
        """Have `job` done by the writer, after everything before it."""
        self._jobs.put(job)

    def write(self, entry: Entry) -> None:
        """With the lock held: have the entry written, unless it is or will be."""
        if not entry.on_disk and not entry.queued and entry.payload is not None:
            entry.queued = True
            self._jobs.put(lambda: self._write(entry))

    def leave(self, entry: Entry) -> None:
        """With the lock held: remove the entry's file and row."""
        entry.on_disk = False
        self.size -= entry.info.size
        key, path = entry.info.key, self.path(entry.info)
        self._jobs.put(lambda: self._remove(key, path))

    def pause(self) -> None:
        self._free.clear()

    def resume(self) -> None:
        self._free.set()

    def flush(self, seconds: float) -> bool:
        """Wait for everything that is queued, and for what that queues: a file that covers
        another one has the other removed."""
        until = time.monotonic() + seconds
        for _ in range(2):
            done = threading.Event()
            self._jobs.put(done.set)
            if not done.wait(max(0.0, until - time.monotonic())):
                return False
        return True

    def close(self, seconds: float) -> None:
        self._free.set()
        if not self.flush(seconds):
            self._abandon.stop()
        self._jobs.put(None)
        self._thread.join(0.3)

    # --- the writer's thread -------------------------------------------------------------

    def _write_forever(self) -> None:
        try:
            self._load()
        except EnvironmentProblem as problem:
            log.warning("stored prefixes are not used: %s", problem)
            self._allowed = False
        except Exception:
            log.exception("stored prefixes could not be looked through")
            self._allowed = False
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
        state = self.index.load()
        files = {path.name: path for path in self.folder.glob("*/*") if path.is_file()}
        lost: list[bytes] = []
        with self._lock:
            known = {info.key for info in state.records}
            chats: dict[bytes, set[str]] = {}
            for chat, key in state.uses:
                chats.setdefault(key, set()).add(chat)
            for info in sorted(state.records, key=lambda info: info.start):
                path = files.get(self.path(info).name)
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
                self.size += info.size
                self.latest = max(self.latest, info.used)
            self._written = dict(state.written)
        # files that no row knows: a write was cut off, or a removal
        for path in files.values():
            if path.suffix in (record_file.SUFFIX, PARTIAL):
                path.unlink(missing_ok=True)
        if lost:
            self.index.remove(lost)
        self._shrink()

    def _write(self, entry: Entry) -> None:
        self._free.wait()
        info, payload = entry.info, entry.payload
        try:
            if payload is None or self._abandon.stopped or not self._has_parent(info):
                return
            if not self._make_room(info):
                return
            path = self.path(info)
            path.parent.mkdir(parents=True, exist_ok=True)
            record_file.write(path, info, payload, self._abandon)
            with self._lock:
                covered = list(self._catalogue.covered(entry))
                wanted = entry.chats and self._catalogue.get(info.key) is entry
                entry.on_disk = bool(wanted)
                if wanted:
                    self.size += info.size
                    for shorter in covered:
                        # the chats that needed it need this one
                        entry.chats |= shorter.chats
                chats, stamped = list(entry.chats), replace(info, used=entry.used)
            if not wanted:
                # forgotten while it was written
                path.unlink(missing_ok=True)
                return
            self.index.add(stamped, chats, _today())
            with self._lock:
                today = _today()
                self._written[today] = self._written.get(today, 0) + info.size
                # not before: with neither of them on disk the text would be recomputed
                for shorter in covered:
                    if self._catalogue.get(shorter.info.key) is shorter:
                        self._forget(shorter)
            self.trouble = None
        except WriteAbandoned:
            pass
        except OSError as error:
            self._fail(told("cache-not-written", error=error.strerror or error))
        except EnvironmentProblem as problem:
            # without its row the file is an orphan
            with self._lock:
                if entry.on_disk:
                    entry.on_disk = False
                    self.size -= info.size
            self.path(info).unlink(missing_ok=True)
            self._fail(about("cache-not-indexed", problem.told))
        finally:
            with self._lock:
                entry.queued = False
                self._on_written()

    def _has_parent(self, info: RecordInfo) -> bool:
        """Whether the record could be found again after a restart."""
        with self._lock:
            parent = self._catalogue.get(info.parent)
        there = parent is not None and parent.on_disk
        return there or not info.start or info.kind is RecordKind.SNAPSHOT

    def _make_room(self, info: RecordInfo) -> bool:
        """Whether the record may be written; older ones go for it."""
        if not self._allowed or time.monotonic() < self._quiet_until:
            return False
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            free = shutil.disk_usage(self.folder).free
        except OSError as error:
            self._fail(told("cache-not-written", error=error.strerror or error))
            return False
        if free < LEAST_FREE:
            self._fail(told("cache-disk-nearly-full", least_gib=LEAST_FREE / 2**30))
            return False
        with self._lock:
            limit = budget(self._most, self.size, free)
            if info.size > limit:
                return False
            excess = self.size + info.size - limit
            self._evict(excess, frozenset({info.parent}))
            return self.size + info.size <= limit

    def _shrink(self) -> None:
        with self._lock:
            if self.size:
                self._evict(self.size - self.budget(), frozenset())

    def _evict(self, excess: int, keep: frozenset[bytes]) -> None:
        stored = [(entry.info, entry.used) for entry in self._catalogue if entry.on_disk]
        for info in to_evict(stored, excess, keep):
            entry = self._catalogue.get(info.key)
            if entry is not None:
                self.leave(entry)
                if entry.payload is None:
                    self._catalogue.remove(entry)

    def _remove(self, key: bytes, path: Path) -> None:
        with self._lock:
            entry = self._catalogue.get(key)
            if entry is not None and entry.on_disk:
                # written again meanwhile
                return
        path.unlink(missing_ok=True)
        self.index.remove([key])

    def _fail(self, trouble: Told) -> None:
        log.warning("%s", trouble.message)
        self._quiet_until = time.monotonic() + _PAUSE_SECONDS
        if self.trouble != trouble:
            self.trouble = trouble
            self.tell_trouble(trouble)


def _today() -> str:
    return datetime.date.today().isoformat()
