"""Heads with random weights for real and tiny models: they draft nonsense through the real path."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import numpy.typing as npt

from tests.models.drafts import TOKENS, Field, Tensor, read_gguf, write_gguf

Array = npt.NDArray[np.float32]
F32 = gguf.GGMLQuantizationType.F32
_UINT, _FLOAT = gguf.GGUFValueType.UINT32, gguf.GGUFValueType.FLOAT32
_ARRAY, _INT = gguf.GGUFValueType.ARRAY, gguf.GGUFValueType.INT32


def eagle3_shapes(
    width: int, target: int, heads: int, kv_heads: int, forward: int
) -> dict[str, tuple[int, ...]]:
    """Of the one layer of a head, by the names that llama.cpp has; rows first."""
    head = width // heads
    return {
        "fc.weight": (width, 3 * target),
        "output_norm.weight": (width,),
        "blk.0.attn_norm.weight": (width,),
        "blk.0.attn_norm_2.weight": (width,),
        "blk.0.attn_q.weight": (heads * head, 2 * width),
        "blk.0.attn_k.weight": (kv_heads * head, 2 * width),
        "blk.0.attn_v.weight": (kv_heads * head, 2 * width),
        "blk.0.attn_output.weight": (width, heads * head),
        "blk.0.ffn_norm.weight": (width,),
        "blk.0.ffn_gate.weight": (forward, width),
        "blk.0.ffn_up.weight": (forward, width),
        "blk.0.ffn_down.weight": (width, forward),
    }


def random_eagle3(
    source: Path, target: Path, seed: int = 0, layers: Sequence[int] | None = None
) -> Path:
    """An EAGLE-3 head for the llama model at `source`, of its width, with its embeddings and
    output."""
    model = read_gguf(source)
    says = _Says(model.architecture, model.fields)
    width, heads = says("embedding_length"), says("attention.head_count")
    shapes = eagle3_shapes(
        width, width, heads, says("attention.head_count_kv"), says("feed_forward_length")
    )
    source_of_numbers = np.random.default_rng(seed)
    weights = {
        name: np.ones(shape, np.float32)
        if "norm" in name
        else source_of_numbers.standard_normal(shape, np.float32) / np.sqrt(shape[-1])
        for name, shape in shapes.items()
    }
    count = says("block_count")
    taps = list(layers) if layers is not None else [2, count // 2, count - 3]
    return write_eagle3(source, target, weights, taps, width)


def write_eagle3(
    source: Path,
    target: Path,
    weights: Mapping[str, Array],
    taps: Sequence[int],
    target_width: int,
    tokens: npt.NDArray[np.int64] | None = None,
    more: Mapping[str, Array] | None = None,
    kind: gguf.GGMLQuantizationType = F32,
) -> Path:
    """A GGUF file of these weights, matrices of type `kind`, with the vocabulary of the model at
    `source`; `tokens` are the target's ids of the head's own output rows."""
    model = read_gguf(source)
    says = _Says(model.architecture, model.fields)
    width = weights["output_norm.weight"].shape[0]
    head = says("embedding_length") // says("attention.head_count")
    numbers = {
        "block_count": 1,
        "context_length": says("context_length"),
        "embedding_length": width,
        "feed_forward_length": weights["blk.0.ffn_up.weight"].shape[0],
        "attention.head_count": weights["blk.0.attn_q.weight"].shape[0] // head,
        "attention.head_count_kv": weights["blk.0.attn_k.weight"].shape[0] // head,
        "rope.dimension_count": head,
        "target_hidden_size": target_width,
        "vocab_size": len(model.fields[TOKENS].value),
    }
    fields = {key: value for key, value in model.fields.items() if key.startswith("tokenizer.")}
    fields |= {f"eagle3.{key}": Field(value, _UINT) for key, value in numbers.items()}
    fields["eagle3.target_layers"] = Field(list(taps), _ARRAY, _INT)
    fields["eagle3.attention.layer_norm_rms_epsilon"] = Field(1e-5, _FLOAT)
    fields["eagle3.rope.freq_base"] = Field(says.number("rope.freq_base", 10_000.0), _FLOAT)
    fields["general.name"] = Field("EAGLE-3 head", gguf.GGUFValueType.STRING)
    tensors: dict[str, Tensor] = {}
    for name, data in {**weights, **(more or {})}.items():
        as_is = kind is F32 or data.ndim < 2
        lies = np.ascontiguousarray(data, np.float32)
        tensors[name] = (lies, F32) if as_is else (gguf.quants.quantize(lies, kind), kind)
    if tokens is not None:
        tensors["d2t"] = (tokens.astype(np.int64), gguf.GGMLQuantizationType.I64)
    return write_gguf(target, "eagle3", fields, tensors)


def only(source: Path, target: Path, wanted: str) -> Path:
    """The same file with those tensors whose names match."""
    model = read_gguf(source)
    tensors = {name: one for name, one in model.tensors.items() if re.search(wanted, name)}
    return write_gguf(target, model.architecture, model.fields, tensors)


class _Says:
    def __init__(self, architecture: str, fields: Mapping[str, Field]) -> None:
        self._architecture, self._fields = architecture, fields

    def __call__(self, name: str) -> int:
        return int(self.number(name))

    def number(self, name: str, otherwise: float | None = None) -> float:
        found: Any = self._fields.get(f"{self._architecture}.{name}")
        if found is None:
            if otherwise is None:
                raise KeyError(name)
            return otherwise
        return float(found.value)
