"""Received pieces of a file: their digests are kept beside the bytes, so that a download can resume
after any interruption.

The bytes are in one growing file; a small JSON file lists the complete pieces and their digests on
arrival. If the list is out of date because the program was killed, bytes beyond it count as
arrived, but are suspected first. One transfer thread owns it.
"""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path

import xxhash

from headstart.core import patient
from headstart.core.files import write_whole

# bytes of a piece: small enough to fetch again, large enough to keep the list short
PIECE = 8 << 20
LEDGER = ".pieces"


class Pieces:
    """`path` is the file of bytes; `size` its final size. Raises OSError."""

    def __init__(self, path: Path, size: int, piece: int = PIECE) -> None:
        self.path = path
        self.size = size
        self._piece = piece
        self.count = -(-size // piece)
        # digests of complete pieces on arrival, by number
        self._digests: dict[int, str] = {}
        # a connection began or ended in them, or they were adopted: checked first
        self.suspects: set[int] = set()
        # progress of incomplete pieces
        self._open: dict[int, tuple[int, xxhash.xxh3_64]] = {}
        self._first_gap = 0
        path.touch(mode=0o600)
        self._file = path.open("r+b", buffering=0)
        self._load()

    # --- received bytes ------------------------------------------------------------------

    def span(self, number: int) -> tuple[int, int]:
        return number * self._piece, min((number + 1) * self._piece, self.size)

    @property
    def received(self) -> int:
        """Bytes received."""
        whole = sum(end - start for start, end in map(self.span, self._digests))
        return whole + sum(at - self.span(number)[0] for number, (at, _) in self._open.items())

    @property
    def frontier(self) -> int:
        """Bytes received from the beginning without a gap."""
        number = self._gap_number()
        if number in self._open:
            return self._open[number][0]
        return min(number * self._piece, self.size)

    def gap(self) -> tuple[int, int] | None:
        """The first missing range: start and end; None if nothing is missing."""
        first = last = self._gap_number()
        if first == self.count:
            return None
        while last + 1 < self.count and last + 1 not in self._digests:
            last += 1
            if last in self._open:
                last -= 1
                break
        start = self._open[first][0] if first in self._open else self.span(first)[0]
        return start, self.span(last)[1]

    def digest(self, number: int) -> str | None:
        return self._digests.get(number)

    # --- new bytes -----------------------------------------------------------------------

    def write(self, at: int, data: bytes) -> None:
        """Write bytes that continue a piece or begin one."""
        self._put(at, data)
        view = memoryview(data)
        while view:
            number = at // self._piece
            start, end = self.span(number)
            taken = view[: end - at]
            known = self._open.pop(number, None)
            state = xxhash.xxh3_64() if known is None or at == start else known[1]
            state.update(taken)
            at += len(taken)
            view = view[len(taken) :]
            if at == end:
                self._digests[number] = state.hexdigest()
            else:
                self._open[number] = (at, state)

    def doubt(self, at: int) -> None:
        """Suspect the piece in which a connection began or broke."""
        self.suspects.add(min(at, max(0, self.size - 1)) // self._piece)

    def replace(self, number: int, data: bytes) -> None:
        """Replace a piece that was fetched again."""
        self._put(self.span(number)[0], data)
        self._digests[number] = xxhash.xxh3_64(data).hexdigest()

    def lose(self, number: int) -> None:
        """Forget a piece whose bytes on disk are wrong."""
        self._digests.pop(number, None)
        self._open.pop(number, None)
        self._first_gap = min(self._first_gap, number)

    # --- across restarts -----------------------------------------------------------------

    def save(self) -> None:
        found = {"size": self.size, "piece": self._piece, "digests": self._digests}
        found["suspects"] = sorted(self.suspects)
        write_whole(_ledger(self.path), json.dumps(found).encode(), wait=False)

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self.save()
        self._file.close()

    def finish(self) -> None:
        """Flush the file; the list of pieces is no longer needed."""
        os.fsync(self._file.fileno())
        self._file.close()
        patient.remove(_ledger(self.path))

    def _load(self) -> None:
        there = self.path.stat().st_size
        if there > self.size:
            # left over from another file: this one is not longer than `size`
            self._file.truncate(self.size)
            there = self.size
        for number, digest in _read_ledger(self.path, self.size, self._piece, self.suspects):
            if self.span(number)[1] <= there:
                self._digests[number] = digest
        # bytes that arrived after the list was written, up to the end of the file
        number = self._gap_number()
        while number < self.count and self.span(number)[0] < there:
            start, end = self.span(number)
            self.suspects.add(number)
            self._file.seek(start)
            data = self._file.read(min(end, there) - start) or b""
            state = xxhash.xxh3_64(data)
            if start + len(data) < end:
                self._open[number] = (start + len(data), state)
                break
            self._digests[number] = state.hexdigest()
            number = self._gap_number()

    def _gap_number(self) -> int:
        """The first incomplete piece."""
        while self._first_gap in self._digests:
            self._first_gap += 1
        return self._first_gap

    def _put(self, at: int, data: bytes) -> None:
        self._file.seek(at)
        view = memoryview(data)
        while view:
            view = view[self._file.write(view) or 0 :]


def discard(path: Path) -> None:
    """Remove a partial file that is no longer wanted."""
    patient.remove(path)
    patient.remove(_ledger(path))


def _ledger(path: Path) -> Path:
    return path.with_name(path.name + LEDGER)


def _read_ledger(path: Path, size: int, piece: int, suspects: set[int]) -> list[tuple[int, str]]:
    """Returns nothing from a damaged list, or one for another size."""
    with contextlib.suppress(OSError, ValueError, TypeError, AttributeError, KeyError):
        found = json.loads(_ledger(path).read_text(encoding="utf-8"))
        if (found["size"], found["piece"]) == (size, piece):
            digests = [(int(number), str(digest)) for number, digest in found["digests"].items()]
            suspects.update(int(number) for number in found["suspects"])
            return [pair for pair in digests if pair[0] * piece < size]
    return []
