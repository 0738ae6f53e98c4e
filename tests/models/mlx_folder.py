"""An MLX model folder made from a GGUF file of the llama architecture: the same weights.

`mx.load` reads tensors in Q4_0, Q4_1 and Q8_0 as MLX's own quantized ones (groups of 32), bit
for bit; they only need mlx-lm's names. GGUF stores the rows of q and k in the order of
traditional rotary positions, which the configuration says. The tokenizer is built again from
the file's tokens and merges.
"""

from __future__ import annotations

from tests.support import needs_mlx  # noqa: F401

# isort: split
import functools
import json
from collections import Counter
from pathlib import Path
from typing import Any, Literal

import mlx.core as mx
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

from tests.models.drafts import Reader

GROUP = 32
_NAMES = {
    "token_embd": "model.embed_tokens",
    "output_norm": "model.norm",
    "output": "lm_head",
    "attn_norm": "input_layernorm",
    "ffn_norm": "post_attention_layernorm",
    "attn_q": "self_attn.q_proj",
    "attn_k": "self_attn.k_proj",
    "attn_v": "self_attn.v_proj",
    "attn_output": "self_attn.o_proj",
    "ffn_gate": "mlp.gate_proj",
    "ffn_up": "mlp.up_proj",
    "ffn_down": "mlp.down_proj",
}


def make_mlx(
    source: Path,
    target: Path,
    *,
    bits: int | Literal["stored"] | None = "stored",
    layers: int | None = None,
    shards: int = 1,
) -> Path:
    """Write the model at `source` to the folder `target`.

    `bits`: of every weight, quantized again where the file has others; "stored" keeps what the
    file has, None makes float32 weights.
    `layers`: only the first so many, a draft that is often wrong. `shards`: in how many files.
    """
    prefiller = read_gguf(source)
    count = int(_value(prefiller, "llama.block_count"))
    kept = min(layers or count, count)
    weights = _weights(source, bits, kept)
    target.mkdir(parents=True, exist_ok=True)
    _write_shards(weights, target, shards)
    config = _config(prefiller, weights, kept)
    (target / "config.json").write_text(json.dumps(config, indent=1), encoding="utf-8")
    write_tokenizer(prefiller, target)
    return target


@functools.cache
def read_gguf(source: Path) -> Any:
    """The reader of a file; kept, because reading a header takes half a second."""
    return Reader(source)


def _weights(source: Path, bits: int | str | None, layers: int) -> dict[str, mx.array]:
    loaded: dict[str, mx.array] = mx.load(str(source), format="gguf")  # type: ignore[assignment]
    found: dict[str, mx.array] = {}
    for name in loaded:
        stem, _, what = name.rpartition(".")
        if what != "weight":
            continue
        block, _, own = stem.rpartition(".")
        if block and int(block.removeprefix("blk.")) >= layers:
            continue
        path = f"{block.replace('blk', 'model.layers')}." if block else ""
        parts = (loaded.get(f"{stem}.{part}") for part in ("weight", "scales", "biases"))
        found |= _tensor(f"{path}{_NAMES[own]}", *parts, bits=bits)
    return found


def _tensor(
    name: str,
    weight: mx.array | None,
    scales: mx.array | None,
    biases: mx.array | None,
    *,
    bits: int | str | None,
) -> dict[str, mx.array]:
    assert weight is not None
    if scales is None or biases is None:
        plain = weight.astype(mx.float32)
        if not isinstance(bits, int) or weight.ndim < 2:
            return {f"{name}.weight": plain}
    else:
        stored = _bits(weight, scales)
        if bits in (stored, "stored"):
            return {f"{name}.weight": weight, f"{name}.scales": scales, f"{name}.biases": biases}
        plain = mx.dequantize(weight, scales, biases, GROUP, stored).astype(mx.float32)
        if not isinstance(bits, int):
            return {f"{name}.weight": plain}
    packed, scales, biases = mx.quantize(plain, GROUP, bits)
    half = (scales.astype(mx.float16), biases.astype(mx.float16))
    return {f"{name}.weight": packed, f"{name}.scales": half[0], f"{name}.biases": half[1]}


def _bits(weight: mx.array, scales: mx.array) -> int:
    return weight.shape[-1] * 32 // (scales.shape[-1] * GROUP)


def _write_shards(weights: dict[str, mx.array], target: Path, shards: int) -> None:
    names = sorted(weights)
    if shards == 1:
        mx.save_safetensors(str(target / "model.safetensors"), weights, {"format": "mlx"})
        return
    index: dict[str, str] = {}
    for shard in range(shards):
        file = f"model-{shard + 1:05}-of-{shards:05}.safetensors"
        part = {name: weights[name] for name in names[shard::shards]}
        mx.save_safetensors(str(target / file), part, {"format": "mlx"})
        index |= dict.fromkeys(part, file)
    size = sum(array.nbytes for array in weights.values())
    (target / "model.safetensors.index.json").write_text(
        json.dumps({"metadata": {"total_size": size}, "weight_map": index}), encoding="utf-8"
    )


def _config(prefiller: Any, weights: dict[str, mx.array], layers: int) -> dict[str, Any]:
    def number(key: str) -> float:
        return float(_value(prefiller, f"llama.{key}"))

    config: dict[str, Any] = {
        "model_type": "llama",
        "architectures": ["LlamaForCausalLM"],
        "hidden_size": int(number("embedding_length")),
        "intermediate_size": int(number("feed_forward_length")),
        "num_hidden_layers": layers,
        "num_attention_heads": int(number("attention.head_count")),
        "num_key_value_heads": int(number("attention.head_count_kv")),
        "rms_norm_eps": number("attention.layer_norm_rms_epsilon"),
        "max_position_embeddings": int(number("context_length")),
        "vocab_size": len(_value(prefiller, "tokenizer.ggml.tokens")),
        "rope_theta": number("rope.freq_base"),
        "rope_traditional": True,
        "tie_word_embeddings": "lm_head.weight" not in weights,
        "bos_token_id": int(_value(prefiller, "tokenizer.ggml.bos_token_id")),
        "eos_token_id": int(_value(prefiller, "tokenizer.ggml.eos_token_id")),
    }
    every = {
        name.removesuffix(".scales"): _bits(weights[name.replace(".scales", ".weight")], scales)
        for name, scales in weights.items()
        if name.endswith(".scales")
    }
    if every:
        usual = Counter(every.values()).most_common(1)[0][0]
        others = {
            name: {"group_size": GROUP, "bits": own} for name, own in every.items() if own != usual
        }
        config["quantization"] = {"group_size": GROUP, "bits": usual, **others}
    return config


def write_tokenizer(prefiller: Any, target: Path, most: int | None = None) -> None:
    """The tokenizer of a GGUF file as a folder has it; `most`: only the first so many tokens."""
    texts = _value(prefiller, "tokenizer.ggml.tokens")[:most]
    kinds = _value(prefiller, "tokenizer.ggml.token_type")[:most]
    known = set(texts)
    merges = [tuple(merge.split(" ")) for merge in _value(prefiller, "tokenizer.ggml.merges")]
    merges = [merge for merge in merges if "".join(merge) in known and known.issuperset(merge)]
    tokenizer = Tokenizer(models.BPE({text: i for i, text in enumerate(texts)}, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Digits(individual_digits=True),
            pre_tokenizers.ByteLevel(add_prefix_space=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    control = [text for text, kind in zip(texts, kinds, strict=True) if kind == 3]
    tokenizer.add_special_tokens([AddedToken(text, normalized=False) for text in control])
    tokenizer.save(str(target / "tokenizer.json"))
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": texts[int(_value(prefiller, "tokenizer.ggml.bos_token_id"))],
        "eos_token": texts[int(_value(prefiller, "tokenizer.ggml.eos_token_id"))],
        "chat_template": _value(prefiller, "tokenizer.chat_template"),
    }
    (target / "tokenizer_config.json").write_text(json.dumps(config, indent=1), encoding="utf-8")


def _value(prefiller: Any, key: str) -> Any:
    return prefiller.fields[key].contents()
