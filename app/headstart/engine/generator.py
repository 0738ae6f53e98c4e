"""The Generator protocol: a request in, events out, on the thread of whoever runs it."""

from __future__ import annotations

from typing import Protocol

from headstart.core.events import CancelToken, Emit, GenerationRequest
from headstart.core.settings import EngineSettings
from headstart.core.values import ModelRef


class Generator(Protocol):
    """Called on one thread, always the same. The runner turns exceptions into `Failed`."""

    def generate(self, request: GenerationRequest, emit: Emit, cancel: CancelToken) -> None:
        """Run one turn; the last event it emits is `Finished`."""
        ...

    def warm(
        self,
        model: ModelRef,
        engine: EngineSettings,
        draft: ModelRef | None,
        emit: Emit,
        cancel: CancelToken,
    ) -> None:
        """Make ready for a request with this model and draft."""
        ...

    def measure(
        self,
        model: ModelRef,
        engine: EngineSettings,
        draft: ModelRef,
        emit: Emit,
        cancel: CancelToken,
    ) -> None:
        """Measure how fast each draft depth is; emits a growing `SpeedCurve`."""
        ...

    def close(self) -> None: ...
