"""The streams between a tool server and the library: answers are sifted, requests whose answer
cannot be read fail at once. In the child.

It knows which requests are not answered yet, so an answer that is too large, or broken, ends the
one that it names, or all of them where it names none.
"""

from __future__ import annotations

import contextvars
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from types import TracebackType
from typing import Any

import mcp_types as types
from anyio import EndOfStream
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage

from headstart.core.told import Told, told
from headstart.tools.lines import id_in
from headstart.tools.sifting import Tell, UnreadableAnswer, sift

# errors of ours, outside of the protocol's range
_TOO_LARGE, _UNREADABLE = -33_001, -33_002
# what the library passes on of an answer over HTTP that was over the bound
OVER_BOUND = "over the bound of Headstart"
# a request that is answered for as long as the server runs
_LASTING = "subscriptions/listen"


class Sifter:
    def __init__(self, tell: Tell) -> None:
        """`tell` is given what is left out of an answer."""
        self._tell = tell
        self._version = ""
        self._asked: dict[int | str, str] = {}

    def agree(self, version: str) -> None:
        """The version of the protocol that both sides speak."""
        self._version = version

    def ask(self, message: types.JSONRPCMessage) -> None:
        """A message to the server."""
        if isinstance(message, types.JSONRPCRequest):
            self._asked[_key(message.id)] = message.method
        elif isinstance(message, types.JSONRPCNotification):
            cancelled = (message.params or {}).get("requestId")
            if message.method == "notifications/cancelled" and isinstance(cancelled, int | str):
                self._asked.pop(_key(cancelled), None)

    def answer(self, message: types.JSONRPCMessage) -> types.JSONRPCMessage:
        """A message of the server, as the library takes it."""
        if isinstance(message, types.JSONRPCError) and message.id is not None:
            self._asked.pop(_key(message.id), None)
        if not isinstance(message, types.JSONRPCResponse):
            return message
        method = self._asked.pop(_key(message.id), "")
        try:
            result = sift(method, self._version, message.result, self._tell)
        except UnreadableAnswer:
            return _failed(message.id, _UNREADABLE)
        return types.JSONRPCResponse(jsonrpc="2.0", id=message.id, result=result)

    def fail(self, head: bytes, too_large: bool) -> list[SessionMessage]:
        """The ends of requests whose answer begins like this and cannot be read: of the one that
        it names, or of all."""
        code = _TOO_LARGE if too_large else _UNREADABLE
        named = id_in(head)
        if named is not None:
            ids = [_key(named)] if _key(named) in self._asked else []
        else:
            ids = [one for one, method in self._asked.items() if method != _LASTING]
        return [SessionMessage(_failed(one, code)) for one in ids]


def reason(error: MCPError, server: str) -> Told | None:
    """The reason of a request that failed here; None for an error of the server's own."""
    code, said = error.error.code, error.error.message
    if code == _TOO_LARGE or OVER_BOUND in said:
        return told("tool-server-flooded", server=server)
    if code == _UNREADABLE or (code == types.PARSE_ERROR and said.startswith("Failed to parse")):
        return told("tool-server-unreadable", server=server)
    return None


def _key(number: int | str) -> int | str:
    """Servers send ids of numbers back as texts."""
    is_number = isinstance(number, str) and number.isascii() and number.isdigit()
    return int(number) if is_number and len(str(number)) < 19 else number


def _failed(number: int | str, code: int) -> types.JSONRPCError:
    error = types.ErrorData(code=code, message="The answer cannot be read.")
    return types.JSONRPCError(jsonrpc="2.0", id=number, error=error)


@asynccontextmanager
async def sifted(
    transport: AbstractAsyncContextManager[Any], sifter: Sifter
) -> AsyncIterator[tuple[_Reading, _Writing]]:
    """A transport whose messages go through the sifter."""
    async with transport as (read, write):
        yield _Reading(read, sifter), _Writing(write, sifter)


class _Stream:
    def __init__(self, inner: Any, sifter: Sifter) -> None:
        self._inner = inner
        self._sifter = sifter

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()


class _Reading(_Stream):
    @property
    def last_context(self) -> contextvars.Context | None:
        return getattr(self._inner, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        found = await self._inner.receive()
        if isinstance(found, SessionMessage):
            return SessionMessage(self._sifter.answer(found.message), found.metadata)
        assert isinstance(found, Exception)
        return found

    def __aiter__(self) -> _Reading:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        try:
            return await self.receive()
        except EndOfStream:
            raise StopAsyncIteration from None

    async def __aenter__(self) -> _Reading:
        return self


class _Writing(_Stream):
    async def send(self, item: SessionMessage) -> None:
        self._sifter.ask(item.message)
        await self._inner.send(item)

    async def __aenter__(self) -> _Writing:
        return self
