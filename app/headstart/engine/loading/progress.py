"""The progress of loading a model, in visible steps; it only grows. Engine thread."""

from __future__ import annotations

from headstart.core.events import Emit, Loading
from headstart.core.models.ref import ModelRef
from headstart.engine.stop import StopSignal

_STEP = 0.02


class LoadProgress:
    """Emits the start of a load; called with a fraction from 0 to 1, it returns False to stop
    loading."""

    def __init__(self, model: ModelRef, emit: Emit, stop: StopSignal) -> None:
        self.emit, self.stop = emit, stop
        self._model = model
        self._shown = 0.0
        emit(Loading(model, 0.0))

    def __call__(self, fraction: float) -> bool:
        if fraction - self._shown >= _STEP:
            self._shown = fraction
            self.emit(Loading(self._model, fraction))
        return not self.stop.stopped
