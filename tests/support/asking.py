"""Asks servers in tests, and keeps what it said."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine
from typing import Any, TypeVar

import pytest
from msgspec.structs import replace

from headstart.core.chats.parts import PartKind
from headstart.core.chats.values import Role, TurnStats
from headstart.core.errors import EnvironmentProblem
from headstart.core.events import Failed, Finished, GenerationEvent, Notice, TextAdded
from headstart.core.requests import PromptImage, PromptMessage, RemoteRequest, WrittenSoFar
from headstart.core.servers import Connection, ServerKind, ServerModel
from headstart.core.settings.schema import Sampling
from headstart.engine.remote.draft import RemoteDraft
from headstart.engine.remote.session import RemoteSession
from headstart.engine.stop import StopSignal
from tests.support.patience import PATIENCE
from tests.support.scripted_server import WORDS

T = TypeVar("T")
STORY = "".join(WORDS)
QUESTION = (
    PromptMessage(Role.SYSTEM, "Be brief.", "system"),
    PromptMessage(Role.USER, "Tell me a story.", "q"),
)


def run(work: Coroutine[Any, Any, T]) -> T:
    """`asyncio.run` would take the window's event loop away from later tests."""
    with contextlib.closing(asyncio.new_event_loop()) as loop:
        try:
            return loop.run_until_complete(work)
        finally:
            # an answer that was cut off leaves what read it
            loop.run_until_complete(loop.shutdown_asyncgens())


class Asking:
    """A session with servers, and what it said."""

    def __init__(self, key: str | None = "secret") -> None:
        self.key = key
        self.session = RemoteSession(lambda _account: key)
        self.events: list[GenerationEvent] = []

    def ask(
        self,
        url: str,
        kind: ServerKind = "",
        *,
        timeout: int = int(PATIENCE),
        sampling: Sampling | None = None,
        so_far: str = "",
        thought: str = "",
        cancel: StopSignal | None = None,
        context: int = 0,
        certificate: str = "",
        images: tuple[PromptImage, ...] = (),
    ) -> TurnStats:
        self.events.clear()
        connection = Connection(
            "s", "Server", url, certificate, timeout, True, kind, self.key is not None
        )
        request = RemoteRequest(
            ServerModel(connection, "harbour-7b", context),
            (*QUESTION[:-1], replace(QUESTION[-1], images=images)),
            sampling or Sampling(),
            reply_so_far=WrittenSoFar(thought, so_far, closed=bool(so_far)),
        )
        return self.send(request, cancel)

    def send(
        self,
        request: RemoteRequest,
        cancel: StopSignal | None = None,
        draft: RemoteDraft | None = None,
    ) -> TurnStats:
        """Raises the EnvironmentProblem that ends the reply, if one does."""
        self.events.clear()
        run(self._collect(request, cancel or StopSignal(), draft))
        last = self.events[-1]
        if isinstance(last, Failed):
            assert not last.bug, last.told.text
            self.events.pop()
            raise EnvironmentProblem(last.told.code, quotes=False, **last.told.facts)
        assert isinstance(last, Finished)
        return last.stats

    async def _collect(
        self, request: RemoteRequest, cancel: StopSignal, draft: RemoteDraft | None
    ) -> None:
        stream = self.session.stream(request, draft)
        cancel.set_abort(stream.cancel)
        async for event in stream:
            self.events.append(event)

    def fail(self, url: str, **more: Any) -> EnvironmentProblem:
        with pytest.raises(EnvironmentProblem) as told:
            self.ask(url, **more)
        assert told.value.remedy
        return told.value

    def said(self, kind: PartKind = PartKind.TEXT) -> str:
        return "".join(
            piece.text
            for event in self.events
            if isinstance(event, TextAdded)
            for piece in event.pieces
            if piece.kind is kind
        )

    @property
    def notices(self) -> list[str]:
        return [event.told.text for event in self.events if isinstance(event, Notice)]
