"""The queue of downloads: a few at a time, in the user's order; each on a thread.

All methods can be called from any thread and never wait for a network. `changed` is called, on any
thread, when a state changes; `all` tells the progress.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from filelock import FileLock, Timeout
from msgspec import Struct, field
from msgspec.structs import replace

from headstart.core.errors import EnvironmentProblem
from headstart.core.files import shared_folder
from headstart.core.hub.downloads import (
    ACTIVE,
    Download,
    DownloadRequest,
    DownloadState,
    RemoteFile,
    models_of,
)
from headstart.core.told import Told, from_stored, told
from headstart.hub.downloads import places
from headstart.hub.downloads.book import Book, BookEntry
from headstart.hub.downloads.pace import Limit
from headstart.hub.downloads.pieces import discard
from headstart.hub.downloads.source import DownloadSource
from headstart.hub.downloads.transfer import Means, Stop, Transfer, TransferStopped, TransferTiming

log = logging.getLogger(__name__)

# seconds between checks of a file that another program downloads, and most seconds to close
_ELSEWHERE, _END = 1.0, 2.0


class _Item(Struct):
    wanted: DownloadRequest
    state: DownloadState
    reason: Told | None = None
    path: str = ""
    # bytes of its complete files
    before: int = 0
    transfer: Transfer | None = None
    stop: Stop = field(default_factory=Stop)
    thread: threading.Thread | None = None
    dropped: bool = False
    # it waits for the user, although it goes on with the next start
    held: bool = False
    # number of ends since the program started
    ends: int = 0
    # paths of the files that it finished itself
    made: tuple[str, ...] = ()


class DownloadQueue:
    """`source` provides the bytes of a file; `cache` is the folder shared with other tools."""

    def __init__(
        self,
        book: Book,
        cache: Path,
        source: Callable[[DownloadRequest, RemoteFile], DownloadSource],
        changed: Callable[[], None],
        timing: TransferTiming | None = None,
    ) -> None:
        self._book = book
        self._cache = cache
        self._source = source
        self._changed = changed
        self._timing = timing or TransferTiming()
        self._limit = Limit()
        self._parallel = 2
        self._lock = threading.RLock()
        self._closed = False
        self._threads: list[threading.Thread] = []
        self._items: list[_Item] = [
            _Item(entry.wanted, entry.state, from_stored(entry.reason), entry.path, made=entry.made)
            for entry in book.load()
        ]
        for item in self._items:
            if item.state in ACTIVE:
                item.state, item.reason = DownloadState.QUEUED, None
            item.before = _there(self._cache, item.wanted)

    # --- state ---------------------------------------------------------------------------

    def all(self) -> tuple[Download, ...]:
        """Downloads in queue order."""
        with self._lock:
            return tuple(_as_value(item) for item in self._items)

    def hold(self, reasons: Mapping[str, Told]) -> None:
        """Leave waiting downloads alone until the user resumes them, with the reason for each."""
        with self._lock:
            for item in self._named(reasons):
                if item.state in ACTIVE:
                    item.state, item.held = DownloadState.PAUSED, True
                    item.reason = reasons[item.wanted.id]

    def start(self) -> None:
        """Resume the downloads that were active when the program ended."""
        self._begin_more()

    def set_limits(self, parallel: int, bytes_a_second: float) -> None:
        """Limit the number of simultaneous downloads, and their total speed (0: no limit)."""
        with self._lock:
            self._parallel = max(1, parallel)
        self._limit.set(bytes_a_second)
        self._begin_more()

    # --- the user's commands -------------------------------------------------------------

    def add(self, wanted: DownloadRequest) -> str:
        """Queue it, or resume it; returns its id. Raises DownloadProblem for invalid file
        names."""
        for file in wanted.files:
            places.pointer(self._cache, wanted, file)
            places.partial(self._cache, wanted, file)
        with self._lock:
            item = next(iter(self._named([wanted.id])), None)
            if item is None:
                self._items.append(_Item(wanted, DownloadState.QUEUED))
            else:
                _add_files(item, wanted)
        self._settle()
        return wanted.id

    def pause(self, ids: Iterable[str]) -> None:
        self._stop(ids, DownloadState.PAUSED)

    def resume(self, ids: Iterable[str]) -> None:
        """Resume after a pause or a failure."""
        with self._lock:
            for item in self._named(ids):
                if item.state in (DownloadState.PAUSED, DownloadState.FAILED):
                    item.state, item.reason, item.held = DownloadState.QUEUED, None, False
        self._settle()

    def cancel(self, ids: Iterable[str]) -> None:
        """Remove it from the queue, with its partial files, and the finished ones of a model of
        which others are missing: no list would show them."""
        with self._lock:
            for item in list(self._named(ids)):
                item.dropped = True
                item.stop.set()
                self._items.remove(item)
                if item.thread is None:
                    self._discard(item)
        self._settle()

    def move(self, download_id: str, place: int) -> None:
        """Move a download to a position in the list, counted from 0."""
        with self._lock:
            item = next(iter(self._named([download_id])), None)
            if item is not None:
                self._items.remove(item)
                self._items.insert(max(0, min(place, len(self._items))), item)
        self._settle()

    def clear_done(self) -> None:
        with self._lock:
            self._items = [item for item in self._items if item.state is not DownloadState.DONE]
        self._settle()

    def close(self) -> None:
        """End all threads; the next start resumes the downloads."""
        with self._lock:
            self._closed = True
            # also threads of cancelled downloads, which remove the partial files
            threads = [thread for thread in self._threads if thread.is_alive()]
            for item in self._items:
                item.stop.set()
        for thread in threads:
            thread.join(_END / len(threads))

    def sweep(self) -> None:
        """Remove partial files of downloads that were cancelled when the program ended."""
        with self._lock:
            wanted = {
                places.partial(self._cache, item.wanted, file)
                for item in self._items
                for file in item.wanted.files
            }
        for path in self._cache.glob(f"models--*/blobs/*{places.PARTIAL}"):
            etag = path.name.removesuffix(places.PARTIAL)
            lock = self._cache / ".locks" / path.parents[1].name / f"{etag}.lock"
            # not the lock itself: on Windows it goes with its owner
            if path not in wanted and lock.parent.is_dir():
                with contextlib.suppress(Timeout, OSError), FileLock(lock, timeout=0):
                    discard(path)

    # --- threads -------------------------------------------------------------------------

    def _settle(self) -> None:
        self._keep()
        self._begin_more()
        self._changed()

    def _keep(self) -> None:
        with self._lock:
            entries = [_kept(item) for item in self._items]
            if not self._closed:
                self._book.save(entries)

    def _begin_more(self) -> None:
        with self._lock:
            # a waiting download does not count against the limit
            running = sum(_takes_a_place(item) for item in self._items)
            for item in self._items:
                if self._closed or running >= self._parallel:
                    break
                if item.state is DownloadState.QUEUED:
                    running += 1
                    item.state, before = DownloadState.RUNNING, item.thread
                    item.stop = Stop()
                    item.thread = threading.Thread(
                        target=self._work, args=(item, item.stop, before), daemon=True,
                        name="download",
                    )  # fmt: skip
                    self._threads = [one for one in self._threads if one.is_alive()]
                    self._threads.append(item.thread)
                    item.thread.start()

    def _work(self, item: _Item, stop: Stop, before: threading.Thread | None) -> None:
        state, reason = DownloadState.FAILED, None
        try:
            while before is not None and before.is_alive():
                # the thread of a recent pause is still ending
                stop.wait(0.05)
            item.before, item.transfer = 0, None
            for file in item.wanted.files:
                self._one(item, file, stop)
                with self._lock:
                    item.before, item.transfer = item.before + file.size, None
            places.name_commit(self._cache, item.wanted)
            item.path = str(places.where(self._cache, item.wanted))
            state = DownloadState.DONE
        except TransferStopped:
            state = DownloadState.PAUSED
        except EnvironmentProblem as problem:
            reason = problem.told
        except OSError as error:
            reason = told("download-disk", reason=error.strerror or type(error).__name__)
        except Exception as error:
            log.exception("a download failed")
            reason = told("download-internal", error=type(error).__name__)
        self._end(item, stop, state, reason)

    def _end(self, item: _Item, stop: Stop, state: DownloadState, reason: Told | None) -> None:
        with self._lock:
            if item.dropped:
                self._discard(item)
            if item.stop is stop:
                item.thread = None
                if state is not DownloadState.PAUSED:
                    item.state, item.reason = state, reason
                    item.ends += 1
        if not self._closed:
            self._settle()

    def _one(self, item: _Item, file: RemoteFile, stop: Stop) -> None:
        if places.is_there(self._cache, item.wanted, file):
            return
        path = places.lock(self._cache, item.wanted, file)
        shared_folder(path.parent)
        lock = FileLock(path)
        while True:
            stop.check()
            try:
                lock.acquire(timeout=0)
                break
            except Timeout:
                self._waits(item, stop, told("download-elsewhere"))
                stop.wait(_ELSEWHERE)
        try:
            self._waits(item, stop, None)
            if places.has_blob(self._cache, item.wanted, file):
                # another program finished this file after we had begun it
                discard(places.partial(self._cache, item.wanted, file))
            else:
                self._transfer(item, file, stop)
            places.point(self._cache, item.wanted, file)
        finally:
            lock.release()

    def _transfer(self, item: _Item, file: RemoteFile, stop: Stop) -> None:
        means = Means(self._limit, self._timing, lambda why: self._waits(item, stop, why))
        partial = places.partial(self._cache, item.wanted, file)
        transfer = Transfer(file, partial, self._source(item.wanted, file), means, stop)
        with self._lock:
            item.transfer = transfer
        transfer.run()
        places.take(self._cache, item.wanted, file)
        with self._lock:
            item.made = (*item.made, file.path)
        self._keep()

    def _waits(self, item: _Item, stop: Stop, why: Told | None) -> None:
        """Mark it as waiting for something, or as running again."""
        with self._lock:
            state = DownloadState.RUNNING if why is None else DownloadState.WAITING
            if item.stop is not stop or item.state not in _AT_WORK or item.state is state:
                return
            item.state, item.reason = state, why
        self._begin_more()
        self._changed()

    def _stop(self, ids: Iterable[str], state: DownloadState) -> None:
        with self._lock:
            for item in self._named(ids):
                if item.state in ACTIVE:
                    item.state, item.reason = state, None
                    item.stop.set()
        self._settle()

    def _discard(self, item: _Item) -> None:
        wanted = {
            places.partial(self._cache, other.wanted, file)
            for other in self._items
            for file in other.wanted.files
        }
        for file in item.wanted.files:
            path = places.partial(self._cache, item.wanted, file)
            if path in wanted or not path.exists():
                continue
            lock = FileLock(places.lock(self._cache, item.wanted, file), timeout=0)
            # not while another program writes to it
            with contextlib.suppress(Timeout, OSError), lock:
                discard(path)
        self._discard_made(item)

    def _discard_made(self, item: _Item) -> None:
        """Remove the files that it finished of models of which others are missing."""
        others = {
            places.pointer(self._cache, other.wanted, file)
            for other in self._items
            for file in other.wanted.files
        }
        for files in models_of(item.wanted.files):
            if all(places.is_there(self._cache, item.wanted, file) for file in files):
                continue
            for file in files:
                mine = file.path in item.made
                if mine and places.pointer(self._cache, item.wanted, file) not in others:
                    places.remove(self._cache, item.wanted, file)

    def _named(self, ids: Iterable[str]) -> list[_Item]:
        wanted = set(ids)
        return [item for item in self._items if item.wanted.id in wanted]


def _add_files(item: _Item, wanted: DownloadRequest) -> None:
    """Add files to an existing download: perhaps a companion chosen later."""
    more = [file for file in wanted.files if file not in item.wanted.files]
    if more:
        item.stop.set()
        item.wanted = replace(item.wanted, files=(*item.wanted.files, *more))
    if more or item.state not in ACTIVE:
        item.state, item.reason, item.held = DownloadState.QUEUED, None, False


def _kept(item: _Item) -> BookEntry:
    """An item as the next start finds it."""
    if item.held:
        return BookEntry(item.wanted, DownloadState.QUEUED, "", item.path, item.made)
    reason = item.reason.stored if item.reason else ""
    return BookEntry(item.wanted, item.state, reason, item.path, item.made)


_WORKING = (DownloadState.RUNNING, DownloadState.CHECKING)
# another program's download is not our work
_ELSEWHERE_CODE = "download-elsewhere"
_AT_WORK = (*_WORKING, DownloadState.WAITING)


def _there(cache: Path, wanted: DownloadRequest) -> int:
    """Bytes downloaded before this start."""
    found = 0
    for file in wanted.files:
        if places.is_there(cache, wanted, file):
            found += file.size
        else:
            with contextlib.suppress(OSError, EnvironmentProblem):
                partial = places.partial(cache, wanted, file)
                found += min(file.size, partial.stat().st_size)
    return found


def _takes_a_place(item: _Item) -> bool:
    elsewhere = item.reason is not None and item.reason.code == _ELSEWHERE_CODE
    return item.state in _AT_WORK and not elsewhere


def _as_value(item: _Item) -> Download:
    transfer, state = item.transfer, item.state
    received = item.before + (transfer.received if transfer is not None else 0)
    speed = transfer.speed.now() if transfer is not None and state in _WORKING else 0.0
    if state is DownloadState.DONE:
        received = item.wanted.size
    elif state is DownloadState.RUNNING and received == item.wanted.size:
        state = DownloadState.CHECKING
    return Download(
        item.wanted, state, received, speed, item.reason, item.path, item.ends, item.held
    )
