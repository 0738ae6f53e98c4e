"""A generator that plays what it was given, for tests of the engine's thread."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection

from headstart.core.events import Emit, Loaded
from headstart.core.requests import (
    AheadRequest,
    CountRequest,
    EmbedRequest,
    GenerationRequest,
    LoadRequest,
)
from headstart.engine.stop import StopSignal


class FakeGenerator:
    """Plays a queue of answers; a request's chat id says which, a warm-up is always "warm"."""

    def __init__(self) -> None:
        self.order: list[str] = []
        self.threads: set[int] = set()
        self.gate = threading.Event()
        self.plays: dict[str, Callable[[Emit, StopSignal], None]] = {}
        self.closed = False
        self.rests = 0
        self.idle_stop: Callable[[StopSignal], float | None] = lambda _cancel: None

    def generate(self, request: GenerationRequest, emit: Emit, cancel: StopSignal) -> None:
        assert request.chat_id is not None
        self.order.append(request.chat_id)
        self.threads.add(threading.get_ident())
        self.plays[request.chat_id](emit, cancel)

    def preload(self, wanted: LoadRequest, emit: Emit, cancel: StopSignal) -> None:
        self.order.append("warm")
        emit(Loaded(wanted.model, 1, 0.0))

    def calibrate(self, wanted: LoadRequest, emit: Emit, cancel: StopSignal) -> None:
        self.order.append("measure")

    def ahead(self, request: AheadRequest, emit: Emit, cancel: StopSignal) -> None:
        self.order.append(f"ahead {request.chat_id}")
        self.plays[f"ahead {request.chat_id}"](emit, cancel)

    def count(self, request: CountRequest, emit: Emit) -> None:
        self.order.append("count")

    def embed(self, request: EmbedRequest, emit: Emit, stop: StopSignal) -> None:
        self.order.append("embed")

    def learn_when_idle(self, cancel: StopSignal, emit: Emit) -> bool:
        return False

    def release(self, keys: Collection[str], emit: Emit, stop: StopSignal) -> None:
        self.order.append("release")

    def save_when_idle(self, cancel: StopSignal) -> float | None:
        self.rests += 1
        return self.idle_stop(cancel)

    def close(self) -> None:
        self.closed = True
