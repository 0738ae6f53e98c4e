"""JSON of strangers: bounded in bytes, structure and depth while it arrives, and only then decoded.

A few megabytes of empty lists become gigabytes of objects, and a parser holds the interpreter's
lock until the last of them is there. Counting runs at the speed of `bytes.count`, in small steps.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import re
from typing import Any

import msgspec
from msgspec import Struct

# levels of lists and objects: below every recursion limit
DEEPEST = 400
# elements, and texts, for each list, object and key of the bound: they take less memory
_ELEMENTS = 5
# bytes of texts with other than ASCII characters that need no look
_FEW_WIDE = 8 << 20
# characters of one number; longer ones take time in the square of their length
_LONGEST_NUMBER = 10_000
# digits of an integer that still fits a float; a longer one is infinite
_MOST_DIGITS = 300
# bytes counted at once: other threads wait no longer than for these
_STEP = 1 << 16
# Python's own parser, with halves of characters and NaN, makes one text of all bytes, with four
# bytes a character where one of them is an emoji
_MOST_SPELLED = 16 << 20
_NO_BRACKETS = bytes(set(range(256)) - set(b"[]{}"))
_NO_STRUCTURE = bytes(set(range(256)) - set(b"[]{}:,"))
_LEVELS = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}
_OF_NUMBERS = b"0123456789.eE+-"
# they look at each digit twice, wherever a number begins
_NUMBER = re.compile(rb"(?<![0-9.eE+-])[0-9.eE+-]{%d}" % _LONGEST_NUMBER)
_INTEGER = re.compile(rb"(?<![0-9])[0-9]{%d}" % (_MOST_DIGITS + 1))
_DIGITS = re.compile(_INTEGER.pattern.decode())


class JsonLimits(Struct, frozen=True):
    """`size` in bytes; `structure`: objects, lists and keys."""

    size: int
    structure: int


class JsonTooLarge(ValueError):
    """`bound`: "size", "structure", "depth", "text" or "number"."""

    def __init__(self, bound: str) -> None:
        super().__init__(f"over the bound of {bound}")
        self.bound = bound


class JsonCount:
    """Counts JSON in pieces of any size. A text with other than ASCII characters may take four
    times its bytes, so half of the size is for these. `infinite`: there are integers beyond a
    float."""

    def __init__(self, limits: JsonLimits) -> None:
        self._limits = limits
        self.size = self._structure = self._elements = self._quotes = self._depth = 0
        self.infinite = False
        self._inside = False
        # at the end of the last piece: an escape, and a number, that may go on
        self._backslash = self._number = b""
        # bytes of the text under way without such characters, and of all texts with them
        self._plain = self._wide = 0
        self._is_wide = False

    def take(self, data: bytes | bytearray | memoryview) -> None:
        """Raises JsonTooLarge."""
        view = memoryview(data)
        self.size += len(view)
        if self.size > self._limits.size:
            raise JsonTooLarge("size")
        for at in range(0, len(view), _STEP):
            self._step(bytes(view[at : at + _STEP]))

    def new_line(self) -> None:
        """A raw line break: no text of JSON goes on after it."""
        self._inside, self._backslash = False, b""

    def _step(self, piece: bytes) -> None:
        if self._backslash:
            piece, self._backslash = self._backslash + piece, b""
        wide = not piece.isascii()
        if b"\\" in piece:
            wide = wide or b"\\u" in piece
            if (len(piece) - len(piece.rstrip(b"\\"))) % 2:
                piece, self._backslash = piece[:-1], b"\\"
            piece = piece.replace(b"\\\\", b"  ").replace(b'\\"', b"  ")
        parts = piece.split(b'"')
        began = self._inside
        self._inside = began ^ (len(parts) % 2 == 0)
        self._quotes += len(parts) - 1
        if self._quotes > 2 * _ELEMENTS * self._limits.structure + 2:
            raise JsonTooLarge("structure")
        self._measure(parts, began, wide)
        outside = b"".join(parts[began::2])
        if outside:
            self._count(outside)

    def _measure(self, parts: list[bytes], began: bool, wide: bool) -> None:
        """Add to the bytes of wide texts. Exact for texts that are longer than a step."""
        if began:
            self._long(len(parts[0]), wide)
            if len(parts) > 1:
                self._plain, self._is_wide = 0, False
        if wide:
            self._wide += sum(map(len, parts[1 + began : -1 if self._inside else None : 2]))
        if self._inside and len(parts) > 1:
            self._long(len(parts[-1]), wide)
        if self._wide > max(self._limits.size // 2, _FEW_WIDE):
            raise JsonTooLarge("text")

    def _long(self, size: int, wide: bool) -> None:
        self._plain += size
        self._is_wide = self._is_wide or wide
        if self._is_wide:
            self._wide += self._plain
            self._plain = 0

    def _count(self, outside: bytes) -> None:
        marks = outside.translate(None, _NO_STRUCTURE)
        opened = marks.count(b"[") + marks.count(b"{")
        self._structure += opened + marks.count(b":")
        self._elements += marks.count(b",")
        most = self._limits.structure
        if self._structure > most or self._elements > _ELEMENTS * most:
            raise JsonTooLarge("structure")
        if opened or b"]" in marks or b"}" in marks:
            self._look_down(marks.translate(None, b":,"), opened)
        self._look_for_numbers(self._number + outside)

    def _look_down(self, brackets: bytes, opened: int) -> None:
        if self._depth + opened > DEEPEST:
            levels = itertools.accumulate(map(_LEVELS.__getitem__, brackets), initial=self._depth)
            if max(levels) > DEEPEST:
                raise JsonTooLarge("depth")
        self._depth += 2 * opened - len(brackets)

    def _look_for_numbers(self, outside: bytes) -> None:
        if len(outside) > _MOST_DIGITS:
            if _NUMBER.search(outside):
                raise JsonTooLarge("number")
            self.infinite = self.infinite or _INTEGER.search(outside) is not None
        self._number = outside[len(outside.rstrip(_OF_NUMBERS)) :]


def read_json(data: bytes | bytearray, limits: JsonLimits) -> Any:
    """The value of JSON within the limits. Raises JsonTooLarge, ValueError for anything else."""
    count = JsonCount(limits)
    count.take(data)
    return counted(data, count)


def counted(data: bytes | bytearray, count: JsonCount) -> Any:
    """The value of JSON that `count` has taken, as `decoded` gives it. Raises ValueError."""
    if not count.infinite:
        with contextlib.suppress(msgspec.MsgspecError, UnicodeError, RecursionError):
            return msgspec.json.decode(data)
    if len(data) > _MOST_SPELLED and not data.isascii():
        raise ValueError("no JSON")
    return _as_python(data)


def decoded(data: bytes | bytearray | str | memoryview | msgspec.Raw) -> Any:
    """The value of JSON of a size that somebody has looked at. Halves of characters, NaN and
    Infinity are read as Python writes them; integers that no float holds are infinite. Raises
    ValueError."""
    raw = data if isinstance(data, str) else bytes(data)
    long = _DIGITS.search(raw) if isinstance(raw, str) else _INTEGER.search(raw)
    if long is None:
        with contextlib.suppress(msgspec.MsgspecError, UnicodeError, RecursionError):
            return msgspec.json.decode(raw)
    return _as_python(raw)


def _as_python(raw: bytes | bytearray | str) -> Any:
    try:
        return json.loads(raw, parse_int=_whole)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _whole(digits: str) -> int | float:
    return int(digits) if len(digits) <= _MOST_DIGITS else float(digits)
