"""Chooses and opens the backend for a model; imports it only then."""

from __future__ import annotations

from collections.abc import Callable

from headstart.core.events import CancelToken
from headstart.core.settings import EngineSettings
from headstart.core.values import ModelRef
from headstart.engine.decoder import Decoder


def open_decoder(
    model: ModelRef,
    engine: EngineSettings,
    progress: Callable[[float], bool],
    clamp: bool = False,
) -> Decoder:
    """Load `model`; raises ModelProblem, or DecodeAborted when `progress` returned False.

    `clamp`: a context longer than the model was trained for becomes that long.
    """
    from headstart.engine.backends.llama_cpp import LlamaCppDecoder

    return LlamaCppDecoder(model.path, engine, progress, clamp)


def check_unknown(model: ModelRef, cancel: CancelToken) -> None:
    """Try a file that was never opened here in a child process; raises ModelProblem."""
    from headstart.engine.backends.probe import probe

    probe(model.path, cancel)
