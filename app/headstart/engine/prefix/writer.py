"""The writer of stored prefixes: applies the effects of `records` to files and to the index, in the
order of the queue. One thread.

Policy: nothing is written during a reply, in the minute after a failed write, or with less than
`LEAST_FREE` of disk left. A file is complete before its row exists, and files without a row are
removed at the next start: a kill leaves no half record. Problems are logged and reported once;
replies continue.
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

from headstart.core import patient
from headstart.core.errors import EnvironmentProblem
from headstart.core.files import PARTIAL
from headstart.core.prefixes import PrefixIndex, RecordInfo
from headstart.core.told import Told, about, told
from headstart.engine.prefix import record_file
from headstart.engine.prefix.budget import LEAST_FREE, budget
from headstart.engine.prefix.catalogue import PrefixEntry
from headstart.engine.prefix.record_file import WriteAbandoned
from headstart.engine.prefix.records import (
    Effect,
    Effects,
    ForgetChat,
    Records,
    ReleaseRecord,
    Remove,
    Touch,
    Use,
    Write,
)
from headstart.engine.stop import StopSignal

log = logging.getLogger(__name__)

# pause after a failed write
_PAUSE_SECONDS = 60.0
_INDEX_SECONDS = 20.0
GB = 10**9


class Writer:
    def __init__(self, folder: Path, index: PrefixIndex, records: Records) -> None:
        self.folder = folder
        self.trouble: Told | None = None
        self.tell_trouble: Callable[[Told], None] = lambda _trouble: None
        self._index = index
        self._records = records
        self._allowed = True
        self._most = 8 * GB
        self._written: dict[str, int] = {}
        self._quiet_until = 0.0
        self._abandon = StopSignal()
        # cleared during a reply
        self._free = threading.Event()
        self._free.set()
        self._ready = threading.Event()
        self._jobs: queue.SimpleQueue[Effect | Callable[[], None] | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="prefix-write", daemon=True)
        self._thread.start()

    # --- from any thread -----------------------------------------------------------------

    def queue(self, effects: Effects) -> None:
        """Queue effects; call with the records' lock held, so that they keep the order of their
        transitions."""
        for effect in effects:
            self._jobs.put(effect)

    def wait_until_ready(self) -> None:
        """Wait until the index has been read, for a limited time if the database never opens."""
        self._ready.wait(_INDEX_SECONDS)

    @property
    def written_today(self) -> int:
        return self._written.get(_today(), 0)

    def path(self, info: RecordInfo) -> Path:
        name = info.key.hex() + record_file.SUFFIX
        return self.folder / info.namespace.hex()[:16] / name

    def budget(self) -> int:
        """Bytes now allowed on disk."""
        try:
            free = shutil.disk_usage(self.folder.parent).free
        except OSError:
            # free space is unknown: evict nothing
            return self._records.disk_size
        return budget(self._most, self._records.disk_size, free)

    def set_limits(self, allowed: bool, most_gb: int) -> None:
        self._allowed, self._most = allowed, most_gb * GB
        # the user may have freed space
        self._quiet_until = 0.0
        self._jobs.put(self._shrink)

    def pause(self) -> None:
        self._free.clear()

    def resume(self) -> None:
        self._free.set()

    def flush(self, seconds: float) -> bool:
        """Wait for all queued jobs, and for those that they queue: a file that contains another
        removes the other. False if that takes longer than `seconds`."""
        until = time.monotonic() + seconds
        for _ in range(2):
            done = threading.Event()
            self._jobs.put(done.set)
            if not done.wait(max(0.0, until - time.monotonic())):
                return False
        return True

    def close(self, seconds: float) -> None:
        """Finish queued writes for at most `seconds`, and abandon the rest."""
        self._free.set()
        if not self.flush(seconds):
            self._abandon.stop()
        self._jobs.put(None)
        self._thread.join(0.3)

    # --- the writer's thread -------------------------------------------------------------

    def _run(self) -> None:
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
                self._do(job)
            except EnvironmentProblem as problem:
                log.warning("the index of stored prefixes: %s", problem)
            except Exception:
                log.exception("the prefix writer failed")

    def _do(self, job: Effect | Callable[[], None]) -> None:
        match job:
            case Write(entry):
                self._write(entry)
            case Remove(info):
                self._remove(info)
            case Use(chat_id, key):
                self._index.use(chat_id, [key])
            case ReleaseRecord(chat_id, key):
                self._index.release(chat_id, key)
            case ForgetChat(chat_id):
                self._index.forget_chat(chat_id)
            case Touch(stamps):
                self._index.touch(stamps)
            case _:
                job()

    def _load(self) -> None:
        state = self._index.load()
        files = {path.name: path for path in self.folder.glob("*/*") if path.is_file()}
        with self._records.lock:
            lost = self._records.load(
                state, lambda info: files.pop(self.path(info).name, None) is not None
            )
            self._written = dict(state.written)
        # files without a row: an interrupted write or removal
        for path in files.values():
            if path.suffix in (record_file.SUFFIX, PARTIAL):
                patient.remove(path)
        if lost:
            self._index.remove(lost)
        self._shrink()

    def _write(self, entry: PrefixEntry) -> None:
        self._free.wait()
        info, path, records = entry.info, self.path(entry.info), self._records
        try:
            with records.lock:
                payload = records.to_write(entry)
            if payload is None or self._abandon.stopped or not self._make_room(info):
                return
            path.parent.mkdir(parents=True, exist_ok=True)
            record_file.write(path, info, payload, self._abandon)
            with records.lock:
                row = records.written(entry)
            if row is None:
                patient.remove(path)
                return
            self._index.add(*row, _today())
            with records.lock:
                self._written[_today()] = self.written_today + info.size
                self.queue(records.indexed(entry))
            self.trouble = None
        except WriteAbandoned:
            pass
        except OSError as error:
            self._fail(told("cache-not-written", error=error.strerror or error))
        except EnvironmentProblem as problem:
            with records.lock:
                records.not_indexed(entry)
            patient.remove(path)
            self._fail(about("cache-not-indexed", problem.told))
        finally:
            with records.lock:
                records.let_go(entry)

    def _make_room(self, info: RecordInfo) -> bool:
        """True if the record may be written; evicts older ones for it."""
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
        with self._records.lock:
            limit = budget(self._most, self._records.disk_size, free)
            fits, effects = self._records.make_room(info, limit)
            self.queue(effects)
        return fits

    def _shrink(self) -> None:
        limit = self.budget()
        with self._records.lock:
            if self._records.disk_size:
                self.queue(self._records.evict(self._records.disk_size - limit))

    def _remove(self, info: RecordInfo) -> None:
        with self._records.lock:
            again = self._records.catalogue.get(info.key)
            if again is not None and again.on_disk:
                # written again meanwhile
                return
        patient.remove(self.path(info))
        self._index.remove([info.key])

    def _fail(self, trouble: Told) -> None:
        log.warning("%s", trouble.message)
        self._quiet_until = time.monotonic() + _PAUSE_SECONDS
        if self.trouble != trouble:
            self.trouble = trouble
            self.tell_trouble(trouble)


def _today() -> str:
    return datetime.date.today().isoformat()
