"""Tiny MLX folders with random weights, one for each kind of cache that mlx-lm's models keep.

As in `tiny`, a tensor's numbers come from its name alone, so that a model with fewer layers is
the beginning of the one with more: a draft that is sometimes right. The vocabulary is the first
part of SmolLM2's.
"""

from __future__ import annotations

from tests.support import needs_mlx  # noqa: F401

# isort: split
import hashlib
import importlib
import json
import math
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np
from mlx.utils import tree_flatten

from tests.models.mlx_folder import read_gguf, write_tokenizer

VOCABULARY = 4096
WINDOW = 48
WIDTH = 64
SPREAD = 4.0  # of the logits: the likeliest of 4,096 tokens then has a few tenths

_COMMON: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": WIDTH,
    "intermediate_size": 128,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "rms_norm_eps": 1e-5,
    "max_position_embeddings": 8192,
    "tie_word_embeddings": False,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
# by memory: plain keys and values, rotating windows beside plain ones, arrays, both in one layer
FAMILIES: dict[str, dict[str, Any]] = {
    "llama": {},
    "gemma3_text": {
        "sliding_window": WINDOW,
        "sliding_window_pattern": 2,
        "query_pre_attn_scalar": 16,
    },
    "mamba2": {
        "num_heads": 8,
        "head_dim": 16,
        "state_size": 16,
        "layer_norm_epsilon": 1e-5,
        "conv_kernel": 4,
        "n_groups": 1,
        "use_bias": False,
        "use_conv_bias": True,
        "time_step_limit": [0.0, 1e9],
        "time_step_rank": "auto",
        "num_attention_heads": 0,
    },
    "falcon_h1": {
        "mamba_d_ssm": 128,
        "mamba_d_head": 16,
        "mamba_n_heads": 8,
        "mamba_d_state": 16,
        "lm_head_multiplier": 1.0,
        "embedding_multiplier": 1.0,
    },
}


# that have layers for drafting in folders of their own
DRAFTED: dict[str, dict[str, Any]] = {
    "qwen3_5": {
        "linear_num_value_heads": 4,
        "linear_num_key_heads": 2,
        "linear_key_head_dim": 16,
        "linear_value_head_dim": 16,
        "full_attention_interval": 2,
        "rope_parameters": {"type": "default", "rope_theta": 10_000, "partial_rotary_factor": 0.5},
    },
}


def make_tiny_mlx(family: str, source: Path, target: Path, layers: int = 4) -> Path:
    """Write a folder to `target`, with the vocabulary of the GGUF file at `source`."""
    config = {
        **_COMMON,
        **(FAMILIES | DRAFTED)[family],
        "model_type": family,
        "num_hidden_layers": layers,
    }
    module = importlib.import_module(f"mlx_lm.models.{family}")
    model = module.Model(module.ModelArgs.from_dict(config))
    weights: dict[str, mx.array] = dict(tree_flatten(model.parameters()))
    for name, array in weights.items():
        if array.ndim >= 2:
            weights[name] = _random(name, tuple(array.shape))
    target.mkdir(parents=True, exist_ok=True)
    mx.save_safetensors(str(target / "model.safetensors"), weights, {"format": "mlx"})
    (target / "config.json").write_text(json.dumps(config), encoding="utf-8")
    write_tokenizer(read_gguf(source), target, VOCABULARY)
    return target


def _random(name: str, shape: tuple[int, ...]) -> mx.array:
    seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little")
    spread = 1.0 if "embed" in name else 1 / math.sqrt(math.prod(shape[1:]))
    if "lm_head" in name:
        spread = SPREAD / math.sqrt(WIDTH)
    return mx.array(np.random.default_rng(seed).normal(0, spread, shape).astype(np.float32))
