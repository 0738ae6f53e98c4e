"""Heads in MLX's format with random weights, as folders of safetensors."""

from __future__ import annotations

from tests.support import needs_mlx  # noqa: F401

# isort: split
import importlib
import json
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np
from mlx.utils import tree_flatten

KEYS = ("hidden_size", "intermediate_size", "num_attention_heads", "num_key_value_heads",
        "rms_norm_eps", "vocab_size")  # fmt: skip


def _config(target: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((target / "config.json").read_text(encoding="utf-8"))
    return found


def _made(shapes: dict[str, tuple[int, ...]], seed: int) -> dict[str, mx.array]:
    numbers = np.random.default_rng(seed)
    return {
        name: mx.array(
            np.ones(shape, np.float32)
            if len(shape) == 1
            else numbers.standard_normal(shape, np.float32) / np.sqrt(shape[-1])
        )
        for name, shape in shapes.items()
    }


def make_eagle3(target: Path, folder: Path, drafted: int = 0, seed: int = 0) -> Path:
    """For the model folder `target`; with `drafted`, of so many of its tokens only (every other
    one from the first on)."""
    config = _config(target)
    width, forward = config["hidden_size"], config["intermediate_size"]
    heads, kv = config["num_attention_heads"], config["num_key_value_heads"]
    head = config.get("head_dim") or width // heads
    size = drafted or config["vocab_size"]
    at = "midlayer."
    shapes: dict[str, tuple[int, ...]] = {
        "fc.weight": (width, 3 * width),
        "norm.weight": (width,),
        "lm_head.weight": (size, width),
        f"{at}self_attn.q_proj.weight": (heads * head, 2 * width),
        f"{at}self_attn.k_proj.weight": (kv * head, 2 * width),
        f"{at}self_attn.v_proj.weight": (kv * head, 2 * width),
        f"{at}self_attn.o_proj.weight": (width, heads * head),
        f"{at}input_layernorm.weight": (width,),
        f"{at}hidden_norm.weight": (width,),
        f"{at}post_attention_layernorm.weight": (width,),
        f"{at}mlp.gate_proj.weight": (forward, width),
        f"{at}mlp.up_proj.weight": (forward, width),
        f"{at}mlp.down_proj.weight": (width, forward),
    }
    weights = _made(shapes, seed)
    about = {
        **{key: config[key] for key in KEYS if key in config},
        "architectures": ["LlamaForCausalLMEagle3"],
        "model_type": "llama",
        "draft_vocab_size": size,
        "eagle_aux_hidden_state_layer_ids": [0, 1, 2],
    }
    if drafted:
        # how much further on in the target's ids each of the head's is
        weights["d2t"] = mx.arange(drafted, dtype=mx.int32)
    return _write(folder, about, weights, "model.safetensors")


def make_medusa(target: Path, folder: Path, heads: int = 3, seed: int = 0) -> Path:
    config = _config(target)
    width, size = config["hidden_size"], config["vocab_size"]
    shapes: dict[str, tuple[int, ...]] = {}
    for head in range(heads):
        shapes[f"{head}.0.linear.weight"] = (width, width)
        shapes[f"{head}.0.linear.bias"] = (width,)
        shapes[f"{head}.1.weight"] = (size, width)
    about = {"medusa_num_heads": heads, "medusa_num_layers": 1, "hidden_size": width}
    return _write(folder, about, _made(shapes, seed), "medusa_lm_head.safetensors")


def make_block(
    target: Path, folder: Path, kind: str = "dflash", layers: int = 2, block: int = 6, seed: int = 0
) -> Path:
    """A head that drafts blocks, "dflash" or "dspark", with the target's embeddings and output."""
    config = _config(target)
    width, forward = config["hidden_size"], config["intermediate_size"]
    heads, kv, size = config["num_attention_heads"], config["num_key_value_heads"], 16
    shapes: dict[str, tuple[int, ...]] = {
        "fc.weight": (width, 2 * width),
        "hidden_norm.weight": (width,),
        "norm.weight": (width,),
    }
    for layer in range(layers):
        for name, shape in {
            "self_attn.q_proj": (heads * size, width),
            "self_attn.k_proj": (kv * size, width),
            "self_attn.v_proj": (kv * size, width),
            "self_attn.o_proj": (width, heads * size),
            "self_attn.q_norm": (size,),
            "self_attn.k_norm": (size,),
            "input_layernorm": (width,),
            "post_attention_layernorm": (width,),
            "mlp.gate_proj": (forward, width),
            "mlp.up_proj": (forward, width),
            "mlp.down_proj": (width, forward),
        }.items():
            shapes[f"layers.{layer}.{name}.weight"] = shape
    names = ["DFlashDraftModel"]
    if kind == "dspark":
        names = ["Qwen3DSparkModel"]
        shapes["markov_head.markov_w1.weight"] = (config["vocab_size"], 8)
        shapes["markov_head.markov_w2.weight"] = (config["vocab_size"], 8)
        shapes["confidence_head.proj.weight"] = (1, width + 8)
    about = {
        **{key: config[key] for key in KEYS if key in config},
        "architectures": names,
        "model_type": "qwen3",
        "num_hidden_layers": layers,
        "head_dim": size,
        "rope_theta": 10_000.0,
        "rms_norm_eps": 1e-5,
        "block_size": block,
        "dflash_config": {"mask_token_id": 7, "target_layer_ids": [0, 2]},
    }
    return _write(folder, about, _made(shapes, seed), "model.safetensors")


def make_mtp(target: Path, folder: Path, seed: int = 0) -> Path:
    """Layers for drafting of a tiny Qwen3.5."""
    config = _config(target)
    kinds = importlib.import_module("mlx_lm.models.qwen3_5")
    arguments = kinds.TextModelArgs.from_dict(config | {"full_attention_interval": 1})
    layer = dict(tree_flatten(kinds.DecoderLayer(arguments, 0).parameters()))
    width = config["hidden_size"]
    shapes: dict[str, tuple[int, ...]] = {
        f"layers.0.{name}": tuple(array.shape) for name, array in layer.items()
    }
    shapes |= {"fc.weight": (width, 2 * width), "norm.weight": (width,)}
    shapes |= {f"pre_fc_norm_{name}.weight": (width,) for name in ("embedding", "hidden")}
    about = {"model_type": "qwen3_5_mtp", "text_config": config | {"mtp_num_hidden_layers": 1}}
    return _write(folder, about, _made(shapes, seed), "model.safetensors")


def _write(folder: Path, config: dict[str, Any], weights: dict[str, mx.array], name: str) -> Path:
    folder.mkdir(parents=True)
    (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    mx.save_safetensors(str(folder / name), weights)
    return folder
