"""A big target with real behaviour: SmolLM2, widened without changing its function.

Every weight is zero-padded to a larger shape, so that the new channels carry zeros; the rows
that feed nothing are noise, so that no kernel can skip them. RMS norms see a longer vector of
the same length, so their weights shrink by sqrt(d/D) and epsilon by d/D. Added layers have zero
output projections. The result says exactly what SmolLM2 says, at the cost of a 1.18 B model.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Shape:
    width: int = 1536
    feed_forward: int = 6144
    heads: int = 24
    kv_heads: int = 8
    layers: int = 32
    head: int = 64


def make_wide(source: Path, target: Path, shape: Shape | None = None) -> Path:
    """Write the widened model to `target` (1.25 GB with the default shape, Q8_0)."""
    shape = shape or Shape()
    prefiller = gguf.GGUFReader(source)
    tensors = {tensor.name: tensor for tensor in prefiller.tensors}
    partial = target.with_suffix(".partial")
    writer = gguf.GGUFWriter(partial, "llama")
    _copy_metadata(prefiller, writer, shape)
    width = int(_scalar(prefiller, "llama.embedding_length"))
    layers = int(_scalar(prefiller, "llama.block_count"))
    noise = np.random.default_rng(1)

    def weight(name: str) -> Array:
        tensor = tensors[name]
        result: Array = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
        return result.astype(np.float32)

    def padded(small: Array, rows: int, columns: int, noisy: bool) -> Array:
        big = np.zeros((rows, columns), np.float32)
        if noisy:
            big[:] = noise.normal(0, float(small.std()), big.shape)
            big[: small.shape[0]] = 0
        big[: small.shape[0], : small.shape[1]] = small
        return big

    def add(name: str, data: Array) -> None:
        kind = gguf.GGMLQuantizationType.Q8_0
        writer.add_tensor(name, gguf.quants.quantize(data, kind), raw_dtype=kind)

    def add_norm(name: str, small: Array) -> None:
        big = np.zeros(shape.width, np.float32)
        big[:width] = small * math.sqrt(width / shape.width)
        writer.add_tensor(name, big)

    query, kv = shape.heads * shape.head, shape.kv_heads * shape.head
    add("token_embd.weight", padded(weight("token_embd.weight"), 49152, shape.width, False))
    add_norm("output_norm.weight", weight("output_norm.weight"))
    for layer in range(shape.layers):
        block = f"blk.{layer}."
        # an added layer is a copy of the last one whose outputs are zero
        original = f"blk.{min(layer, layers - 1)}."
        silent = 0.0 if layer >= layers else 1.0
        for name, rows in (("attn_q", query), ("attn_k", kv), ("attn_v", kv)):
            small = weight(f"{original}{name}.weight")
            add(f"{block}{name}.weight", padded(small, rows, shape.width, True))
        out = weight(f"{original}attn_output.weight") * np.float32(silent)
        add(f"{block}attn_output.weight", padded(out, shape.width, query, False))
        for name in ("ffn_gate", "ffn_up"):
            small = weight(f"{original}{name}.weight")
            add(f"{block}{name}.weight", padded(small, shape.feed_forward, shape.width, True))
        down = weight(f"{original}ffn_down.weight") * np.float32(silent)
        add(f"{block}ffn_down.weight", padded(down, shape.width, shape.feed_forward, False))
        for name in ("attn_norm", "ffn_norm"):
            add_norm(f"{block}{name}.weight", weight(f"{original}{name}.weight"))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    partial.replace(target)
    return target


def _scalar(prefiller: Any, key: str) -> float:
    return float(prefiller.fields[key].contents())


def _copy_metadata(prefiller: Any, writer: Any, shape: Shape) -> None:
    epsilon = _scalar(prefiller, "llama.attention.layer_norm_rms_epsilon")
    width = _scalar(prefiller, "llama.embedding_length")
    replaced = {
        "general.name": "SmolLM2 135M, widened to 1.2 B",
        "llama.block_count": shape.layers,
        "llama.embedding_length": shape.width,
        "llama.feed_forward_length": shape.feed_forward,
        "llama.attention.head_count": shape.heads,
        "llama.attention.head_count_kv": shape.kv_heads,
        "llama.attention.layer_norm_rms_epsilon": epsilon * width / shape.width,
        "general.file_type": int(gguf.LlamaFileType.MOSTLY_Q8_0),
    }
    skipped = ("GGUF.", "general.architecture", "general.size_label")
    for key, field in prefiller.fields.items():
        if key.startswith(skipped):
            continue
        kind = field.types[0]
        inner = field.types[-1] if kind is gguf.GGUFValueType.ARRAY else None
        writer.add_key_value(key, replaced.get(key, field.contents()), kind, inner)
