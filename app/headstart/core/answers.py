"""Size limits for answers from the network, enforced before any library parses them. Pure.

A server can send an endless body, line or event, or a few bytes that decompress or parse to
gigabytes. The libraries set no limit.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator

from headstart.core.strange_json import JsonCount, JsonLimits, JsonTooLarge

KILO, MEGA = 1 << 10, 1 << 20
_BOUNDARY = re.compile(rb"\r\n\r\n|\n\n|\r\r")
_LINE_END = re.compile(rb"[\r\n]")
# bytes of a whole stream: a million tokens with the JSON that servers wrap around each
_LONGEST_STREAM = 512 * MEGA
# bytes decompressed at once
_PIECE = 64 * KILO
# an event is assembled line by line, with a copy each time
_MOST_LINES = 2_000


class AnswerTooLong(ValueError):
    """The answer exceeds its limits."""


# for a body or a single event
AnswerLimits = JsonLimits
BODY = AnswerLimits(2 * MEGA, 100_000)
# log probabilities of every token of a long prompt
SCORES = AnswerLimits(6 * MEGA, 300_000)
# a page of models on the hub, with their files
HUB = AnswerLimits(16 * MEGA, 400_000)
EVENT = AnswerLimits(512 * KILO, 30_000)
# only the beginning of an error's body is read
ERROR = AnswerLimits(64 * KILO, 5_000)


class BodySize:
    """Counts one body against its limits."""

    def __init__(self, limits: AnswerLimits) -> None:
        self._count = JsonCount(limits)

    def take(self, data: bytes) -> None:
        """Raises AnswerTooLong."""
        try:
            self._count.take(data)
        except JsonTooLarge as error:
            raise AnswerTooLong from error


class EventSize:
    """Counts each event of a stream; an empty line separates two events."""

    def __init__(self, limits: AnswerLimits = EVENT, whole: int = _LONGEST_STREAM) -> None:
        """`whole`: bytes of all events."""
        self._limits = limits
        self._count = JsonCount(limits)
        self._lines = 0
        self._left = whole
        self._end = b""

    def take(self, data: bytes) -> None:
        """Raises AnswerTooLong."""
        self._left -= len(data)
        if self._left < 0:
            raise AnswerTooLong
        joined = self._end + data
        last = first = None
        for found in _BOUNDARY.finditer(joined):
            first, last = first or found, found
        if first is not None and last is not None:
            self._add(joined[len(self._end) : first.start()])
            self._begin()
            for one in _BOUNDARY.split(joined[first.end() : last.start()]):
                self._add(one)
                self._begin()
            self._add(joined[last.end() :])
        else:
            self._add(data)
        self._end = joined[-3:]

    def _begin(self) -> None:
        self._count, self._lines = JsonCount(self._limits), 0

    def _add(self, data: bytes) -> None:
        self._lines += data.count(b"\n") + data.count(b"\r")
        if self._lines > _MOST_LINES:
            raise AnswerTooLong
        try:
            for number, line in enumerate(_LINE_END.split(data)):
                if number:
                    # no text of JSON goes on after a line
                    self._count.new_line()
                self._count.take(line)
        except JsonTooLarge as error:
            raise AnswerTooLong from error


class Answer:
    """The parts of one answer, decompressed and counted. `failed`: an error, of which only the
    beginning is read; `full` is set once that is complete."""

    def __init__(
        self, limits: AnswerLimits | None, *, packed: bool = False, failed: bool = False
    ) -> None:
        """Without `limits`, the answer is a stream of events."""
        self.full = False
        self._failed = failed
        if failed:
            limits = ERROR
        self._size = EventSize() if limits is None else BodySize(limits)
        # compressed bytes as received: they can decompress to nothing
        self._raw = _LONGEST_STREAM if limits is None else limits.size
        self._inflate = zlib.decompressobj(zlib.MAX_WBITS | 32) if packed else None

    def parts(self, data: bytes) -> Iterator[bytes]:
        """Raises AnswerTooLong, also for bytes that are not compressed as the header says."""
        try:
            self._raw -= len(data)
            if self._raw < 0:
                raise AnswerTooLong
            for part in self._unpacked(data):
                self._size.take(part)
                yield part
        except AnswerTooLong:
            if not self._failed:
                raise
            self.full = True

    def _unpacked(self, data: bytes) -> Iterator[bytes]:
        """Yields at most 64 kB at a time when decompressing."""
        if self._inflate is None:
            yield data
            return
        try:
            while data:
                if self._inflate.eof:
                    # zlib would keep all trailing bytes
                    raise AnswerTooLong("more than was packed")
                yield self._inflate.decompress(data, _PIECE)
                data = self._inflate.unconsumed_tail
        except zlib.error as error:
            raise AnswerTooLong("not packed as it says") from error


def is_packed(encoding: str) -> bool:
    """Judged by the header `Content-Encoding`; raises AnswerTooLong for an encoding that was not
    requested."""
    names = [name.strip().lower() for name in encoding.split(",") if name.strip()]
    packed = [name for name in names if name != "identity"]
    if len(packed) > 1 or (packed and packed[0] not in ("gzip", "x-gzip", "deflate")):
        raise AnswerTooLong("packed in a way that nobody asked for")
    return bool(packed)
