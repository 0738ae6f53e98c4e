"""The parts that a tiny model's layers are made of: which tensors each has, and their scale.

Every part hands on about as much as it got, so that no part of a model drowns in the others.
"""

from __future__ import annotations

import math
import os
import zlib
from collections.abc import Callable

import gguf
import numpy as np
import numpy.typing as npt

from tests.models.drafts import Tensor

Array = npt.NDArray[np.float32]

# benchmarks make the same models larger, in a process of their own: 6 gives some 5 million
# numbers a layer
SCALE = int(os.environ.get("HEADSTART_MODEL_SCALE", "1"))
WIDTH = 128 * SCALE
FEED_FORWARD = 256 * SCALE
HEADS, KV_HEADS, HEAD = 2 * SCALE, SCALE, 64

# the recurrent parts
KERNEL = 4  # of the convolutions
INNER = 2 * WIDTH  # llama.cpp takes no other
STATE, STATE_HEADS, GROUPS = 32, 4 * SCALE, 2
SCAN_STATE, SCAN_RANK = 16, 8  # of the first mamba
DELTA = STATE * STATE_HEADS  # the values of qwen35's delta rule
RWKV_HEAD = 64  # with 32, the AVX-512 kernel gives NaN
LORA = 16
EXPERTS, USED, EXPERT = 8, 2, 64 * SCALE  # a token goes through some of them; how wide one is

_SHARP = 1.5  # of queries and keys: attention that picks, instead of taking the average
_RATE = -0.05  # of forgetting: after some hundred tokens a state still knows the first one


class Weights:
    """The tensors of one model, each drawn from its own name.

    `blocks`: matrices in blocks of 32 numbers, with which one row of a forward gives the same bits
    as several on every processor; halves do so on some only.
    """

    def __init__(self, seed: int, blocks: bool = False) -> None:
        self.tensors: dict[str, Tensor] = {}
        self._seed = seed
        self._blocks = blocks

    def normal(self, name: str, *shape: int) -> Array:
        source = np.random.default_rng([self._seed, zlib.crc32(name.encode())])
        return source.standard_normal(shape, np.float32)

    def half(self, name: str, data: Array) -> None:
        kind = gguf.GGMLQuantizationType.F16
        if self._blocks:
            kind = gguf.GGMLQuantizationType.Q8_0
            self.tensors[name] = gguf.quants.quantize(data.astype(np.float32), kind), kind
        else:
            self.tensors[name] = data.astype(np.float16), kind

    def matrix(self, name: str, rows: int, columns: int, gain: float = 1.0) -> None:
        """Makes `rows` numbers, of the size `gain`, from `columns` numbers of the size 1."""
        self.half(name, self.normal(name, rows, columns) * (gain / math.sqrt(columns)))

    def around(self, name: str, mean: float, spread: float, *shape: int) -> None:
        """What is added or multiplied one by one: norms, biases, rates, kernels."""
        data = np.float32(mean) + np.float32(spread) * self.normal(name, *shape)
        self.tensors[name] = data, gguf.GGMLQuantizationType.F32


Part = Callable[[Weights, str], None]
"""Adds the tensors of one part; the text is the layer's prefix, as in "blk.0."."""


def norm(name: str, size: int = WIDTH, mean: float = 1.0, suffix: str = ".weight") -> Part:
    def add(weights: Weights, at: str) -> None:
        weights.around(f"{at}{name}{suffix}", mean, 0.1 * mean, size)

    return add


def layer_norm(name: str) -> Part:
    """One that also has a bias."""

    def add(weights: Weights, at: str) -> None:
        weights.around(f"{at}{name}.weight", 1.0, 0.1, WIDTH)
        weights.around(f"{at}{name}.bias", 0.0, 0.1, WIDTH)

    return add


QK_NORMS = (norm("attn_q_norm", HEAD, _SHARP), norm("attn_k_norm", HEAD, _SHARP))


def attention(weights: Weights, at: str) -> None:
    _attention(weights, at, HEADS * HEAD)


def gated_attention(weights: Weights, at: str) -> None:
    """As qwen35 has it: behind each head's query lies its gate."""
    _attention(weights, at, 2 * HEADS * HEAD)


def _attention(weights: Weights, at: str, queries: int) -> None:
    weights.matrix(f"{at}attn_q.weight", queries, WIDTH, _SHARP)
    weights.matrix(f"{at}attn_k.weight", KV_HEADS * HEAD, WIDTH, _SHARP)
    weights.matrix(f"{at}attn_v.weight", KV_HEADS * HEAD, WIDTH)
    weights.matrix(f"{at}attn_output.weight", WIDTH, HEADS * HEAD, 1.5)


def feed_forward(weights: Weights, at: str) -> None:
    weights.matrix(f"{at}ffn_gate.weight", FEED_FORWARD, WIDTH)
    squared_feed_forward(weights, at)


def next_token(weights: Weights, at: str) -> None:
    """What makes a layer one that drafts: it joins a token and the state before it."""
    weights.matrix(f"{at}nextn.eh_proj.weight", WIDTH, 2 * WIDTH)
    for name in ("enorm", "hnorm", "shared_head_norm"):
        weights.around(f"{at}nextn.{name}.weight", 1.0, 0.1, WIDTH)


def experts(weights: Weights, at: str) -> None:
    weights.matrix(f"{at}ffn_gate_inp.weight", EXPERTS, WIDTH)
    for name, rows, columns, gain in (
        ("gate", EXPERT, WIDTH, 1.0),
        ("up", EXPERT, WIDTH, 1.0),
        ("down", WIDTH, EXPERT, 1.5),
    ):
        data = weights.normal(f"{at}ffn_{name}_exps.weight", EXPERTS, rows, columns)
        weights.half(f"{at}ffn_{name}_exps.weight", data * (gain / math.sqrt(columns)))


def squared_feed_forward(weights: Weights, at: str) -> None:
    """The gateless kind of nemotron_h."""
    weights.matrix(f"{at}ffn_up.weight", FEED_FORWARD, WIDTH)
    weights.matrix(f"{at}ffn_down.weight", WIDTH, FEED_FORWARD, 1.5)


def mamba(weights: Weights, at: str) -> None:
    weights.matrix(f"{at}ssm_in.weight", 2 * INNER, WIDTH)
    weights.around(f"{at}ssm_conv1d.weight", 0.0, 0.8, INNER, KERNEL)
    weights.around(f"{at}ssm_conv1d.bias", 0.0, 0.1, INNER)
    weights.matrix(f"{at}ssm_x.weight", SCAN_RANK + 2 * SCAN_STATE, INNER, 2.0)
    weights.matrix(f"{at}ssm_dt.weight", INNER, SCAN_RANK)
    weights.around(f"{at}ssm_dt.bias", -2.0, 0.5, INNER)
    weights.around(f"{at}ssm_a", _RATE, 0.01, INNER, SCAN_STATE)
    weights.around(f"{at}ssm_d", 1.0, 0.1, INNER)
    weights.matrix(f"{at}ssm_out.weight", WIDTH, INNER, 3.0)


def mamba2(weights: Weights, at: str) -> None:
    mixed = INNER + 2 * GROUPS * STATE
    weights.matrix(f"{at}ssm_in.weight", INNER + mixed + STATE_HEADS, WIDTH)
    weights.around(f"{at}ssm_conv1d.weight", 0.0, 0.8, mixed, KERNEL)
    weights.around(f"{at}ssm_conv1d.bias", 0.0, 0.1, mixed)
    weights.around(f"{at}ssm_dt.bias", -2.0, 0.5, STATE_HEADS)
    weights.around(f"{at}ssm_a", _RATE, 0.01, STATE_HEADS, 1)
    weights.around(f"{at}ssm_d", 1.0, 0.1, STATE_HEADS, 1)
    weights.around(f"{at}ssm_norm.weight", 1.0, 0.1, GROUPS, INNER // GROUPS)
    weights.matrix(f"{at}ssm_out.weight", WIDTH, INNER)


def delta_rule(weights: Weights, at: str) -> None:
    mixed = 2 * GROUPS * STATE + DELTA
    weights.matrix(f"{at}attn_qkv.weight", mixed, WIDTH)
    weights.matrix(f"{at}attn_gate.weight", DELTA, WIDTH)
    weights.around(f"{at}ssm_conv1d.weight", 0.0, 0.8, mixed, KERNEL)
    weights.around(f"{at}ssm_dt.bias", -2.0, 0.5, STATE_HEADS)
    weights.around(f"{at}ssm_a", _RATE, 0.01, STATE_HEADS)
    weights.matrix(f"{at}ssm_beta.weight", STATE_HEADS, WIDTH)
    weights.matrix(f"{at}ssm_alpha.weight", STATE_HEADS, WIDTH)
    weights.around(f"{at}ssm_norm.weight", 1.0, 0.1, STATE)
    weights.matrix(f"{at}ssm_out.weight", WIDTH, DELTA, 1.5)


def short_convolution(weights: Weights, at: str) -> None:
    weights.matrix(f"{at}shortconv.in_proj.weight", 3 * WIDTH, WIDTH)
    weights.around(f"{at}shortconv.conv.weight", 0.0, 0.5, WIDTH, KERNEL)
    weights.matrix(f"{at}shortconv.out_proj.weight", WIDTH, WIDTH)


def time_mix(weights: Weights, at: str) -> None:
    at = f"{at}time_mix_"
    weights.around(f"{at}lerp_fused.weight", 0.5, 0.2, 6, 1, 1, WIDTH)
    for name, mean, spread in (
        ("w0", -4.5, 0.5),  # the rate: what stays of the state is about 0.993
        ("a0", 0.0, 0.5),
        ("v0", 0.0, 0.5),
        ("k_k", 0.85, 0.1),
        ("k_a", 1.0, 0.1),
        ("r_k", 0.0, 0.1),
        ("ln", 1.0, 0.1),
    ):
        weights.around(f"{at}{name}.weight", mean, spread, WIDTH)
    weights.around(f"{at}ln.bias", 0.0, 0.1, WIDTH)
    for name in "wavg":
        weights.matrix(f"{at}{name}1.weight", LORA, WIDTH)
        weights.matrix(f"{at}{name}2.weight", WIDTH, LORA, 2.0 if name == "g" else 1.0)
    for name in ("receptance", "key", "value", "output"):
        weights.matrix(f"{at}{name}.weight", WIDTH, WIDTH)


def channel_mix(weights: Weights, at: str) -> None:
    weights.around(f"{at}channel_mix_lerp_k.weight", 0.5, 0.2, WIDTH)
    weights.matrix(f"{at}channel_mix_key.weight", FEED_FORWARD, WIDTH)
    weights.matrix(f"{at}channel_mix_value.weight", WIDTH, FEED_FORWARD)
