"""The HTTP client for tool servers at an address. In the child.

On this computer no proxy of the environment is asked: it would get the secrets. Answers are not
packed, and bounded: an event stream by the library, other answers here.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping

import httpx2

from headstart.core.tool_servers.entry import ToolServer
from headstart.tools.transport import MOST_BYTES

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
        if not kind.startswith("text/event-stream"):
            response.stream = _Bounded(response.stream)
        await on_response(response)

    return httpx2.AsyncClient(
        headers={"Accept-Encoding": "identity", **headers},
        timeout=httpx2.Timeout(_CONNECT, read=_READ),
        event_hooks={"response": [look]},
        trust_env=away,
    )


class _Bounded(httpx2.AsyncByteStream):
    """A body that ends with an error above the bound."""

    def __init__(self, stream: object) -> None:
        assert isinstance(stream, httpx2.AsyncByteStream)
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for part in self._stream:
            size += len(part)
            if size > MOST_BYTES:
                raise httpx2.ReadError("the answer is over the bound")
            yield part

    async def aclose(self) -> None:
        await self._stream.aclose()
