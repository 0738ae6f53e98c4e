"""Chooses and opens the backend for a model; imports it only then.

The format decides: GGUF files run on llama.cpp, MLX folders on MLX. The settings decide whether MLX
is used on this computer at all; automatic means on Apple Silicon only.
"""

from __future__ import annotations

import functools
import importlib.util
import platform
import sys
from collections.abc import Callable
from pathlib import Path

from headstart.core.errors import EnvironmentProblem
from headstart.core.models.abilities import LACKS_NOTHING, Lacking
from headstart.core.models.fit import Memory
from headstart.core.models.heads import BLOCKS, HeadKind
from headstart.core.models.ref import ModelFormat, ModelRef
from headstart.core.settings.schema import Backend, EngineSettings
from headstart.engine.backends.checked import Checked
from headstart.engine.decoder import Decoder, Embedder
from headstart.engine.stop import StopSignal

# part of each card's memory that the driver and a desktop need
_CARD_SPARE = 400 << 20


@functools.cache
def on_apple_silicon() -> bool:
    return sys.platform == "darwin" and platform.machine() == "arm64"


@functools.cache
def has_mlx() -> bool:
    """True if the libraries are installed; checked without importing them."""
    return all(importlib.util.find_spec(name) is not None for name in ("mlx", "mlx_lm"))


def cannot_run(form: ModelFormat, backend: Backend) -> str | None:
    """The code of the reason why models of this format cannot run on this computer; None if they
    can. Any thread."""
    if form == "gguf":
        return None
    if not has_mlx():
        return "mlx-not-installed" if on_apple_silicon() else "mlx-needs-a-mac"
    if backend == "llama.cpp":
        return "mlx-not-allowed"
    if backend == "auto" and not on_apple_silicon():
        return "mlx-is-slow-here"
    return None


def preferred(backend: Backend) -> ModelFormat:
    """The preferred format of a model available in both."""
    wants_mlx = backend == "mlx" or (backend == "auto" and on_apple_silicon())
    return "mlx" if wants_mlx and has_mlx() else "gguf"


def open_decoder(
    model: ModelRef,
    engine: EngineSettings,
    progress: Callable[[float], bool],
    lacking: Lacking = LACKS_NOTHING,
    clamp: bool = False,
    own_layers: bool = False,
) -> Decoder:
    """Load `model`; raises ModelProblem, or DecodeAborted if `progress` returned False.

    `lacking`: the abilities that the trial found missing. `clamp`: limit the context to the trained
    length. `own_layers`: load the file's draft layers too.
    """
    if model.format == "mlx":
        from headstart.engine.backends.mlx.decoder import MlxDecoder

        return MlxDecoder(model.path, engine, progress, clamp)
    from headstart.engine.backends.llama_cpp.context import Made
    from headstart.engine.backends.llama_cpp.decoder import LlamaCppDecoder

    made = Made(lacking, layers=own_layers)
    return LlamaCppDecoder(model.path, engine, progress, clamp, made)


def open_embedder(model: ModelRef, engine: EngineSettings) -> Embedder:
    """Load an embedding model; raises ModelProblem."""
    from headstart.engine.backends.llama_cpp.embedder import LlamaEmbedder

    return LlamaEmbedder(model.path, engine.threads)


def open_head(
    head: ModelRef,
    kind: HeadKind,
    engine: EngineSettings,
    target: Decoder,
    progress: Callable[[float], bool],
) -> Decoder:
    """Load a head that was tried with this target (`check_head`); raises EnvironmentProblem, or
    DecodeAborted when `progress` returned False."""
    if head.format == "mlx" and target.facts.device.startswith("llama.cpp"):
        from headstart.engine.backends.heads.numpy_medusa import MedusaHead

        if kind is not HeadKind.MEDUSA:
            raise EnvironmentProblem("heads-not-for-backend")
        return MedusaHead(head.path, target)
    if head.format == "mlx":
        from headstart.engine.backends.heads.mlx_block import MlxBlock
        from headstart.engine.backends.heads.mlx_head import MlxHead
        from headstart.engine.backends.mlx.decoder import MlxDecoder

        if not isinstance(target, MlxDecoder):
            raise EnvironmentProblem("heads-not-for-backend")
        if kind in BLOCKS:
            return MlxBlock(head.path, kind, engine, target, progress)
        return MlxHead(head.path, kind, engine, target, progress)
    from headstart.engine.backends.llama_cpp.decoder import LlamaCppDecoder

    if not isinstance(target, LlamaCppDecoder):
        raise EnvironmentProblem("heads-not-for-backend")
    from headstart.engine.backends.heads.llama_heads import open_llama_head

    return open_llama_head(head.path, kind, engine, target, progress)


def check_head(
    target: ModelRef, head: ModelRef, kind: HeadKind, engine: EngineSettings, stop: StopSignal
) -> bool:
    """True if the two work together, tried in a child process. Raises DecodeAborted."""
    if target.format == "mlx" or (head.format == "mlx" and kind is not HeadKind.MEDUSA):
        return True
    from headstart.engine.backends.trial.probe import probe_head

    return probe_head(target.path, head.path, kind, engine, stop)


def check_images(
    model: ModelRef, projector: Path, engine: EngineSettings, stop: StopSignal
) -> bool:
    """True if the two work together, tried in a child process. Raises DecodeAborted."""
    from headstart.engine.backends.trial.probe import probe_images

    return probe_images(model.path, projector, engine, stop)


def open_images(decoder: Decoder, projector: Path, named: bytes, engine: EngineSettings) -> None:
    """Load a projector beside its model; `named` identifies it. Raises ModelProblem."""
    from headstart.engine.backends.llama_cpp.decoder import LlamaCppDecoder

    assert isinstance(decoder, LlamaCppDecoder)
    decoder.open_images(projector, named, engine.gpu_layers != 0)


def card_memory(form: ModelFormat, engine: EngineSettings) -> Memory | None:
    """The present memory, according to llama.cpp, of the graphics cards that the model may use;
    None without cards that have their own memory (Apple's chips and integrated cards share the
    processor's)."""
    if form == "mlx" or sys.platform == "darwin" or engine.gpu_layers == 0:
        return None
    from headstart.engine.backends.llama_cpp.devices import cards

    found = [card for card in cards() if not card.integrated]
    if not found:
        return None
    free = sum(max(0, card.free - _CARD_SPARE) for card in found)
    return Memory(sum(card.total for card in found), free)


def card_names() -> str:
    """The names of the graphics cards that models can use, "" for none. On a worker thread: asking
    llama.cpp imports it."""
    from headstart.engine.backends.llama_cpp.devices import cards

    return " and ".join(card.name for card in cards())


def tuned_for(model: ModelRef, engine: EngineSettings) -> str:
    """The names of the graphics cards on which batch and attention are measured, with the other
    factors of their speed; empty if nothing is measured: without cards, or with everything
    chosen."""
    chosen = engine.batch > 0 and (engine.flash_attention != "auto" or engine.exact)
    if model.format == "mlx" or engine.gpu_layers == 0 or chosen:
        return ""
    from headstart.engine.backends.llama_cpp.devices import cards

    names = " + ".join(card.name for card in cards())
    run = engine.as_run
    return f"{names}, {run.gpu_layers} layers, {run.kv_type}, {run.flash_attention}" * bool(names)


def check_unknown(
    model: ModelRef,
    engine: EngineSettings,
    stop: StopSignal,
    progress: Callable[[float], bool],
) -> Checked:
    """Try a file that was never opened with these settings in a child process: find its missing
    abilities, and the fastest automatic settings on its graphics cards.

    Raises ModelProblem, and DecodeAborted when `progress` returned False.

    MLX raises exceptions where llama.cpp ends the process: folders need no such trial.
    """
    if model.format == "mlx":
        return Checked()
    from headstart.engine.backends.llama_cpp.devices import cards
    from headstart.engine.backends.trial.probe import probe

    measured = bool(tuned_for(model, engine))
    plain = measured and any(card.software for card in cards())
    return probe(model.path, engine, stop, progress, measured, plain)
