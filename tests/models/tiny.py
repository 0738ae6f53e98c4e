"""Tiny models with random weights, some for each kind of memory that llama.cpp keeps.

They say nonsense, quickly. What matters is that an attention cache, a sliding window, a recurrent
state or two of these together sit behind the same calls, and that each token depends on all that
came before it. A tensor's numbers come from its name and the seed alone, so that a model with
fewer layers is the beginning of the one with more: a draft that is sometimes right.

The vocabulary is the first part of SmolLM2's, with its merges, special tokens and chat template.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import gguf

from tests.models import tiny_layers as part
from tests.models.drafts import MERGES, TOKEN_TYPES, TOKENS, Field, read_gguf, write_gguf
from tests.models.tiny_layers import FEED_FORWARD, GROUPS, HEAD, HEADS, KV_HEADS, WIDTH, norm

VOCABULARY = 4096
UNMERGED = 252  # special tokens and bytes; the token UNMERGED + n is what merge n makes
WINDOW = 48 if part.SCALE == 1 else 512  # tokens that a sliding layer sees
SPREAD = 4.0  # of the logits: the likeliest of 4,096 tokens then has a few tenths
QUIET = 0.1  # of a special token's row: a reply is as long as its test lets it be


@dataclass(frozen=True, slots=True)
class Family:
    """How the models of one architecture are built."""

    memory: str  # "attention", "window", "recurrent" or "hybrid"
    kinds: tuple[tuple[part.Part, ...], ...]  # of layers, taking turns
    metadata: Mapping[str, Any] = field(default_factory=dict)  # the architecture's own
    # the keys that say for each layer how much it has of a part, zero where it lacks the part
    arrays: Mapping[str, part.Part] = field(default_factory=dict)
    ends: tuple[part.Part, ...] = (norm("output_norm"),)
    embedding: float = 1.0  # the size of what goes into the first layer
    scaled: bool = False  # gemma multiplies its embeddings
    tied: bool = False  # gemma2 has no head of its own
    layers: int = 4
    # of a layer behind the others that drafts
    drafting: tuple[part.Part, ...] = ()


def make_tiny(
    family: str,
    source: Path,
    target: Path,
    seed: int = 0,
    layers: int | None = None,
    blocks: bool = False,
    own_layers: int = 0,
    template: str = "",
) -> Path:
    """Write a model of `family` to `target` (3 MB), with the vocabulary of SmolLM2 at `source`.

    `blocks` as in `Weights`; `own_layers`: layers for drafting behind the others; `template`: a
    chat template in place of its own."""
    shape = (FAMILIES | SEEING | ASSISTED)[family]
    kinds = [shape.kinds[n % len(shape.kinds)] for n in range(layers or shape.layers)]
    if len(kinds) < min(2, len(shape.kinds)):
        raise ValueError(f"without an attention layer, llama.cpp ends the process: {family}")
    fields = _vocabulary(source)
    weights = part.Weights(seed, blocks)
    for layer, kind in enumerate(kinds):
        for add in kind:
            add(weights, f"blk.{layer}.")
    for layer in range(len(kinds), len(kinds) + own_layers):
        for add in shape.drafting:
            add(weights, f"blk.{layer}.")
    for add in shape.ends:
        add(weights, "")
    _add_vocabulary(weights, shape, fields[TOKEN_TYPES].value)
    values: dict[str, Any] = {
        "vocab_size": VOCABULARY,
        "context_length": 8192,
        "embedding_length": WIDTH,
        "feed_forward_length": FEED_FORWARD,
        "block_count": len(kinds) + own_layers,
        "attention.layer_norm_rms_epsilon": 1e-5,
        **shape.metadata,
    }
    if own_layers:
        values["nextn_predict_layers"] = own_layers
    for key, owner in shape.arrays.items():
        values[key] = [values[key] if owner in kind else 0 for kind in kinds]
    fields |= {f"{family}.{key}": _field(value) for key, value in values.items()}
    if template:
        key = "tokenizer.chat_template"
        fields[key] = replace(fields[key], value=template)
    fields["general.name"] = _field(f"Tiny {family}")
    fields["general.file_type"] = _field(int(gguf.LlamaFileType.MOSTLY_F16))
    return write_gguf(target, family, fields, weights.tensors)


_HEADS = {
    "attention.head_count": HEADS,
    "attention.head_count_kv": KV_HEADS,
    "attention.key_length": HEAD,
    "attention.value_length": HEAD,
    "rope.dimension_count": HEAD,
}
_NO_HEADS = {"attention.head_count": 0}
_STATE = {
    "ssm.conv_kernel": part.KERNEL,
    "ssm.inner_size": part.INNER,
    "ssm.state_size": part.STATE,
    "ssm.time_step_rank": part.STATE_HEADS,
    "ssm.group_count": GROUPS,
}
_SCAN = {"ssm.state_size": part.SCAN_STATE, "ssm.time_step_rank": part.SCAN_RANK}
_WINDOW = {"attention.sliding_window": WINDOW, "attention.sliding_window_pattern": 2}
_CAPS = {"attn_logit_softcapping": 50.0, "final_logit_softcapping": 30.0}
_SECTIONS = [11, 11, 10, 0]  # together half of a head
_LORA = dict.fromkeys(
    (f"attention.{use}_lora_rank" for use in ("decay", "iclr", "value_residual_mix", "gate")),
    part.LORA,
)

_FEED_FORWARD = (norm("ffn_norm"), part.feed_forward)
_LLAMA = (norm("attn_norm"), part.attention, *_FEED_FORWARD)
_GEMMA2 = (*_LLAMA, norm("post_attention_norm"), norm("post_ffw_norm"))
_QWEN35 = (norm("attn_norm"), norm("post_attention_norm"), part.feed_forward)
_SMALL = 0.2  # beside what the layers add, so that gemma2's tied head does not echo its input

FAMILIES: dict[str, Family] = {
    "llama": Family("attention", (_LLAMA,), _HEADS),
    "qwen3moe": Family(
        "attention",
        ((norm("attn_norm"), part.attention, *part.QK_NORMS, norm("ffn_norm"), part.experts),),
        _HEADS
        | {
            "expert_count": part.EXPERTS,
            "expert_used_count": part.USED,
            "expert_feed_forward_length": part.EXPERT,
        },
    ),
    "gemma3": Family(
        "window",
        ((*_GEMMA2, *part.QK_NORMS),),
        _HEADS | _WINDOW,
        embedding=_SMALL,
        scaled=True,
    ),
    "gemma2": Family(
        "window",
        (_GEMMA2,),
        _HEADS | _WINDOW | _CAPS,
        embedding=_SMALL,
        scaled=True,
        tied=True,
        # the head's rows are as small as the embeddings
        ends=(norm("output_norm", mean=SPREAD / _SMALL),),
    ),
    "mamba": Family("recurrent", ((norm("attn_norm"), part.mamba),), _NO_HEADS | _STATE | _SCAN),
    "mamba2": Family("recurrent", ((norm("attn_norm"), part.mamba2),), _NO_HEADS | _STATE),
    "rwkv7": Family(
        "recurrent",
        (
            (
                part.layer_norm("attn_norm"),
                part.time_mix,
                part.layer_norm("attn_norm_2"),
                part.channel_mix,
            ),
        ),
        _NO_HEADS
        | _LORA
        | {
            "attention.layer_norm_epsilon": 1e-5,
            "wkv.head_size": part.RWKV_HEAD,
            "token_shift_count": 2,
        },
        ends=(part.layer_norm("output_norm"), part.layer_norm("token_embd_norm")),
    ),
    "granitehybrid": Family(
        "hybrid",
        ((norm("attn_norm"), part.mamba2, *_FEED_FORWARD), _LLAMA),
        _HEADS | _STATE,
        arrays={"attention.head_count_kv": part.attention},
    ),
    "falcon-h1": Family(
        "hybrid",
        (
            (
                norm("attn_norm"),
                part.attention,
                part.mamba2,
                norm("ffn_norm", suffix=""),
                part.feed_forward,
            ),
        ),
        _HEADS | _STATE,
    ),
    "lfm2": Family(
        "hybrid",
        (
            (norm("attn_norm"), part.short_convolution, *_FEED_FORWARD),
            (*_LLAMA, *part.QK_NORMS),
        ),
        _HEADS | {"shortconv.l_cache": part.KERNEL},
        arrays={"attention.head_count_kv": part.attention},
        ends=(norm("token_embd_norm"),),
    ),
    "qwen35": Family(
        "hybrid",
        ((*_QWEN35, part.delta_rule), (*_QWEN35, part.gated_attention, *part.QK_NORMS)),
        _HEADS
        | _STATE
        | {
            "ssm.inner_size": part.DELTA,
            "full_attention_interval": 2,
            "rope.dimension_sections": _SECTIONS,
        },
        drafting=(*_QWEN35, part.gated_attention, *part.QK_NORMS, part.next_token),
    ),
    "nemotron_h": Family(
        "hybrid",
        (
            (norm("attn_norm"), part.mamba2),
            (norm("attn_norm"), part.attention),
            (norm("attn_norm"), part.squared_feed_forward),
        ),
        _HEADS | _STATE | {"attention.layer_norm_epsilon": 1e-5},
        arrays={
            "attention.head_count_kv": part.attention,
            "feed_forward_length": part.squared_feed_forward,
        },
        layers=6,
    ),
}


_HY_V3 = (*_LLAMA, *part.QK_NORMS)
# a model with assistants, and one with several layers for drafting
ASSISTED = {
    "hy_v3": Family(
        "attention",
        (_HY_V3,),
        _HEADS | {"expert_feed_forward_length": part.EXPERT},
        drafting=(*_HY_V3, part.next_token),
    ),
    "gemma4": Family(
        "window",
        ((*_GEMMA2, *part.QK_NORMS),),
        _HEADS
        | {
            "attention.sliding_window": WINDOW,
            "attention.sliding_window_pattern": [True, False, True, False],
            "attention.key_length_swa": HEAD,
            "attention.value_length_swa": HEAD,
            "embedding_length_per_layer_input": 0,
            "rope.dimension_count_swa": HEAD,
        },
        embedding=_SMALL,
        scaled=True,
        ends=(norm("output_norm"), norm("rope_freqs", HEAD // 2)),
    ),
}

# of models with vision, what no other family has: positions by row and column of an image
SEEING = {
    "qwen2vl": Family("attention", (_LLAMA,), _HEADS | {"rope.dimension_sections": _SECTIONS}),
}


def _vocabulary(source: Path) -> dict[str, Field]:
    """The source's tokenizer and chat template, cut to the first tokens."""
    cut = {TOKENS: VOCABULARY, TOKEN_TYPES: VOCABULARY, MERGES: VOCABULARY - UNMERGED}
    return {
        key: replace(entry, value=entry.value[: cut[key]]) if key in cut else entry
        for key, entry in read_gguf(source).fields.items()
        if key.startswith("tokenizer.")
    }


def _add_vocabulary(weights: part.Weights, shape: Family, types: list[int]) -> None:
    special = [token for token, kind in enumerate(types) if kind == gguf.TokenType.CONTROL]
    size = shape.embedding / (math.sqrt(WIDTH) if shape.scaled else 1.0)
    names = {"token_embd.weight": size}
    if not shape.tied:
        # a tied head would mostly say again what it just read
        names["output.weight"] = SPREAD / math.sqrt(WIDTH)
    for name, scale in names.items():
        rows = weights.normal(name, VOCABULARY, WIDTH) * scale
        if shape.tied or name == "output.weight":
            rows[special] *= QUIET
        weights.half(name, rows)


def _field(value: Any) -> Field:
    if isinstance(value, list) and isinstance(value[0], bool):
        return Field(value, gguf.GGUFValueType.ARRAY, gguf.GGUFValueType.BOOL)
    if isinstance(value, list):
        return Field(value, gguf.GGUFValueType.ARRAY, gguf.GGUFValueType.UINT32)
    if isinstance(value, int):
        return Field(value, gguf.GGUFValueType.UINT32)
    return Field(value, gguf.GGUFValueType.get_type(value))


if __name__ == "__main__":
    _, wanted, vocabulary, path, depth = sys.argv
    make_tiny(wanted, Path(vocabulary), Path(path), layers=int(depth))
