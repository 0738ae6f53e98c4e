"""The progress of loading a model, in steps that one can see; it only goes up. Engine thread."""

from __future__ import annotations

from headstart.core.events import Emit, Loading
from headstart.core.models.ref import ModelRef
from headstart.engine.stop import StopSignal

_STEP = 0.02


class LoadProgress:
    """Tells the beginning; call it with a fraction from 0 to 1, and it returns whether to go on."""

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
