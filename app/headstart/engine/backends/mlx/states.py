"""Hidden states of MLX models: the inputs of some layers, and the output of the last norm. Engine
thread.

mlx-lm's models have no hooks for it. At run time a layer object is given a subclass of its own
class, which keeps the input and calls the original; parameter names stay unchanged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from headstart.core.errors import EnvironmentProblem
from headstart.engine.backends.mlx.library import mx
from headstart.engine.decoder import Hidden, Tap

# attributes that lead to a model's layers: `model.model` and similar, one or two deep
_INNER = ("language_model", "model", "backbone", "transformer")
_NORMS = ("norm", "norm_f", "ln_f", "final_norm")

Kept = dict[Tap, list[mx.array]]


class MlxStates:
    """`States` of one loaded model."""

    def __init__(self, model: Any) -> None:
        self._inner = inner_of(model)
        self._taps: tuple[Tap, ...] = ()
        self._kept: Kept = {}
        self._undo: list[tuple[Any, type]] = []

    def keep(self, taps: Sequence[Tap]) -> None:
        for module, was in self._undo:
            module.__class__ = was
        self._undo.clear()
        self._taps, self._kept = (), {}
        for tap in taps:
            module = self._module(tap)
            if module is None:
                raise EnvironmentProblem(
                    "heads-not-for-architecture", name=type(self._inner).__name__
                )
            self._undo.append((module, type(module)))
            module.__class__ = self._watched(type(module), tap)
        self._taps = tuple(taps)

    def begin(self) -> None:
        """Begin a forward, and drop the states of the last one."""
        self._kept = {}

    def swap(self, kept: Kept) -> Kept:
        """Collect further states in `kept`; returns the previous collection."""
        before, self._kept = self._kept, kept
        return before

    def rows(self, first: int, last: int) -> Hidden:
        found = []
        for tap in self._taps:
            parts = self._kept.get(tap)
            if not parts:
                raise EnvironmentProblem("heads-got-nothing")
            whole = mx.concatenate(parts) if len(parts) > 1 else parts[0]
            found.append(np.array(whole[first:last].astype(mx.float32)))
        return np.concatenate(found, axis=1)

    def _module(self, tap: Tap) -> Any:
        if isinstance(tap, int):
            layers = getattr(self._inner, "layers", [])
            return layers[tap] if 0 <= tap < len(layers) else None
        found = (getattr(self._inner, name, None) for name in _NORMS)
        return next((norm for norm in found if norm is not None), None)

    def _watched(self, kind: type, tap: Tap) -> type:
        states, comes_in = self, isinstance(tap, int)

        def call(module: Any, x: mx.array, *more: Any, **named: Any) -> Any:
            given = kind.__call__(module, x, *more, **named)
            states._kept.setdefault(tap, []).append((x if comes_in else given)[0])
            return given

        return type(f"Watched{kind.__name__}", (kind,), {"__call__": call})


def output_of(model: Any) -> Any:
    """The function from a model's last states to logits."""
    for _ in range(3):
        if hasattr(model, "lm_head"):
            return model.lm_head
        if hasattr(model, "embed_tokens"):
            return model.embed_tokens.as_linear
        model = next((getattr(model, name) for name in _INNER if hasattr(model, name)), model)
    return model


def inner_of(model: Any) -> Any:
    """The part of a model that contains the layers."""
    for _ in range(3):
        if hasattr(model, "layers") and any(hasattr(model, name) for name in _NORMS):
            return model
        model = next((getattr(model, name) for name in _INNER if hasattr(model, name)), model)
    return model
