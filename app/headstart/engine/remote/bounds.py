"""Has every answer of a server counted below the client, which sets no limit of its own."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterator
from contextvars import ContextVar
from typing import TYPE_CHECKING

from headstart.core.answers import (
    BODY,
    ERROR,
    AnswerLimits,
    AnswerTooLong,
    BodySize,
    EventSize,
    Unpacker,
    is_packed,
)

if TYPE_CHECKING:
    import httpx2

# of a request of this task that is to be answered by a body, not by a stream
_body: ContextVar[AnswerLimits | None] = ContextVar("body", default=None)


@contextlib.contextmanager
def allowed(limits: AnswerLimits) -> Iterator[None]:
    """What this task asks for is a body with these limits, whatever it is said to be."""
    before = _body.set(limits)
    try:
        yield
    finally:
        _body.reset(before)


async def bound(response: httpx2.Response) -> None:
    """Called when the head of an answer is here and before anything of its body is read."""
    import httpx2

    class Counted(httpx2.AsyncByteStream):
        """What came, as long as it is within its limits."""

        def __init__(self, stream: httpx2.AsyncByteStream) -> None:
            self._stream = stream

        async def __aiter__(self) -> AsyncIterator[bytes]:
            unpacker = Unpacker() if packed else None
            async for data in self._stream:
                for part in unpacker.take(data) if unpacker is not None else (data,):
                    try:
                        size.take(part)
                    except AnswerTooLong:
                        if failed:
                            # what it says first is enough to tell
                            return
                        raise
                    yield part

        async def aclose(self) -> None:
            await self._stream.aclose()

    failed = response.status_code >= 400
    packed = is_packed(response.headers.get("content-encoding", ""))
    if packed:
        del response.headers["content-encoding"]
    limits = ERROR if failed else _body.get()
    if limits is None and "event-stream" in response.headers.get("content-type", ""):
        size: BodySize | EventSize = EventSize()
    else:
        size = BodySize(limits or BODY)
    assert isinstance(response.stream, httpx2.AsyncByteStream)
    response.stream = Counted(response.stream)
