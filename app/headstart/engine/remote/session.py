"""The session with servers: one thread with one event loop for any number of requests.

`stream` is called on the app's event loop. A silent server blocks neither a local model nor another
server, and a stop ends any wait at once. The client is imported with the first request, on the
session's thread.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import logging
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from headstart.core.chats.values import FinishReason, TurnStats
from headstart.core.errors import EnvironmentProblem
from headstart.core.requests import RemoteRequest
from headstart.core.servers import Connection
from headstart.engine.stream import Stream, final_event

if TYPE_CHECKING:
    from openai import AsyncOpenAI

    from headstart.engine.remote.client import ServerOffer
    from headstart.engine.remote.draft import RemoteDraft
    from headstart.engine.remote.drafting.gain import ServerGain
    from headstart.engine.remote.drafting.scorer import Scorer
    from headstart.engine.remote.turn import RemoteTurn

log = logging.getLogger(__name__)


class RemoteStream(Stream):
    """A stream of a reply. `sent` is done once the request has been sent, or never will be."""

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


class _Kept(Struct):
    connection: Connection
    key: str | None
    client: AsyncOpenAI
    # replies and measurements in progress
    users: int = 0


class RemoteSession:
    """Owns the session's thread. `key_of` gives the key of an account; it may ask the system's
    keychain, so it is called on a separate thread, during which a stop still works."""

    def __init__(self, key_of: Callable[[str], str | None]) -> None:
        self._key_of = key_of
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        # by connection; a changed one gets a new client
        self._clients: dict[str, _Kept] = {}
        self._closing = False
        # by model, URL and draft; and the running measurements by connection
        self.gains: dict[tuple[str, str, str], ServerGain] = {}
        self._learning: dict[str, asyncio.Task[None]] = {}

    def stream(self, request: RemoteRequest, draft: RemoteDraft | None = None) -> RemoteStream:
        """Send one request; the last event is Finished or Failed. `draft` may draft the reply."""
        stream = RemoteStream(asyncio.get_running_loop())
        if self._closing:
            stream.cancel()
            stream.mark_sent()
            return stream
        self._started().call_soon_threadsafe(self._begin, request, stream, draft)
        return stream

    async def list_models(self, connection: Connection) -> ServerOffer:
        """The models of a server. Raises EnvironmentProblem; a cancel ends it at once."""
        asked = asyncio.run_coroutine_threadsafe(self._list(connection), self._started())
        return await asyncio.wrap_future(asked)

    @property
    def learning(self) -> bool:
        """True while drafting is being measured after a reply; from any thread."""
        return any(not task.done() for task in list(self._learning.values()))

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

    async def _list(self, connection: Connection) -> ServerOffer:
        from headstart.engine.remote.client import list_models

        return await list_models(connection, await self._key(connection))

    async def _key(self, connection: Connection) -> str | None:
        if not connection.has_key:
            return None
        return await asyncio.to_thread(self._key_of, connection.account)

    def _begin(
        self, request: RemoteRequest, stream: RemoteStream, draft: RemoteDraft | None
    ) -> None:
        if not stream.start():
            stream.mark_sent()
            return
        task = asyncio.get_running_loop().create_task(self._perform(request, stream, draft))
        self._tasks.add(task)

        def ended(task: asyncio.Task[None]) -> None:
            self._tasks.discard(task)
            if task.cancelled():
                # cancelled before its first step: the stream has not been ended
                stream.put(None)
                stream.mark_sent()

        task.add_done_callback(ended)

    async def _perform(
        self, request: RemoteRequest, stream: RemoteStream, draft: RemoteDraft | None
    ) -> None:
        """Run one request; its stream always ends with one final event."""
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None

        def stop() -> None:
            loop.call_soon_threadsafe(task.cancel)

        stream.token.set_abort(stop)
        try:
            from headstart.engine.remote.client import on_sent

            on_sent.set(stream.mark_sent)
            await self._write(request, stream, draft)
        except (Exception, asyncio.CancelledError) as error:
            stream.put(final_event(error))
        finally:
            stream.token.set_abort(None)
            stream.put(None)
            stream.mark_sent()

    async def _write(
        self, request: RemoteRequest, stream: RemoteStream, draft: RemoteDraft | None
    ) -> None:
        model = request.model
        if not model.connection.allowed:
            raise EnvironmentProblem("sending-not-allowed", host=model.host)
        learning = self._learning.pop(model.connection.id, None)
        if learning is not None:
            learning.cancel()
        kept = await self._client_of(model.connection)
        try:
            from headstart.engine.remote.draft import drafts_possible
            from headstart.engine.remote.turn import RemoteTurn

            scorer = drafting = None
            if drafts_possible(request):
                scorer = self._scorer(kept.client, request, draft)
            if scorer is not None and scorer.possible:
                from headstart.engine.remote.drafting.rounds import ServerDrafting

                drafting = ServerDrafting(request, scorer, draft, stream.put)
            turn = RemoteTurn(kept.client, request, stream.put, stream.token, drafting)
            try:
                stats = await turn.run()
            finally:
                if drafting is not None:
                    drafting.close()
            if scorer is not None and drafting is not None and not turn.left:
                self._learn(kept, scorer, draft, turn, stats)
        finally:
            await self._leave(kept)

    def _scorer(
        self, client: AsyncOpenAI, request: RemoteRequest, draft: RemoteDraft | None
    ) -> Scorer:
        from headstart.engine.remote.drafting.gain import ServerGain
        from headstart.engine.remote.drafting.scorer import Scorer

        model = request.model
        key = (model.key, model.connection.url, "" if draft is None else draft.key)
        gain = self.gains.setdefault(key, ServerGain())
        return Scorer(client, request, gain, None if draft is None else draft.prompt)

    def _learn(
        self,
        kept: _Kept,
        scorer: Scorer,
        draft: RemoteDraft | None,
        turn: RemoteTurn,
        stats: TurnStats,
    ) -> None:
        """Measure the possible gain of drafting, while no user waits."""
        whole = stats.finish in (FinishReason.END, FinishReason.LENGTH)
        if not whole or turn.reasoned or scorer.request.reply_so_far:
            return
        rate = stats.tokens_per_second
        busy = kept.connection.id in self._learning or kept.users > 1
        if rate is None or busy:
            return
        from headstart.engine.remote.drafting.learning import learn

        scorer = replace(scorer, with_images=turn.with_images)
        reply, tokens = turn.text, stats.generated_tokens
        kept.users += 1
        loop = asyncio.get_running_loop()
        work = learn(scorer, draft, reply, tokens, 1 / rate, turn.prompt_tokens)
        task = self._learning[kept.connection.id] = loop.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(functools.partial(self._learned, kept))

    def _learned(self, kept: _Kept, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if self._learning.get(kept.connection.id) is task:
            del self._learning[kept.connection.id]
        # a separate task, because the learning one may never have begun
        leaving = asyncio.get_running_loop().create_task(self._leave(kept))
        self._tasks.add(leaving)
        leaving.add_done_callback(self._tasks.discard)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("learning of drafts for a server failed", exc_info=error)

    async def _leave(self, kept: _Kept) -> None:
        kept.users -= 1
        await self._close_left(kept)

    async def _client_of(self, connection: Connection) -> _Kept:
        """The client of this connection; kept open, so that the next turn needs no new
        handshake."""
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
                    # stopped meanwhile: the caller will not release the new client
                    kept.users -= 1
                    raise
            return kept
        known.users += 1
        return known

    async def _close_left(self, kept: _Kept) -> None:
        """Close a replaced client once its last user has finished."""
        if not kept.users and self._clients.get(kept.connection.id) is not kept:
            with contextlib.suppress(Exception):
                await kept.client.close()
