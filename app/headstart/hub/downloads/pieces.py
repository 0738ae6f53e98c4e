"""Arrived pieces of a file: pieces with digests, kept beside the bytes so that a download goes on
after anything.

The bytes lie in one file that grows; a small JSON file says which pieces are complete and what
they were when they arrived. Where it is behind, because the program was killed, the bytes that
are there count as arrived, but are the first to be doubted. One transfer thread owns it.
"""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path

import xxhash

from headstart.core.files import write_whole

# bytes of a piece: small enough to fetch again, large enough to have few
PIECE = 8 << 20
LEDGER = ".pieces"


class Pieces:
    """`path` is where the bytes are; `size` what they will be. Raises OSError."""

    def __init__(self, path: Path, size: int, piece: int = PIECE) -> None:
        self.path = path
        self.size = size
        self._piece = piece
        self.count = -(-size // piece)
        # by number: what a whole piece was when it arrived
        self._digests: dict[int, str] = {}
        # began or ended with a connection, or was adopted: the first ones to doubt
        self.suspects: set[int] = set()
        # how far pieces are that have begun
        self._open: dict[int, tuple[int, xxhash.xxh3_64]] = {}
        self._first_gap = 0
        path.touch(mode=0o600)
        self._file = path.open("r+b", buffering=0)
        self._load()

    # --- what is there -------------------------------------------------------------------

    def span(self, number: int) -> tuple[int, int]:
        return number * self._piece, min((number + 1) * self._piece, self.size)

    @property
    def received(self) -> int:
        """Bytes that have arrived."""
        whole = sum(end - start for start, end in map(self.span, self._digests))
        return whole + sum(at - self.span(number)[0] for number, (at, _) in self._open.items())

    @property
    def frontier(self) -> int:
        """Bytes from the beginning that have arrived without a gap."""
        number = self._gap_number()
        if number in self._open:
            return self._open[number][0]
        return min(number * self._piece, self.size)

    def gap(self) -> tuple[int, int] | None:
        """The first bytes that are missing: from, and up to; None when all are there."""
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

    # --- what arrives --------------------------------------------------------------------

    def write(self, at: int, data: bytes) -> None:
        """Bytes that follow what is there of their piece, or begin one."""
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
        """A connection began or broke here."""
        self.suspects.add(min(at, max(0, self.size - 1)) // self._piece)

    def replace(self, number: int, data: bytes) -> None:
        """A piece as it came when it was fetched again."""
        self._put(self.span(number)[0], data)
        self._digests[number] = xxhash.xxh3_64(data).hexdigest()

    def lose(self, number: int) -> None:
        """Forget pieces that the disk does not hold."""
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
        """Everything is on the disk; the list of pieces is not needed any more."""
        os.fsync(self._file.fileno())
        self._file.close()
        _ledger(self.path).unlink(missing_ok=True)

    def _load(self) -> None:
        there = self.path.stat().st_size
        if there > self.size:
            # bytes of something else: a file of this name is no longer than that
            self._file.truncate(self.size)
            there = self.size
        for number, digest in _read_ledger(self.path, self.size, self._piece, self.suspects):
            if self.span(number)[1] <= there:
                self._digests[number] = digest
        # bytes that arrived after the list was written; they end where the file does
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
        """The first piece that is not whole."""
        while self._first_gap in self._digests:
            self._first_gap += 1
        return self._first_gap

    def _put(self, at: int, data: bytes) -> None:
        self._file.seek(at)
        view = memoryview(data)
        while view:
            view = view[self._file.write(view) or 0 :]


def discard(path: Path) -> None:
    """Remove what has arrived of a file that nobody wants any more."""
    path.unlink(missing_ok=True)
    _ledger(path).unlink(missing_ok=True)


def _ledger(path: Path) -> Path:
    return path.with_name(path.name + LEDGER)


def _read_ledger(path: Path, size: int, piece: int, suspects: set[int]) -> list[tuple[int, str]]:
    """A list that is damaged, or of another size, says nothing."""
    with contextlib.suppress(OSError, ValueError, TypeError, AttributeError, KeyError):
        found = json.loads(_ledger(path).read_text(encoding="utf-8"))
        if (found["size"], found["piece"]) == (size, piece):
            digests = [(int(number), str(digest)) for number, digest in found["digests"].items()]
            suspects.update(int(number) for number in found["suspects"])
            return [pair for pair in digests if pair[0] * piece < size]
    return []
