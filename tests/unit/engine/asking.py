"""Asks a remote generator in tests, and keeps what it said."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine
from typing import Any, TypeVar

import pytest

from headstart.core.errors import EnvironmentProblem
from headstart.core.events import (
    CancelToken,
    Finished,
    GenerationEvent,
    GenerationRequest,
    Notice,
    PromptMessage,
    TextAdded,
)
from headstart.core.servers import Connection, ServerKind, ServerModel
from headstart.core.settings import Sampling
from headstart.core.values import PartKind, Role, TurnFigures
from headstart.engine.remote.generator import RemoteGenerator
from tests.servers import WORDS

T = TypeVar("T")
STORY = "".join(WORDS)
QUESTION = (
    PromptMessage(Role.SYSTEM, "Be brief.", "system"),
    PromptMessage(Role.USER, "Tell me a story.", "q"),
)


def run(work: Coroutine[Any, Any, T]) -> T:
    """`asyncio.run` would take the window's event loop away from later tests."""
    with contextlib.closing(asyncio.new_event_loop()) as loop:
        return loop.run_until_complete(work)


class Asking:
    """A remote generator on this thread, and what it said."""

    def __init__(self, key: str | None = "secret") -> None:
        self.key = key
        self.generator = RemoteGenerator(lambda _account: key)
        self.events: list[GenerationEvent] = []

    def ask(
        self,
        url: str,
        kind: ServerKind = "",
        *,
        patience: int = 5,
        sampling: Sampling | None = None,
        so_far: str = "",
        cancel: CancelToken | None = None,
        context: int = 0,
        certificate: str = "",
    ) -> TurnFigures:
        self.events.clear()
        connection = Connection(
            "s", "Server", url, certificate, patience, True, kind, self.key is not None
        )
        request = GenerationRequest(
            ServerModel(connection, "harbour-7b", context),
            QUESTION,
            sampling or Sampling(),
            reply_so_far=so_far,
        )
        self.generator.generate(request, self.events.append, cancel or CancelToken())
        last = self.events[-1]
        assert isinstance(last, Finished)
        return last.figures

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
        return [event.text for event in self.events if isinstance(event, Notice)]
