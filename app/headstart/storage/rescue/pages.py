"""A SQLite file as bytes: its pages with the write-ahead log applied, and the records in them.

Pure; for databases that SQLite itself can no longer read. Formats: sqlite.org/fileformat2.html.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from functools import cached_property

from msgspec import Struct

_MAGIC = b"SQLite format 3\0"
_PAGE_SIZES = frozenset(1 << power for power in range(9, 17))
_USUAL_PAGE = 4096
_WAL_HEADER, _FRAME_HEADER = 32, 24
_WAL_MAGICS = (0x377F0682, 0x377F0683)

Value = int | float | bytes | None


class Record(Struct, frozen=True):
    """One row, with texts and blobs as bytes. `whole`: none of its pages is missing."""

    values: tuple[Value, ...]
    whole: bool
    start: int
    end: int


class Image:
    """The database as of its last commit. If the page size is lost, the usual one is assumed."""

    def __init__(self, data: bytes, log: bytes = b"") -> None:
        self.page_size = _page_size(data, log)
        pages = dict(_committed_pages(log, self.page_size))
        count = max([-(-len(data) // self.page_size), *pages])
        whole = bytearray(data.ljust(count * self.page_size, b"\0"))
        for number, page in pages.items():
            whole[(number - 1) * self.page_size : number * self.page_size] = page
        if pages or data:
            whole[18:20] = b"\1\1"  # no log beside it any more
        self.data = bytes(whole)

    @classmethod
    def of_every_version(cls, data: bytes, log: bytes) -> Image:
        """All pages of the log, committed and intact or not: the latest version of each page at its
        position, and all versions after the last page."""
        image = cls(data, log)
        size = image.page_size
        frames = list(_every_frame(log, size))
        # a damaged page number must not make a file of terabytes
        most = len(image.data) // size + len(frames)
        latest = {number: page for number, page in frames if 0 < number <= most}
        count = max([len(image.data) // size, *latest])
        whole = bytearray(image.data.ljust(count * size, b"\0"))
        for number, page in latest.items():
            whole[(number - 1) * size : number * size] = page
        image.data = bytes(whole) + b"".join(page for _, page in frames)
        return image

    @cached_property
    def _usable(self) -> int:
        reserved = self.data[20] if self.data.startswith(_MAGIC) else 0
        return self.page_size - (reserved if reserved <= 64 else 0)

    def record(self, start: int, types: Sequence[int], header: int) -> Record | None:
        """The record at `start`, whose header has `header` bytes and these serial types."""
        lengths = [_length(kind) for kind in types]
        if any(length is None for length in lengths):
            return None
        sizes = [length or 0 for length in lengths]
        total = header + sum(sizes)
        room = self._usable - start % self.page_size
        payload, end, whole = self._payload(start, total, room)
        if payload is None:
            return None
        values: list[Value] = []
        at = header
        for kind, size in zip(types, sizes, strict=True):
            values.append(_value(kind, payload[at : at + size]))
            at += size
        return Record(tuple(values), whole, start, end)

    def _payload(self, start: int, total: int, room: int) -> tuple[bytes | None, int, bool]:
        """A payload with its overflow pages; its end in the first page; whether it is complete."""
        usable = self._usable
        most = usable - 35
        if total <= most:
            if total > room:
                return None, start, False
            return self.data[start : start + total], start + total, True
        least = (usable - 12) * 32 // 255 - 23
        local = least + (total - least) % (usable - 4)
        local = local if local <= most else least
        if local + 4 > room:
            return None, start, False
        parts = [self.data[start : start + local]]
        missing = total - local
        page = _number(self.data, start + local)
        last = len(self.data) // self.page_size
        seen: set[int] = set()
        while missing > 0 and 1 < page <= last and page not in seen:
            seen.add(page)
            at = (page - 1) * self.page_size
            parts.append(self.data[at + 4 : at + 4 + min(missing, usable - 4)])
            missing -= usable - 4
            following = _number(self.data, at)
            # long texts are mostly written in one go: after a lost link try the next page
            page = following if 1 < following <= last else page + 1
        payload = b"".join(parts)
        whole = len(payload) == total
        return payload.ljust(total, b"\0"), start + local + 4, whole


def header_at(data: bytes, at: int) -> tuple[list[int], int] | None:
    """The serial types of a record header at `at` and its length; None if it is not one."""
    size, used = _varint(data, at)
    if size < 2 or size > 64 or at + size > len(data):
        return None
    types, place, end = [], at + used, at + size
    while place < end:
        kind, used = _varint(data, place)
        types.append(kind)
        place += used
    return (types, size) if place == end else None


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for index in range(8):
        if at + index >= len(data):
            return 0, 1
        byte = data[at + index]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, index + 1
    if at + 8 >= len(data):
        return 0, 1
    return value << 8 | data[at + 8], 9


def _number(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 4], "big")


def _length(kind: int) -> int | None:
    if kind >= 12:
        return (kind - 12) // 2
    return (0, 1, 2, 3, 4, 6, 8, 8, 0, 0, None, None)[kind]


def _value(kind: int, data: bytes) -> Value:
    if kind == 0:
        return None
    if kind <= 6:
        return int.from_bytes(data, "big", signed=True)
    if kind == 7:
        return float(struct.unpack(">d", data)[0]) if len(data) == 8 else None
    return kind - 8 if kind <= 9 else data


def _page_size(data: bytes, log: bytes) -> int:
    if data.startswith(_MAGIC):
        size = int.from_bytes(data[16:18], "big")
        size = 1 << 16 if size == 1 else size
        if size in _PAGE_SIZES:
            return size
    size = _number(log, 8)
    return size if size in _PAGE_SIZES else _USUAL_PAGE


def _committed_pages(log: bytes, page_size: int) -> Iterator[tuple[int, bytes]]:
    """The log's pages up to its last intact commit, in order: later ones replace earlier ones."""
    if len(log) < _WAL_HEADER or _number(log, 0) not in _WAL_MAGICS:
        return
    if _number(log, 8) != page_size:
        return
    order = ">" if _number(log, 0) & 1 else "<"
    salts = log[16:24]
    sums = _checksum(log[:24], (0, 0), order)
    waiting: list[tuple[int, bytes]] = []
    at = _WAL_HEADER
    while at + _FRAME_HEADER + page_size <= len(log):
        head, page = log[at : at + _FRAME_HEADER], log[at + _FRAME_HEADER :][:page_size]
        if head[8:16] != salts:
            break
        sums = _checksum(page, _checksum(head[:8], sums, order), order)
        if sums != struct.unpack(">2I", head[16:24]):
            break
        waiting.append((_number(head, 0), page))
        if _number(head, 4):
            yield from waiting
            waiting = []
        at += _FRAME_HEADER + page_size


def has_lost_commits(log: bytes) -> bool:
    """True if the log holds commits that SQLite will not apply, because one of their frames, or an
    earlier one, is damaged. (An unfinished commit is no loss: it was never reported as stored.)"""
    size = _number(log, 8)
    if size not in _PAGE_SIZES:
        return len(log) > _WAL_HEADER
    taken = sum(1 for _ in _committed_pages(log, size))
    salts, step = log[16:24], _FRAME_HEADER + size
    return any(
        log[at + 8 : at + 16] == salts and _number(log, at + 4) > 0
        for at in range(_WAL_HEADER + taken * step, len(log) - step + 1, step)
    )


def _every_frame(log: bytes, page_size: int) -> Iterator[tuple[int, bytes]]:
    step = _FRAME_HEADER + page_size
    for at in range(_WAL_HEADER, len(log) - _FRAME_HEADER, step):
        page = log[at + _FRAME_HEADER : at + step]
        yield _number(log, at), page.ljust(page_size, b"\0")


def _checksum(data: bytes, sums: tuple[int, int], order: str) -> tuple[int, int]:
    one, two = sums
    for left, right in struct.iter_unpack(f"{order}2I", data):
        one = (one + left + two) & 0xFFFFFFFF
        two = (two + right + one) & 0xFFFFFFFF
    return one, two
