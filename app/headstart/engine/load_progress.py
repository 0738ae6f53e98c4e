"""How far loading a model is, told in steps that one can see; it only goes up. Engine thread."""

from __future__ import annotations

from headstart.core.events import Emit, Loading
from headstart.core.model_ref import ModelRef
from headstart.engine.stop import StopSignal

_STEP = 0.02


class LoadProgress:
    """Call it with a fraction from 0 to 1; it says whether to go on."""

    def __init__(self, model: ModelRef, emit: Emit, stop: StopSignal) -> None:
        self._model = model
        self.emit = emit
        self._stop = stop
        self._shown = 0.0

    def begin(self) -> None:
        self.emit(Loading(self._model, 0.0))

    def __call__(self, fraction: float) -> bool:
        if fraction - self._shown >= _STEP:
            self._shown = fraction
            self.emit(Loading(self._model, fraction))
        return not self._stop.stopped
