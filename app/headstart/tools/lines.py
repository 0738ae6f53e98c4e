"""Lines of a tool server's output: bounded while they arrive, then read as JSON. In the child,
pure.

A line over the bound is not kept: what it answers fails at once, the rest of it is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from headstart.core.strange_json import JsonCount, JsonLimits, JsonTooLarge, counted
from headstart.core.text.whole import whole_json

# one message of a server: a picture of 24 MB, or a list of thousands of tools
MESSAGE = JsonLimits(32 << 20, 200_000)
# bytes of a line that are passed over, before its server is ended
_MOST_PASSED = 1 << 30
# bytes at the beginning of a line in which its id is looked for
_HEAD = 2_000
_ID = re.compile(rb'"id"\s*:\s*(?:(-?\d{1,18})|"([^"\\]{1,200})")')
# halves of characters, which Python's servers write for odd file names
_HALF = re.compile(rb"\\u[dD][89a-fA-F]")


class ServerLine(Struct, frozen=True):
    """A whole line with its counts."""

    data: bytes
    count: JsonCount


class Overlong(Struct, frozen=True):
    """A line over the bound, by its beginning; it may go on."""

    head: bytes


class Endless(Exception):
    """A line that is passed over does not end."""


class ServerLines:
    def __init__(self) -> None:
        self._buffer = bytearray()
        self._count = JsonCount(MESSAGE)
        # bytes of a line over the bound that were passed over; None: the line is kept
        self._passed: int | None = None

    def take(self, data: bytes) -> Iterator[ServerLine | Overlong]:
        """The lines that end in the data. Raises Endless."""
        *ended, rest = data.split(b"\n")
        for piece in ended:
            yield from self._add(piece)
            if self._passed is None:
                yield ServerLine(bytes(self._buffer), self._count)
            self._buffer = bytearray()
            self._count, self._passed = JsonCount(MESSAGE), None
        yield from self._add(rest)

    def _add(self, piece: bytes) -> Iterator[Overlong]:
        if self._passed is not None:
            self._passed += len(piece)
            if self._passed > _MOST_PASSED:
                raise Endless
            return
        try:
            self._count.take(piece)
        except JsonTooLarge:
            yield Overlong(bytes(self._buffer[:_HEAD]) or piece[:_HEAD])
            self._buffer, self._passed = bytearray(), 0
        else:
            self._buffer += piece


def value_of(line: ServerLine) -> Any:
    """The value of a line, whose characters are whole: what is no UTF-8 is replaced. Raises
    ValueError for a line that is no JSON."""
    data = line.data
    try:
        data.decode()
    except UnicodeDecodeError:
        data = data.decode("utf-8", "replace").encode()
    found = counted(data, line.count)
    return msgspec.json.decode(whole_json(found)) if _HALF.search(data) else found


def is_answer(head: bytes) -> bool:
    """True for the beginning of a line that was meant as a message of the protocol."""
    return head.lstrip()[:1] == b"{" and (b'"jsonrpc"' in head or _ID.search(head) is not None)


def id_in(head: bytes) -> int | str | None:
    """The id of the answer that begins like this; None where it does not say."""
    found = _ID.search(head.partition(b'"result"')[0].partition(b'"error"')[0])
    if found is None:
        return None
    return int(found[1]) if found[1] is not None else found[2].decode("utf-8", "replace")
