"""Cards of models, read from their files without loading them. Called from worker threads."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from headstart.core.models.described import (
    CacheKind,
    ModelCard,
    Vocabulary,
    spelled,
    tokenizer_kind,
)
from headstart.core.models.fit import ModelShape
from headstart.core.models.ref import ModelRef
from headstart.hub import mlx_folder
from headstart.hub.gguf import GgufHeader, as_count, read_header
from headstart.hub.shapes import read_shape

TOKENS = "tokenizer.ggml.tokens"
_KINDS = {"gpt2": "bpe", "llama": "spm", "t5": "ugm", "rwkv": "rwkv", "bert": "wpm"}
# metadata of layers that keep a state instead of keys and values
_STATEFUL = ("ssm.", "wkv.", "shortconv.", "token_shift_count")
_MLX_STATEFUL = ("ssm_", "mamba_", "linear_", "conv_", "state_size", "time_mix_")


def read_card(model: ModelRef) -> ModelCard:
    """The card of a model, cached until its file changes; raises ModelProblem, OSError."""
    status = (model.path / "config.json" if model.format == "mlx" else model.path).stat()
    return _read(model, status.st_size, status.st_mtime_ns)


@functools.lru_cache(maxsize=64)
def _read(model: ModelRef, _size: int, _changed: int) -> ModelCard:
    if model.format == "mlx":
        return _read_mlx(model)
    return of_header(model, read_header(model.path, (TOKENS,)), read_shape(model))


def of_header(model: ModelRef, header: GgufHeader, shape: ModelShape) -> ModelCard:
    """The card of a model whose header includes its tokens."""
    architecture = header.architecture
    kind = _KINDS.get(str(header.metadata.get("tokenizer.ggml.model", "")), "other")
    texts = tuple(spelled(kind, text) for text in header.arrays.get(TOKENS, ()))
    return ModelCard(
        model=model,
        architecture=architecture,
        cache=_cache(header, has_keys=shape.keys > 0),
        context_length=_number(header, "context_length"),
        shape=shape,
        vocabulary_size=len(texts),
        vocabulary=Vocabulary(
            kind, texts, _id(header, "bos_token_id"), _id(header, "eos_token_id")
        ),
    )


def _read_mlx(model: ModelRef) -> ModelCard:
    folder = mlx_folder.read_folder(model.path)
    config, known = folder.config, mlx_folder.tokens(folder.tokenizer)
    kind = tokenizer_kind(folder.tokenizer)
    by_id = {id_: text for text, id_ in known.items()}
    texts = tuple(
        spelled(kind, by_id.get(id_, "").encode()) for id_ in range(1 + max(by_id, default=-1))
    )
    heads = _whole(config, "num_attention_heads")
    return ModelCard(
        model=model,
        architecture=str(config.get("model_type", "")),
        cache=_mlx_cache(config, heads),
        context_length=_whole(config, "max_position_embeddings"),
        shape=read_shape(model),
        vocabulary_size=len(texts),
        vocabulary=Vocabulary(kind, texts, known.get(folder.begin), known.get(folder.end)),
    )


def _mlx_cache(config: Mapping[str, Any], heads: int) -> CacheKind:
    if any(key.startswith(_MLX_STATEFUL) for key in config):
        return "hybrid" if heads else "recurrent"
    return "window" if config.get("sliding_window") else "full"


def _whole(config: Mapping[str, Any], name: str) -> int:
    value = config.get(name)
    return value if isinstance(value, int) else 0


def _cache(header: GgufHeader, has_keys: bool) -> CacheKind:
    prefix = f"{header.architecture}."
    keys = [key.removeprefix(prefix) for key in header.metadata if key.startswith(prefix)]
    if any(key.startswith(_STATEFUL) for key in keys):
        return "hybrid" if has_keys else "recurrent"
    return "window" if _number(header, "attention.sliding_window") else "full"


def _number(header: GgufHeader, name: str) -> int:
    return as_count(header.metadata.get(f"{header.architecture}.{name}", 0))


def _id(header: GgufHeader, name: str) -> int | None:
    value = header.metadata.get(f"tokenizer.ggml.{name}")
    return value if isinstance(value, int) else None
