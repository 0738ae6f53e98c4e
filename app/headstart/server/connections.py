"""Connections of the server: how many there are, how long each may wait, which one gives way.

uvicorn accepts without a limit and waits for a head for ever. A connection without the key gets one
answer and a short wait; where all places are taken, the one that waited longest makes room. The
server's thread.
"""

from __future__ import annotations

import asyncio
from typing import Any

import h11
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

# seconds for the whole head of a request, from its first byte; of a first one, from the connection
HEAD_SECONDS = 10.0
# seconds for the rest of a body that nobody reads, once the answer is out
REST_SECONDS = 60.0
_BUSY = b'{"error":{"type":"overloaded_error","message":"All connections are in use."}}'
_FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\nconnection: close\r\nretry-after: 5\r\n"
    b"content-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (len(_BUSY), _BUSY)
)


class OpenConnections:
    """The open connections of one opening, `most` at once."""

    def __init__(self, most: int) -> None:
        self._most = most
        # each in the order in which it began to wait: without a key, and with one
        self._strangers: dict[HttpConnection, None] = {}
        self._friends: dict[HttpConnection, None] = {}
        self._admitted: set[HttpConnection] = set()

    def take(self, new: HttpConnection) -> bool:
        """Keep a new connection; the longest idle one is closed for it where that is needed. False
        if there is none: each has a request that was let in."""
        if len(self._strangers) + len(self._friends) + len(self._admitted) >= self._most:
            longest = next(iter(self._strangers or self._friends), None)
            if longest is None:
                return False
            self.forget(longest)
            longest.drop()
        self._strangers[new] = None
        return True

    def admit(self, one: HttpConnection) -> None:
        """A request with the key is under way on it: it stays."""
        self.forget(one)
        self._admitted.add(one)

    def rest(self, one: HttpConnection) -> None:
        """Its request with the key is answered."""
        if one in self._admitted:
            self._admitted.discard(one)
            self._friends[one] = None

    def forget(self, one: HttpConnection) -> None:
        self._strangers.pop(one, None)
        self._friends.pop(one, None)
        self._admitted.discard(one)


class HttpConnection(H11Protocol):
    """One connection. `scope["state"]["connection"]` is this object, for the guard."""

    def __init__(self, among: OpenConnections, **given: Any) -> None:
        super().__init__(**given)
        self._among = among
        self._clock: asyncio.TimerHandle | None = None
        self._answer = self.app
        self.app = self._with_state

    async def _with_state(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope["state"]["connection"] = self
        await self._answer(scope, receive, send)

    def admit(self) -> None:
        """The request under way has the key."""
        if not self.transport.is_closing():
            self._among.admit(self)

    def drop(self) -> None:
        """Close it at once."""
        self.transport.abort()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        if self._among.take(self):
            self._wait(HEAD_SECONDS)
        else:
            transport.write(_FULL)
            transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._among.forget(self)
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:
            # a part of a head: what follows does not make it any younger
            self._wait(HEAD_SECONDS)
        elif self.cycle is None or not self.cycle.response_complete:
            self._stop_waiting()

    def on_response_complete(self) -> None:
        self._among.rest(self)
        self._stop_waiting()
        super().on_response_complete()
        if self.conn.their_state is h11.SEND_BODY:
            self._wait(REST_SECONDS)
        elif self.conn.trailing_data[0]:
            # the beginning of the next head has arrived already
            self._wait(HEAD_SECONDS)

    def _wait(self, seconds: float) -> None:
        if self._clock is None:
            self._clock = self.loop.call_later(seconds, self.drop)

    def _stop_waiting(self) -> None:
        if self._clock is not None:
            self._clock.cancel()
            self._clock = None
