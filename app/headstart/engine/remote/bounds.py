"""Limits the size of every server response below the client, which sets no limits itself."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Iterator
from contextvars import ContextVar
from typing import TYPE_CHECKING

from headstart.core.answers import BODY, Answer, AnswerLimits, is_packed

if TYPE_CHECKING:
    import httpx2

# limits for this task's requests whose response must be a body, not a stream
_body: ContextVar[AnswerLimits | None] = ContextVar("body", default=None)


@contextlib.contextmanager
def allowed(limits: AnswerLimits) -> Iterator[None]:
    """Apply these limits to this task's responses, whatever their headers say."""
    before = _body.set(limits)
    try:
        yield
    finally:
        _body.reset(before)


async def bound(response: httpx2.Response) -> None:
    """Limit a response; called after its headers and before its body is read."""
    import httpx2

    class Counted(httpx2.AsyncByteStream):
        """A response body, checked against its limits as it arrives."""

        def __init__(self, stream: httpx2.AsyncByteStream) -> None:
            self._stream = stream

        async def __aiter__(self) -> AsyncIterator[bytes]:
            async for data in self._stream:
                for part in answer.parts(data):
                    yield part
                if answer.full:
                    return

        async def aclose(self) -> None:
            await self._stream.aclose()

    packed = is_packed(response.headers.get("content-encoding", ""))
    if packed:
        del response.headers["content-encoding"]
    limits = _body.get()
    if limits is None and "event-stream" not in response.headers.get("content-type", ""):
        limits = BODY
    answer = Answer(limits, packed=packed, failed=response.status_code >= 400)
    assert isinstance(response.stream, httpx2.AsyncByteStream)
    response.stream = Counted(response.stream)
