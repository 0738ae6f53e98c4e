"""Transfer of one file: requests missing bytes until it is complete, and verifies them.

A transfer runs on its own thread. No interruption (network, server, power, kill) costs bytes
already written; a wrong checksum costs only the wrong pieces, and the most suspect ones are checked
first.
"""

from __future__ import annotations

import errno
import logging
import random
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path

import xxhash
from msgspec import Struct

from headstart.core.files import DISK_RESERVE, shared_folder
from headstart.core.hub.downloads import RemoteFile
from headstart.core.told import Told, told
from headstart.hub.downloads.checksum import Checksum
from headstart.hub.downloads.pace import Limit, Speed
from headstart.hub.downloads.pieces import PIECE, Pieces
from headstart.hub.downloads.source import DownloadProblem, DownloadSource, RangeAnswer, Unavailable

log = logging.getLogger(__name__)

# seconds between checks of the disk, and between writes of the list of pieces
_LOOK, _SAVE = 0.5, 0.5
# bytes after which a connection counts as good, so that the wait for a retry is short again
_GOOD = 256 << 10


class TransferStopped(Exception):
    """The user paused or cancelled, or the program ends."""


class TransferTiming(Struct, frozen=True):
    """Seconds. `first` and `most` between tries, doubling; a connection that gives less than
    `least` bytes a second for `slow` seconds is replaced, if others were faster."""

    first: float = 0.5
    most: float = 60.0
    slow: float = 20.0
    least: float = 16 << 10
    # a piece of the file, in bytes
    piece: int = PIECE
    reserve: int = DISK_RESERVE


class Stop:
    """Set by any thread; the transfer notices within a block of bytes or a wait."""

    def __init__(self) -> None:
        self._event = threading.Event()

    def set(self) -> None:
        self._event.set()

    def check(self) -> None:
        if self._event.is_set():
            raise TransferStopped

    def wait(self, seconds: float) -> None:
        if self._event.wait(seconds):
            raise TransferStopped


class Means(Struct, frozen=True):
    """Resources shared by all transfers. `tell` gets the reason for a wait, None on resuming."""

    limit: Limit
    timing: TransferTiming
    tell: Callable[[Told | None], None] = lambda _why: None
    clock: Callable[[], float] = time.monotonic


class Transfer:
    """A transfer of `file` into `partial`; `run` returns once the bytes are complete and right."""

    def __init__(
        self, file: RemoteFile, partial: Path, source: DownloadSource, means: Means, stop: Stop
    ) -> None:
        self._file = file
        self._partial = partial
        self._source = source
        self._means = means
        self._stop = stop
        self.speed = Speed(means.clock)
        # bytes received so far, and those fetched over the network in this run
        self.received = 0
        self.fetched = 0
        self._saved = self._looked = 0.0
        self._best = 0.0

    def run(self) -> None:
        """Raises TransferStopped, DownloadProblem or OSError; received bytes stay for the next
        run."""
        shared_folder(self._partial.parent)
        pieces = Pieces(self._partial, self._file.size, self._means.timing.piece)
        self.received = pieces.received
        checksum = Checksum(pieces, self._file.etag)
        whole = False
        try:
            checksum.arrived(pieces.frontier)
            self._fetch_all(pieces, checksum)
            self._prove(pieces, checksum)
            whole = True
        except OSError as error:
            if error.errno == errno.ENOSPC:
                raise self._no_room() from error
            raise
        finally:
            checksum.close()
            if whole:
                pieces.finish()
            else:
                pieces.close()

    # --- fetching ------------------------------------------------------------------------

    def _fetch_all(self, pieces: Pieces, checksum: Checksum) -> None:
        tries = 0
        while (gap := pieces.gap()) is not None:
            before = self.fetched
            try:
                self._look(pieces)
                self._fetch(*gap, pieces, checksum)
                tries = 0
            except Unavailable as trouble:
                tries = 1 if self.fetched - before >= _GOOD else tries + 1
                pieces.doubt(pieces.frontier)
                pieces.save()
                self._wait(trouble, tries)
            for number in checksum.damaged():
                pieces.lose(number)
                checksum.again_from(number)

    def _wait(self, trouble: Unavailable, tries: int) -> None:
        timing = self._means.timing
        pause = min(timing.most, timing.first * 2 ** min(tries - 1, 20))
        # spread the retries of several downloads
        pause *= random.uniform(0.7, 1.0)
        if trouble.after is not None:
            pause = max(pause, min(trouble.after, timing.most * 5))
        if tries > 1 or trouble.after is not None:
            self._means.tell(trouble.why)
        self._stop.wait(pause)

    def _fetch(self, start: int, end: int, pieces: Pieces, checksum: Checksum) -> None:
        """Fetch [start, end) over one connection; returns when it is complete."""
        at, began = start, self._means.clock()
        with self._source.open(start, None if end == self._file.size else end) as answer:
            self._check(answer, start)
            pieces.doubt(start)
            skip = start - answer.start
            for chunk in answer.chunks:
                self._stop.check()
                if skip:
                    # a server that ignores ranges sends the whole file
                    skip, chunk = max(0, skip - len(chunk)), chunk[skip:]
                taken = chunk[: end - at]
                if taken:
                    pieces.write(at, taken)
                    at += len(taken)
                    self._came(len(taken), pieces, checksum)
                if at == end:
                    return
                self._not_too_slow(at - start, self._means.clock() - began)
        raise Unavailable(told("download-cut"))

    def _check(self, answer: RangeAnswer, start: int) -> None:
        if answer.total is not None and answer.total != self._file.size:
            # a hotel's login page, or another file under the same name
            raise Unavailable(told("download-other-size", name=self._file.path))
        if answer.start not in (0, start):
            raise Unavailable(told("download-cut"))

    def _came(self, count: int, pieces: Pieces, checksum: Checksum) -> None:
        self.fetched += count
        self.received += count
        self.speed.add(count)
        if self.fetched == count:
            self._means.tell(None)
        checksum.arrived(pieces.frontier)
        now = self._means.clock()
        if now - self._saved > _SAVE:
            self._saved = now
            pieces.save()
            self._means.tell(None)
        self._look(pieces)
        pause = self._means.limit.take(count)
        if pause:
            self._stop.wait(pause)

    def _not_too_slow(self, count: int, seconds: float) -> None:
        """Drop a connection that is very slow while an earlier one was fast."""
        timing = self._means.timing
        if seconds < timing.slow:
            return
        speed = self.speed.now()
        self._best = max(self._best, count / seconds)
        if speed < timing.least and self._best > 4 * timing.least:
            raise Unavailable(told("download-stalled"))

    # --- room ----------------------------------------------------------------------------

    def _look(self, pieces: Pieces) -> None:
        """Stop as soon as the disk cannot hold the rest."""
        now = self._means.clock()
        if now - self._looked < _LOOK and self._looked:
            return
        self._looked = now
        free = shutil.disk_usage(self._partial.parent).free
        if free < self._file.size - pieces.received + self._means.timing.reserve:
            raise self._no_room()

    def _no_room(self) -> DownloadProblem:
        free = shutil.disk_usage(self._partial.parent).free
        needed = self._file.size - self.received + self._means.timing.reserve
        return DownloadProblem("download-disk-full", needed=max(1, needed - free), free=free)

    # --- proof ---------------------------------------------------------------------------

    def _prove(self, pieces: Pieces, checksum: Checksum) -> None:
        checksum.arrived(pieces.frontier)
        while (right := self._verdict(pieces, checksum)) is None:
            # fetch pieces again that the disk lost
            self._fetch_all(pieces, checksum)
            checksum.arrived(pieces.frontier)
        if right:
            return
        log.info("a download is not what it should be: looking for the pieces that are wrong")
        suspects = sorted(pieces.suspects)
        if self._replace(suspects, pieces, checksum):
            return
        others = [number for number in range(pieces.count) if number not in pieces.suspects]
        for number in others:
            if self._replace([number], pieces, checksum):
                return
        raise DownloadProblem("download-differs", name=self._file.path)

    def _verdict(self, pieces: Pieces, checksum: Checksum) -> bool | None:
        while True:
            right = checksum.wait(0.2)
            self._stop.check()
            if right is not None:
                return right
            damaged = checksum.damaged()
            for number in damaged:
                pieces.lose(number)
                checksum.again_from(number)
            if damaged:
                self.received = pieces.received
                return None

    def _replace(self, numbers: list[int], pieces: Pieces, checksum: Checksum) -> bool:
        """Fetch pieces again; returns whether the file is right then."""
        changed = False
        for number in numbers:
            data = self._fetch_piece(number, pieces)
            if xxhash.xxh3_64(data).hexdigest() != pieces.digest(number):
                # the checksum drops it first
                checksum.again_from(number)
                pieces.replace(number, data)
                checksum.arrived(pieces.frontier)
                changed = True
        return changed and bool(self._verdict(pieces, checksum))

    def _fetch_piece(self, number: int, pieces: Pieces) -> bytes:
        start, end = pieces.span(number)
        found = bytearray()
        tries = 0
        while len(found) < end - start:
            at = start + len(found)
            try:
                with self._source.open(at, end) as answer:
                    self._check(answer, at)
                    skip = at - answer.start
                    for chunk in answer.chunks:
                        self._stop.check()
                        part = chunk[skip:]
                        skip = max(0, skip - len(chunk))
                        found += part[: end - start - len(found)]
                        self.fetched += len(part)
                        self._stop.wait(self._means.limit.take(len(part)))
                        if len(found) == end - start:
                            break
                if len(found) < end - start:
                    raise Unavailable(told("download-cut"))
            except Unavailable as trouble:
                tries = 1 if len(found) > at - start else tries + 1
                self._wait(trouble, tries)
        return bytes(found)
