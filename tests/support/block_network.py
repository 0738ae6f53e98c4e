"""The network of a DFlash head in numpy, by the names that llama.cpp has for its weights."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float32]


def _normal(x: Array, weight: Array) -> Array:
    """RMS norm over the last axis."""
    scaled = x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-5) * weight
    return np.asarray(scaled, np.float32)


def _turned(x: Array, places: npt.NDArray[Any], base: float) -> Array:
    """Rotary positions of `places x heads x size`: halves, as in GPT-NeoX."""
    half = x.shape[-1] // 2
    angles = places[:, None, None] * (base ** (-np.arange(half) / half))
    first, second = x[..., :half], x[..., half:]
    cos, sin = np.cos(angles), np.sin(angles)
    both = np.concatenate([first * cos - second * sin, first * sin + second * cos], -1)
    return np.asarray(both, np.float32)


def block_states(
    weights: dict[str, Array], rows: Array, block: Array, base: float = 100_000.0
) -> Array:
    """States of a block after the text whose states are `rows`, as the output layer sees them."""
    size = weights["blk.0.attn_q_norm.weight"].shape[0]
    read = _normal(rows @ weights["fc.weight"].T, weights["enc.output_norm.weight"])
    before, behind = np.arange(len(rows)), len(rows) + np.arange(len(block))
    x = block
    for layer in itertools.count():
        if f"blk.{layer}.attn_q.weight" not in weights:
            break

        def of(name: str, layer: int = layer) -> Array:
            return weights[f"blk.{layer}.{name}.weight"]

        def heads(x: Array, name: str, of: Callable[[str], Array] = of) -> Array:
            return (x @ of(name).T).reshape(len(x), -1, size)

        seen = _normal(x, of("attn_norm"))
        queries = _turned(_normal(heads(seen, "attn_q"), of("attn_q_norm")), behind, base)
        keys = np.concatenate(
            [
                _turned(_normal(heads(one, "attn_k"), of("attn_k_norm")), places, base)
                for one, places in ((read, before), (seen, behind))
            ]
        )
        values = np.concatenate([heads(read, "attn_v"), heads(seen, "attn_v")])
        shared = queries.shape[1] // keys.shape[1]
        keys, values = np.repeat(keys, shared, 1), np.repeat(values, shared, 1)
        scores = np.einsum("qhd,khd->hqk", queries, keys) / np.sqrt(size)
        chances = np.exp(scores - scores.max(-1, keepdims=True))
        chances /= chances.sum(-1, keepdims=True)
        mixed = np.einsum("hqk,khd->qhd", chances, values).reshape(len(x), -1)
        x = x + mixed @ of("attn_output").T
        inner = _normal(x, of("ffn_norm"))
        gate = inner @ of("ffn_gate").T
        x = x + (gate / (1 + np.exp(-gate)) * (inner @ of("ffn_up").T)) @ of("ffn_down").T
    return _normal(x, weights["output_norm.weight"])
