"""The remote generator: replies from servers. It needs no decoder, and nothing is loaded here.

Lives on a thread of its own, with an event loop of its own, so that a server that is silent
never keeps a local model waiting, and a stop ends any wait at once.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING

from headstart.core.errors import EnvironmentProblem
from headstart.core.events import AheadRequest, CancelToken, Emit, GenerationRequest
from headstart.core.servers import Connection, ServerModel
from headstart.core.settings import EngineSettings
from headstart.core.values import ModelRef
from headstart.engine.generator import LoadCancelled
from headstart.engine.remote.client import open_client
from headstart.engine.remote.problems import explain
from headstart.engine.remote.turn import RemoteTurn

if TYPE_CHECKING:
    from openai import AsyncOpenAI


class RemoteGenerator:
    """A `Generator`. `key_of` gives the key of an account; it may ask the system's keychain, and
    is called on a further thread, so that a stop is heard meanwhile."""

    def __init__(self, key_of: Callable[[str], str | None]) -> None:
        self._key_of = key_of
        self._loop = asyncio.new_event_loop()
        self._client: AsyncOpenAI | None = None
        self._client_of: tuple[Connection, str | None] | None = None

    def generate(self, request: GenerationRequest, emit: Emit, cancel: CancelToken) -> None:
        model = request.model
        if not isinstance(model, ServerModel):
            raise TypeError(f"{model.name} is no server's model")
        if not model.connection.allowed:
            raise EnvironmentProblem(
                f"Sending words to {model.host} was not allowed.",
                "Choose the model again and allow it, or choose another one.",
            )
        loop = self._loop
        task = loop.create_task(self._run(model, request, emit, cancel))

        def stop() -> None:
            loop.call_soon_threadsafe(task.cancel)

        cancel.set_hook(stop)
        try:
            loop.run_until_complete(task)
        except asyncio.CancelledError:
            # stopped before there was anything to tell
            raise LoadCancelled from None
        finally:
            cancel.set_hook(None)

    async def _run(
        self, model: ServerModel, request: GenerationRequest, emit: Emit, cancel: CancelToken
    ) -> None:
        client = await self._open(model.connection)
        await RemoteTurn(client, model, request, emit, cancel).run()

    async def _open(self, connection: Connection) -> AsyncOpenAI:
        """The client of this connection; kept, so that the next turn needs no new handshake."""
        key = None
        if connection.has_key:
            key = await asyncio.to_thread(self._key_of, connection.account)
        if self._client is None or self._client_of != (connection, key):
            await self._close_client()
            try:
                self._client = open_client(connection, key)
            except EnvironmentProblem:
                raise
            except Exception as error:
                raise explain(error, connection) from error
            self._client_of = (connection, key)
        return self._client

    async def _close_client(self) -> None:
        if self._client is not None:
            with contextlib.suppress(Exception):
                await self._client.close()
            self._client = self._client_of = None

    def warm(
        self,
        model: ModelRef,
        engine: EngineSettings,
        draft: ModelRef | None,
        emit: Emit,
        cancel: CancelToken,
    ) -> None:
        """The server decides what it keeps loaded."""

    def measure(
        self,
        model: ModelRef,
        engine: EngineSettings,
        draft: ModelRef,
        emit: Emit,
        cancel: CancelToken,
    ) -> None:
        raise EnvironmentProblem("A server decides itself how it guesses ahead.", "")

    def ahead(self, request: AheadRequest, emit: Emit, cancel: CancelToken) -> None:
        """Nothing that is not sent leaves this computer."""

    def rest(self, cancel: CancelToken) -> float | None:
        return None

    def idle(self, cancel: CancelToken, emit: Emit) -> bool:
        return False

    def close(self) -> None:
        loop = self._loop
        with contextlib.suppress(Exception):
            loop.run_until_complete(asyncio.wait_for(self._close_client(), 1.0))
            loop.run_until_complete(loop.shutdown_asyncgens())
        loop.close()
