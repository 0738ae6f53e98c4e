"""The Generator protocol: a request in, events out, on the thread of its runner."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from headstart.core.events import Emit
from headstart.core.requests import AheadRequest, GenerationRequest, LoadRequest
from headstart.engine.stop import StopSignal


class LoadCancelled(Exception):
    """The user stopped before the model was loaded or calibrated."""


class Generator(Protocol):
    """Models on this computer. Called on one thread, always the same; the runner turns exceptions
    into `Failed`."""

    def generate(self, request: GenerationRequest, emit: Emit, stop: StopSignal) -> None:
        """Run one turn; the last event it emits is `Finished`."""
        ...

    def preload(self, wanted: LoadRequest, emit: Emit, stop: StopSignal) -> None:
        """Make ready for a request with this model and draft."""
        ...

    def calibrate(self, wanted: LoadRequest, emit: Emit, stop: StopSignal) -> None:
        """Find out how fast each draft depth is; emits a growing `SpeedCurve`."""
        ...

    def ahead(self, request: AheadRequest, emit: Emit, stop: StopSignal) -> None:
        """Prefill what is sure to come of a chat; a cancel ends it within 50 ms."""
        ...

    def save_when_idle(self, stop: StopSignal) -> float | None:
        """Nobody asks for anything: save what was prefilled. Returns as soon as it is cancelled.

        The result says in how many seconds there is more to do; None: nothing.
        """
        ...

    def learn_when_idle(self, stop: StopSignal, emit: Emit) -> bool:
        """After `save_when_idle` had nothing more to do: learn what will make replies faster.

        A cancel ends it within 50 ms, and what is left is done next time. True: there is something
        to save again.
        """
        ...

    def release(self, keys: Collection[str], emit: Emit, stop: StopSignal) -> None:
        """Unload models by key, all of them for no key, with what was read kept; the last event is
        `InMemory`."""
        ...

    def close(self) -> None: ...
