"""The Generator protocol: a request in, events out, on the thread of its runner."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from headstart.core.events import Emit
from headstart.core.requests import (
    AheadRequest,
    CountRequest,
    EmbedRequest,
    GenerationRequest,
    LoadRequest,
)
from headstart.engine.stop import StopSignal


class LoadCancelled(Exception):
    """The user stopped before the model was loaded or calibrated."""


class GaveWay(Exception):
    """A turn paused for a more urgent one, and goes on with the next call for the same request."""


class Generator(Protocol):
    """Models on this computer. Called on one thread, always the same; the runner turns exceptions
    into `Failed`."""

    def generate(self, request: GenerationRequest, emit: Emit, stop: StopSignal) -> None:
        """Run one turn; the last event it emits is `Finished`. A served turn that is asked to give
        way raises GaveWay; the next call with the same request goes on with it."""
        ...

    def preload(self, wanted: LoadRequest, emit: Emit, stop: StopSignal) -> None:
        """Load this model and draft ahead of a request."""
        ...

    def calibrate(self, wanted: LoadRequest, emit: Emit, stop: StopSignal) -> None:
        """Measure the speed of each draft depth; emits a growing `SpeedCurve`."""
        ...

    def ahead(self, request: AheadRequest, emit: Emit, stop: StopSignal) -> None:
        """Prefill the part of a chat's next prompt that is certain; a cancel ends it within 50
        ms."""
        ...

    def count(self, request: CountRequest, emit: Emit) -> None:
        """Emit `Counted`, if the model is loaded."""
        ...

    def embed(self, request: EmbedRequest, emit: Emit, stop: StopSignal) -> None:
        """Emit `Embedded`; raises GaveWay as `generate` does."""
        ...

    def save_when_idle(self, stop: StopSignal) -> float | None:
        """Save prefilled state while no request runs. Returns as soon as it is cancelled.

        Returns the seconds until more can be saved; None: nothing is left.
        """
        ...

    def learn_when_idle(self, stop: StopSignal, emit: Emit) -> bool:
        """Learn from past replies how to speed up the next; runs once `save_when_idle` has nothing
        to do.

        A cancel ends it within 50 ms; the next call does the rest. True: new state waits to be
        saved.
        """
        ...

    def release(self, keys: Collection[str], emit: Emit, stop: StopSignal) -> None:
        """Unload models by key, or all without a key, and save their prefilled state; the last
        event is `InMemory`."""
        ...

    def close(self) -> None: ...
