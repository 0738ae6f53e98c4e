"""The checksum of a file, computed while it streams: follows the bytes that have arrived.

Reads them back from the file, so that what lies on the disk is what is verified. It keeps the state
before each piece, so that a piece that is replaced costs no more than what comes after it.
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
    """`etag`: what the hub says the file is; one that is neither a SHA-256 nor git's name of a blob
    is not checked. `follow` runs on a thread of its own until `close`."""

    def __init__(self, pieces: Pieces, etag: str) -> None:
        self._pieces = pieces
        self._etag = etag
        self._lock = threading.Condition()
        # the state before each piece, and the bytes that the last one knows
        self._states: list[Any] = [_begin(etag, pieces.size)]
        self._frontier = 0
        # the bytes that the next piece needs
        self._wanted = 0
        self._epoch = 0
        self._closed = False
        self._damaged: set[int] = set()
        self._error: OSError | None = None
        self._thread = threading.Thread(target=self._follow, name="download-checksum", daemon=True)
        self._thread.start()

    def arrived(self, frontier: int) -> None:
        """Hash on: `frontier` bytes from the beginning have arrived."""
        if frontier < self._wanted:
            # nothing can be read yet: no thread is woken for that
            return
        with self._lock:
            self._frontier = frontier
            self._lock.notify_all()

    def again_from(self, number: int) -> None:
        """A piece was replaced or lost: what was computed from there on is void."""
        with self._lock:
            del self._states[number + 1 :]
            self._damaged = {one for one in self._damaged if one < number}
            # whatever is being read now is void as well
            self._epoch += 1
            self._frontier = min(self._frontier, self._pieces.span(number)[0])
            self._wanted = 0
            self._lock.notify_all()

    def damaged(self) -> set[int]:
        """Pieces that lie on the disk otherwise than they arrived; told once."""
        with self._lock:
            found, self._damaged = self._damaged, set()
            return found

    def wait(self, seconds: float) -> bool | None:
        """True if the whole file is right; None while it is not read yet, or a piece is damaged.
        Raises OSError where the disk cannot be read."""
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
        """The piece to read next, once it has arrived, with the state before it and the epoch; None
        at the end."""
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
                # a piece was replaced meanwhile, this one or an earlier one
                return
            if left or digest.hexdigest() != self._pieces.digest(number):
                self._damaged.add(number)
            else:
                self._states.append(state)
            self._lock.notify_all()


def _begin(etag: str, size: int) -> Any:
    """The state before the first byte; None for a name that is no checksum."""
    if any(character not in "0123456789abcdef" for character in etag):
        return None
    if len(etag) == _SHA256:
        return hashlib.sha256()
    if len(etag) == _GIT:
        # as git names its blobs
        return hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    return None
