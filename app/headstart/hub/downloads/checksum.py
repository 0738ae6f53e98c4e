"""The checksum of a file, computed during the download, as bytes arrive.

Reads the bytes back from the file, so that the disk's content is verified. It keeps the state
before each piece, so that replacing a piece only requires hashing again from there.
"""

from __future__ import annotations

import hashlib
import threading
from typing import Any

import xxhash

from headstart.hub.downloads.pieces import Pieces

_BLOCK = 1 << 20
_SHA256, _GIT = 64, 40


class Checksum:
    """`etag`: the hub's digest of the file; if it is neither a SHA-256 nor a git blob id, the file
    is not checked. `follow` runs on its own thread until `close`."""

    def __init__(self, pieces: Pieces, etag: str) -> None:
        self._pieces = pieces
        self._etag = etag
        self._lock = threading.Condition()
        # the state before each piece, up to the next piece to hash
        self._states: list[Any] = [_begin(etag, pieces.size)]
        self._frontier = 0
        # end of the next piece to hash
        self._wanted = 0
        self._epoch = 0
        self._closed = False
        self._damaged: set[int] = set()
        self._error: OSError | None = None
        self._thread = threading.Thread(target=self._follow, name="download-checksum", daemon=True)
        self._thread.start()

    def arrived(self, frontier: int) -> None:
        """Continue hashing: `frontier` bytes from the beginning have arrived."""
        if frontier < self._wanted:
            # the next piece is incomplete: do not wake the thread
            return
        with self._lock:
            self._frontier = frontier
            self._lock.notify_all()

    def again_from(self, number: int) -> None:
        """Discard hashes from a replaced or lost piece on."""
        with self._lock:
            del self._states[number + 1 :]
            self._damaged = {one for one in self._damaged if one < number}
            # invalidate the piece being hashed now as well
            self._epoch += 1
            self._frontier = min(self._frontier, self._pieces.span(number)[0])
            self._wanted = 0
            self._lock.notify_all()

    def damaged(self) -> set[int]:
        """Pieces whose bytes on disk differ from those that arrived; reported once."""
        with self._lock:
            found, self._damaged = self._damaged, set()
            return found

    def wait(self, seconds: float) -> bool | None:
        """True if the whole file is right; None while hashing is unfinished, or a piece is damaged.
        Raises OSError if the disk cannot be read."""
        with self._lock:
            ready = self._lock.wait_for(self._ready, seconds)
            if self._error is not None:
                raise self._error
            if not ready or self._damaged:
                return None
            found = self._states[-1]
            return found is None or found.hexdigest() == self._etag

    def close(self) -> None:
        with self._lock:
            self._closed = True
            self._lock.notify_all()
        self._thread.join()

    def _ready(self) -> bool:
        whole = len(self._states) == self._pieces.count + 1
        return whole or bool(self._damaged) or self._error is not None

    def _next(self) -> tuple[int, Any, int] | None:
        """The next piece to hash, once it has arrived, with the state before it and the epoch; None
        after `close`."""
        with self._lock:
            while not self._closed:
                number = len(self._states) - 1
                there = number < self._pieces.count
                end = self._pieces.span(number)[1] if there else 0
                if there and not self._damaged and end <= self._frontier:
                    return number, self._states[number], self._epoch
                self._wanted = end
                self._lock.wait()
            return None

    def _follow(self) -> None:
        try:
            with self._pieces.path.open("rb", buffering=0) as file:
                while (todo := self._next()) is not None:
                    self._add(*todo, file)
        except OSError as error:
            with self._lock:
                self._error = error
                self._lock.notify_all()

    def _add(self, number: int, state: Any, epoch: int, file: Any) -> None:
        start, end = self._pieces.span(number)
        state = None if state is None else state.copy()
        digest = xxhash.xxh3_64()
        file.seek(start)
        left = end - start
        while left and (data := file.read(min(_BLOCK, left))):
            left -= len(data)
            digest.update(data)
            if state is not None:
                state.update(data)
        with self._lock:
            if epoch != self._epoch:
                # this piece or an earlier one was replaced meanwhile
                return
            if left or digest.hexdigest() != self._pieces.digest(number):
                self._damaged.add(number)
            else:
                self._states.append(state)
            self._lock.notify_all()


def _begin(etag: str, size: int) -> Any:
    """The state before the first byte; None for an etag that is no checksum."""
    if any(character not in "0123456789abcdef" for character in etag):
        return None
    if len(etag) == _SHA256:
        return hashlib.sha256()
    if len(etag) == _GIT:
        # git's way of naming blobs
        return hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    return None
