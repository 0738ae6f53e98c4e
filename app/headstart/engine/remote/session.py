"""The session with servers: one thread with one event loop, and any number of requests on it.

`stream` is called on the program's event loop. A server that is silent keeps neither a local model
nor another server waiting, and a stop ends any wait at once. Nothing is loaded here; what talks to
servers is imported with the first request, on the session's thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headstart.core.errors import EnvironmentProblem
from headstart.core.requests import RemoteRequest
from headstart.core.servers import Connection
from headstart.engine.stream import Stream, final_event

if TYPE_CHECKING:
    from openai import AsyncOpenAI

    from headstart.engine.remote.client import Offer

log = logging.getLogger(__name__)


class RemoteStream(Stream):
    """`sent` is done when the request is on its way, or nothing will be sent any more."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        super().__init__(loop)
        self.sent: asyncio.Future[None] = loop.create_future()

    def mark_sent(self) -> None:
        """From the session's thread."""
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._set_sent)

    def _set_sent(self) -> None:
        if not self.sent.done():
            self.sent.set_result(None)


@dataclass(slots=True)
class _Kept:
    connection: Connection
    key: str | None
    client: AsyncOpenAI
    # replies that it is bringing now
    users: int = 0


class RemoteSession:
    """`key_of` gives the key of an account; it may ask the system's keychain, and is called on a
    further thread, so that a stop is heard meanwhile."""

    def __init__(self, key_of: Callable[[str], str | None]) -> None:
        self._key_of = key_of
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        # by connection; one that was changed gets a client of its own
        self._clients: dict[str, _Kept] = {}
        self._closing = False

    def stream(self, request: RemoteRequest) -> RemoteStream:
        """Send one request; the last event is Finished or Failed."""
        stream = RemoteStream(asyncio.get_running_loop())
        if self._closing:
            stream.cancel()
            stream.mark_sent()
            return stream
        self._started().call_soon_threadsafe(self._begin, request, stream)
        return stream

    async def list_models(self, connection: Connection) -> Offer:
        """What a server offers. Raises EnvironmentProblem; a cancel ends it at once."""
        asked = asyncio.run_coroutine_threadsafe(self._list(connection), self._started())
        return await asyncio.wrap_future(asked)

    def close(self, timeout: float = 5.0) -> None:
        """Stop every request, close every connection, end the thread."""
        self._closing = True
        loop, thread = self._loop, self._thread
        if loop is None or thread is None:
            return
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(loop.stop)
        thread.join(timeout)

    # --- on the session's thread ---------------------------------------------------------

    def _started(self) -> asyncio.AbstractEventLoop:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(
                target=self._run, args=(self._loop,), name="remote", daemon=True
            )
            self._thread.start()
        return self._loop

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        loop.run_forever()
        loop.run_until_complete(self._end())
        loop.close()

    async def _end(self) -> None:
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for kept in self._clients.values():
            with contextlib.suppress(Exception):
                await asyncio.wait_for(kept.client.close(), 1.0)
        with contextlib.suppress(Exception):
            await asyncio.get_running_loop().shutdown_asyncgens()

    async def _list(self, connection: Connection) -> Offer:
        from headstart.engine.remote.client import list_models

        return await list_models(connection, await self._key(connection))

    async def _key(self, connection: Connection) -> str | None:
        if not connection.has_key:
            return None
        return await asyncio.to_thread(self._key_of, connection.account)

    def _begin(self, request: RemoteRequest, stream: RemoteStream) -> None:
        if not stream.start():
            stream.mark_sent()
            return
        task = asyncio.get_running_loop().create_task(self._perform(request, stream))
        self._tasks.add(task)

        def ended(task: asyncio.Task[None]) -> None:
            self._tasks.discard(task)
            if task.cancelled():
                # before its first step: nothing has told the stream
                stream.put(None)
                stream.mark_sent()

        task.add_done_callback(ended)

    async def _perform(self, request: RemoteRequest, stream: RemoteStream) -> None:
        """Run one request; whatever happens, its stream ends with one final event."""
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None

        def stop() -> None:
            loop.call_soon_threadsafe(task.cancel)

        stream.token.set_abort(stop)
        try:
            from headstart.engine.remote.client import on_sent

            on_sent.set(stream.mark_sent)
            await self._write(request, stream)
        except (Exception, asyncio.CancelledError) as error:
            stream.put(final_event(error))
        finally:
            stream.token.set_abort(None)
            stream.put(None)
            stream.mark_sent()

    async def _write(self, request: RemoteRequest, stream: RemoteStream) -> None:
        model = request.model
        if not model.connection.allowed:
            raise EnvironmentProblem("sending-not-allowed", host=model.host)
        kept = await self._client_of(model.connection)
        try:
            from headstart.engine.remote.turn import RemoteTurn

            await RemoteTurn(kept.client, request, stream.put, stream.token).run()
        finally:
            kept.users -= 1
            await self._close_left(kept)

    async def _client_of(self, connection: Connection) -> _Kept:
        """The client of this connection; kept, so that the next turn needs no new handshake."""
        from headstart.engine.remote.client import open_client
        from headstart.engine.remote.problems import explain

        key = await self._key(connection)
        known = self._clients.get(connection.id)
        if known is None or (known.connection, known.key) != (connection, key):
            try:
                client = open_client(connection, key)
            except EnvironmentProblem:
                raise
            except Exception as error:
                raise explain(error, connection) from error
            kept = self._clients[connection.id] = _Kept(connection, key, client, users=1)
            if known is not None:
                try:
                    await self._close_left(known)
                except BaseException:
                    # a stop meanwhile: nobody is going to give it back
                    kept.users -= 1
                    raise
            return kept
        known.users += 1
        return known

    async def _close_left(self, kept: _Kept) -> None:
        """Close a client that was replaced, when the last reply that it brings is whole."""
        if not kept.users and self._clients.get(kept.connection.id) is not kept:
            with contextlib.suppress(Exception):
                await kept.client.close()
