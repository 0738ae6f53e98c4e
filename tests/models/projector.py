"""Tiny projectors with random weights: what makes a tiny model see.

What they say of an image is nonsense, but other nonsense for each image, and it goes the way that
real ones go: `gemma3` gives 16 tokens that are read without the causal mask, `qwen2vl_merger` gives
as many tokens as the image is large, in fewer positions than tokens. `idefics3` needs words that
the tiny models' vocabulary lacks.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import gguf

from tests.models.drafts import Field, write_gguf
from tests.models.tiny_layers import WIDTH, Weights

# of the images; of the vision model's rows
_SIZE, _PATCH, _WIDE = 32, 4, 32


def make_projector(kind: str, target: Path, seed: int = 0, width: int = WIDTH) -> Path:
    """Write a projector of `kind` for models that are `width` wide to `target` (0.1 MB)."""
    weights = Weights(seed)
    shape = (_WIDE, 3, _PATCH, _PATCH)
    weights.around("v.patch_embd.weight", 0.0, 0.2, *shape)
    if kind != "qwen2vl_merger":
        weights.around("v.patch_embd.bias", 0.0, 0.1, _WIDE)
        positions = (_SIZE // _PATCH) ** 2
        weights.around("v.position_embd.weight", 0.0, 0.5, positions, _WIDE)
    if kind == "gemma3":
        weights.matrix("mm.input_projection.weight", _WIDE, width)
        weights.around("mm.soft_emb_norm.weight", 1.0, 0.1, _WIDE)
    elif kind == "idefics3":
        weights.matrix("mm.model.fc.weight", width, 4 * _WIDE)
    else:
        weights.around("v.patch_embd.weight.1", 0.0, 0.2, *shape)
        joined = 4 * _WIDE
        weights.matrix("mm.0.weight", joined, joined)
        weights.around("mm.0.bias", 0.0, 0.1, joined)
        weights.matrix("mm.2.weight", width, joined)
        weights.around("mm.2.bias", 0.0, 0.1, width)
    for name, rows, columns in (
        ("attn_q", _WIDE, _WIDE),
        ("attn_k", _WIDE, _WIDE),
        ("attn_v", _WIDE, _WIDE),
        ("attn_out", _WIDE, _WIDE),
        ("ffn_up", 2 * _WIDE, _WIDE),
        ("ffn_down", _WIDE, 2 * _WIDE),
    ):
        weights.matrix(f"v.blk.0.{name}.weight", rows, columns)
        weights.around(f"v.blk.0.{name}.bias", 0.0, 0.1, rows)
    for name in ("v.blk.0.ln1", "v.blk.0.ln2", "v.post_ln"):
        weights.around(f"{name}.weight", 1.0, 0.1, _WIDE)
        weights.around(f"{name}.bias", 0.0, 0.1, _WIDE)
    values: dict[str, Any] = {
        "has_vision_encoder": True,
        "projector_type": kind,
        "use_gelu": True,
        "vision.embedding_length": _WIDE,
        "vision.feed_forward_length": 2 * _WIDE,
        "vision.block_count": 1,
        "vision.projection_dim": width,
        "vision.image_size": _SIZE,
        "vision.patch_size": _PATCH,
        "vision.attention.head_count": 1,
        "vision.attention.layer_norm_epsilon": 1e-6,
        "vision.image_mean": [0.5, 0.5, 0.5],
        "vision.image_std": [0.5, 0.5, 0.5],
        "vision.projector.scale_factor": 2,
    }
    fields = {f"clip.{key}": _field(value) for key, value in values.items()}
    fields["general.type"] = _field("mmproj")
    fields["general.name"] = _field(f"Tiny {kind}")
    return write_gguf(target, "clip", fields, weights.tensors)


def _field(value: Any) -> Field:
    kind = gguf.GGUFValueType
    if isinstance(value, list):
        return Field(value, kind.ARRAY, kind.FLOAT32)
    if isinstance(value, bool):
        return Field(value, kind.BOOL)
    return Field(value, kind.UINT32 if isinstance(value, int) else kind.get_type(value))
