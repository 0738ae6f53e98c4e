"""Opens a head on llama.cpp by its kind. Engine thread, and the child process of a trial."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from headstart.core.models.heads import BLOCKS, HeadKind
from headstart.core.settings.schema import EngineSettings
from headstart.engine.backends.heads.llama_assistant import LlamaAssistant
from headstart.engine.backends.heads.llama_block import LlamaBlock
from headstart.engine.backends.heads.llama_head import LlamaHead
from headstart.engine.backends.heads.llama_layers import LlamaLayers
from headstart.engine.backends.llama_cpp.decoder import LlamaCppDecoder


def open_llama_head(
    path: Path,
    kind: HeadKind,
    engine: EngineSettings,
    target: LlamaCppDecoder,
    progress: Callable[[float], bool] | None = None,
) -> LlamaHead | LlamaBlock:
    """Raises ModelProblem, EnvironmentProblem, or DecodeAborted if `progress` returned False."""
    if kind in BLOCKS:
        return LlamaBlock(path, kind, engine, target, progress)
    if kind is HeadKind.ASSISTANT:
        return LlamaAssistant(path, engine, target, progress)
    if kind in (HeadKind.OWN, HeadKind.LAYERS):
        return LlamaLayers(path, kind, engine, target, progress)
    return LlamaHead(path, kind, engine, target, progress)
