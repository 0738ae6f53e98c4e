"""Heads with random weights for real and tiny models: they draft nonsense through the real path."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import numpy.typing as npt
from safetensors.numpy import save_file

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


def random_block(
    source: Path,
    target: Path,
    kind: str = "dflash",
    seed: int = 0,
    taps: Sequence[int] | None = None,
    block: int = 6,
    layers: int = 2,
    at_token: bool = True,
    drafted: int = 0,
) -> Path:
    """A head that drafts blocks for the llama model at `source`: "dflash", "dflash2" or "dspark",
    of its width, with its embeddings and output. `drafted`: with an output of its own, of so many
    tokens."""
    model = read_gguf(source)
    says = _Says(model.architecture, model.fields)
    width, heads = says("embedding_length"), says("attention.head_count")
    kv_heads, forward = says("attention.head_count_kv"), says("feed_forward_length")
    head, count = width // heads, says("block_count")
    known = list(taps) if taps is not None else [1, count // 2, count - 2]
    vocabulary = len(model.fields[TOKENS].value)
    shapes: dict[str, tuple[int, ...]] = {
        "fc.weight": (width, len(known) * width),
        "enc.output_norm.weight": (width,),
        "output_norm.weight": (width,),
    }
    for layer in range(layers):
        for name, shape in {
            "attn_norm": (width,),
            "attn_q": (heads * head, width),
            "attn_k": (kv_heads * head, width),
            "attn_v": (kv_heads * head, width),
            "attn_output": (width, heads * head),
            "attn_q_norm": (head,),
            "attn_k_norm": (head,),
            "ffn_norm": (width,),
            "ffn_gate": (forward, width),
            "ffn_up": (forward, width),
            "ffn_down": (width, forward),
        }.items():
            shapes[f"blk.{layer}.{name}.weight"] = shape
    numbers: dict[str, int] = {
        "block_count": layers,
        "context_length": says("context_length"),
        "embedding_length": width,
        "feed_forward_length": forward,
        "attention.head_count": heads,
        "attention.head_count_kv": kv_heads,
        "attention.key_length": head,
        "attention.value_length": head,
        "rope.dimension_count": head,
        "vocab_size": vocabulary,
        "block_size": block,
    }
    flags: dict[str, bool] = {}
    if kind == "dspark":
        rank = 8
        shapes["markov_w1.weight"] = (vocabulary, rank)
        shapes["markov_w2.weight"] = (drafted or vocabulary, rank)
        shapes["conf_proj.weight"] = (1, width + rank)
        flags = {"sample_from_anchor": at_token, "has_confidence_head": True}
    elif kind == "dflash2":
        rank, kernel, group, few = 16, 2, 16, 4
        numbers |= {
            "conv_kernel_size": kernel,
            "conv_group_size": group,
            "selector_rank": rank,
            "selector_top_k": few,
        }
        shapes["selector_predecessor.weight"] = (vocabulary, rank)
        shapes["selector_successor.weight"] = (vocabulary, rank)
        shapes["selector_hidden.weight"] = (rank, width)
        for layer in range(layers):
            for place in ("attn", "ffn"):
                shapes[f"blk.{layer}.{place}_conv_base"] = (2, kernel, width)
                shapes[f"blk.{layer}.{place}_conv_proj.weight"] = (
                    2 * kernel * width // group,
                    width,
                )
    if drafted:
        shapes["output.weight"] = (drafted, width)
    source_of_numbers = np.random.default_rng(seed)
    tensors: dict[str, Tensor] = {
        name: (
            np.ones(shape, np.float32)
            if "norm" in name
            else source_of_numbers.standard_normal(shape, np.float32)
            / np.float32(np.sqrt(shape[-1])),
            F32,
        )
        for name, shape in shapes.items()
    }
    if drafted:
        tokens = source_of_numbers.choice(vocabulary, drafted, replace=False).astype(np.int64)
        tensors["d2t"] = (np.sort(tokens), gguf.GGMLQuantizationType.I64)
    fields = {key: value for key, value in model.fields.items() if key.startswith("tokenizer.")}
    fields |= {f"dflash.{key}": Field(value, _UINT) for key, value in numbers.items()}
    fields |= {
        f"dflash.{key}": Field(value, gguf.GGUFValueType.BOOL) for key, value in flags.items()
    }
    fields["dflash.target_layers"] = Field(known, _ARRAY, _INT)
    fields["dflash.attention.layer_norm_rms_epsilon"] = Field(1e-5, _FLOAT)
    fields["dflash.rope.freq_base"] = Field(says.number("rope.freq_base", 10_000.0), _FLOAT)
    fields["tokenizer.ggml.mask_token_id"] = Field(vocabulary - 1, _UINT)
    fields["general.name"] = Field("Block head", gguf.GGUFValueType.STRING)
    return write_gguf(target, "dflash", fields, tensors)


def random_assistant(source: Path, target: Path, seed: int = 0, width: int = 64) -> Path:
    """An assistant for the gemma4 model at `source`: a layer with a window, and one without."""
    model = read_gguf(source)
    says = _Says(model.architecture, model.fields)
    states, heads, size = (
        says(name) for name in ("embedding_length", "attention.head_count", "attention.key_length")
    )
    forward, tokens = 2 * width, len(model.fields[TOKENS].value)
    shapes: dict[str, tuple[int, ...]] = {
        "token_embd.weight": (tokens, width),
        "output_norm.weight": (width,),
        "nextn.post_projection.weight": (states, width),
        "nextn.pre_projection.weight": (width, 2 * states),
        "rope_freqs.weight": (size // 2,),
    }
    for layer in range(2):
        for name, shape in {
            "attn_norm": (width,),
            "attn_q": (heads * size, width),
            "attn_output": (width, heads * size),
            "attn_q_norm": (size,),
            "post_attention_norm": (width,),
            "layer_output_scale": (1,),
            "ffn_norm": (width,),
            "ffn_gate": (forward, width),
            "ffn_up": (forward, width),
            "ffn_down": (width, forward),
            "post_ffw_norm": (width,),
        }.items():
            shapes[f"blk.{layer}.{name}.weight"] = shape
    numbers = np.random.default_rng(seed)
    tensors: dict[str, Tensor] = {
        name: (
            np.ones(shape, np.float32)
            if len(shape) == 1
            else numbers.standard_normal(shape, np.float32) / np.float32(np.sqrt(shape[-1])),
            F32,
        )
        for name, shape in shapes.items()
    }
    fields = {key: value for key, value in model.fields.items() if key.startswith("tokenizer.")}
    for key, value in {
        "block_count": 2,
        "nextn_predict_layers": 2,
        "context_length": says("context_length"),
        "embedding_length": width,
        "embedding_length_out": states,
        "feed_forward_length": forward,
        "vocab_size": tokens,
        "attention.head_count": heads,
        "attention.head_count_kv": says("attention.head_count_kv"),
        "attention.sliding_window": says("attention.sliding_window"),
        "attention.key_length": size,
        "attention.value_length": size,
        "attention.key_length_swa": size,
        "attention.value_length_swa": size,
        "rope.dimension_count": size,
        "rope.dimension_count_swa": size,
    }.items():
        fields[f"gemma4-assistant.{key}"] = Field(value, _UINT)
    fields["gemma4-assistant.attention.sliding_window_pattern"] = Field(
        [True, False], _ARRAY, gguf.GGUFValueType.BOOL
    )
    fields["gemma4-assistant.attention.layer_norm_rms_epsilon"] = Field(1e-5, _FLOAT)
    fields["general.name"] = Field("Assistant", gguf.GGUFValueType.STRING)
    return write_gguf(target, "gemma4-assistant", fields, tensors)


def random_medusa(
    source: Path, folder: Path, heads: int = 2, seed: int = 0, kind: type = np.float16
) -> Path:
    """Medusa heads for the model at `source`, as a folder of safetensors."""
    model = read_gguf(source)
    says = _Says(model.architecture, model.fields)
    width, tokens = says("embedding_length"), len(model.fields[TOKENS].value)
    numbers = np.random.default_rng(seed)
    weights: dict[str, npt.NDArray[Any]] = {}
    for head in range(heads):
        for name, shape in {
            "0.linear.weight": (width, width),
            "0.linear.bias": (width,),
            "1.weight": (tokens, width),
        }.items():
            made = numbers.standard_normal(shape, np.float32) / np.float32(np.sqrt(width))
            weights[f"{head}.{name}"] = made.astype(kind)
    folder.mkdir()
    about = {"medusa_num_heads": heads, "medusa_num_layers": 1, "hidden_size": width}
    (folder / "config.json").write_text(json.dumps(about), encoding="utf-8")
    save_file(weights, folder / "medusa_lm_head.safetensors")
    return folder


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
