"""The HTTP client for tool servers at an address. In the child.

On this computer no proxy of the environment is asked: it would get the secrets. Answers are not
packed, and bounded while they arrive.
"""

from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

import httpx2

from headstart.core.answers import AnswerTooLong, BodySize, EventSize
from headstart.core.tool_servers.entry import ToolServer
from headstart.tools.lines import MESSAGE
from headstart.tools.sifted import OVER_BOUND

# seconds to connect and to write, and without a byte of an answer
_CONNECT, _READ = 30.0, 300.0


def web_client(
    url: str,
    headers: Mapping[str, str],
    on_response: Callable[[httpx2.Response], Awaitable[None]],
) -> httpx2.AsyncClient:
    """`on_response` is called with each answer before its body is read."""
    away = bool(ToolServer("", "", url=url).host)

    async def look(response: httpx2.Response) -> None:
        if response.headers.get("content-encoding", "identity") != "identity":
            raise httpx2.DecodingError("a packed answer was not asked for")
        kind = response.headers.get("content-type", "")
        response.stream = _Bounded(response.stream, kind.startswith("text/event-stream"))
        await on_response(response)

    return httpx2.AsyncClient(
        headers={"Accept-Encoding": "identity", **headers},
        timeout=httpx2.Timeout(_CONNECT, read=_READ),
        event_hooks={"response": [look]},
        trust_env=away,
    )


class _Bounded(httpx2.AsyncByteStream):
    """A body, or a stream of events, that ends with an error above the bound: with one that the
    library takes for the end of this answer alone."""

    def __init__(self, stream: object, is_stream: bool) -> None:
        assert isinstance(stream, httpx2.AsyncByteStream)
        self._stream = stream
        self._is_stream = is_stream
        # a stream lasts as long as its server, each event is bounded
        self._size = EventSize(MESSAGE, sys.maxsize) if is_stream else BodySize(MESSAGE)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for part in self._stream:
            try:
                self._size.take(part)
            except AnswerTooLong as error:
                if self._is_stream:
                    raise httpx2.SSEError(OVER_BOUND) from error
                raise httpx2.StreamError(OVER_BOUND) from error
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()
