"""Drafts made from a real model: fewer layers, another vocabulary, renamed or added tokens.

Nothing is quantized again: every tensor is copied byte for byte, and where the vocabulary changes
only whole rows move. So a draft's speech is the source's own, and what differs is exactly what
the name of the function says. The lower half reads and writes GGUF files for `tiny.py` too.
"""

from __future__ import annotations

import functools
import re
import struct
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import numpy.typing as npt

TOKENS = "tokenizer.ggml.tokens"
TOKEN_TYPES = "tokenizer.ggml.token_type"
MERGES = "tokenizer.ggml.merges"

_HEADS = ("token_embd.weight", "output.weight")  # one row per token
_PER_LAYER = (".attention.head_count", ".attention.head_count_kv", ".feed_forward_length")
_ROWS = 64  # the CPU's packed kernels want the rows in groups; an odd count runs slower


def drop_layers(source: Path, target: Path, layers: Collection[int]) -> Path:
    """The same model without `layers`; those behind them move up.

    Where a number says which layers are of which kind, the kept ones must still fit it.
    """
    model = read_gguf(source)
    count = int(model.fields[f"{model.architecture}.block_count"].value)
    kept = [layer for layer in range(count) if layer not in layers]
    if len(kept) + len(set(layers)) != count:
        raise ValueError(f"the model has the layers 0 to {count - 1}, not {sorted(layers)}")
    moved = {old: new for new, old in enumerate(kept)}
    tensors: dict[str, Tensor] = {}
    for name, tensor in model.tensors.items():
        inside = re.fullmatch(r"blk\.(\d+)\.(.+)", name)
        if inside is None:
            tensors[name] = tensor
        elif (new := moved.get(int(inside[1]))) is not None:
            tensors[f"blk.{new}.{inside[2]}"] = tensor
    changes: dict[str, Any] = {f"{model.architecture}.block_count": len(kept)}
    for key, field in model.fields.items():
        # hybrids say for each layer how many heads there are
        if key.endswith(_PER_LAYER) and isinstance(field.value, list):
            changes[key] = [field.value[layer] for layer in kept]
            if key.endswith("head_count_kv") and not any(changes[key]):
                raise ValueError("without an attention layer, llama.cpp ends the process")
    name = f"{len(kept)} of {count} layers"
    return write_gguf(target, model.architecture, _changed(model, name, changes), tensors)


def other_vocabulary(
    source: Path, target: Path, dropped: float = 0.2, permute: bool = True, seed: int = 0
) -> Path:
    """The same model, with fewer tokens under other ids: the same text is other tokens.

    The last merges go, at least this share of them. A merge only joins what earlier ones made,
    so the rest still build each token that stays.
    """
    model = read_gguf(source)
    tokens: list[str] = model.fields[TOKENS].value
    merges: list[str] = model.fields[MERGES].value
    remaining = int(len(merges) * (1 - dropped))
    remaining -= (len(tokens) - len(merges) + remaining) % _ROWS
    made = [merge.replace(" ", "", 1) for merge in merges]
    gone = set(made[remaining:]) - set(made[:remaining])
    kept = np.array([old for old, token in enumerate(tokens) if token not in gone])
    if permute:
        kept = np.random.default_rng(seed).permutation(kept)
    moved = {int(old): new for new, old in enumerate(kept)}
    changes: dict[str, Any] = {MERGES: merges[:remaining]}
    for key, field in model.fields.items():
        if key.endswith("_token_id"):
            changes[key] = moved[field.value]
        elif key.endswith(".vocab_size"):
            changes[key] = len(kept)
        elif key.startswith("tokenizer.") and key != MERGES and _is_long(field, len(tokens)):
            changes[key] = [field.value[old] for old in kept]
    tensors = dict(model.tensors)
    for name in _HEADS:
        if name in tensors:
            data, kind = tensors[name]
            tensors[name] = data[kept], kind
    fields = _changed(model, f"{len(kept)} of {len(tokens)} tokens", changes)
    return write_gguf(target, model.architecture, fields, tensors)


def renamed_tokens(source: Path, target: Path, ids: Sequence[int]) -> Path:
    """The same model, but the tokens `ids` stand for a text that no merge makes."""
    model = read_gguf(source)
    tokens = list(model.fields[TOKENS].value)
    for token in ids:
        tokens[token] = f"\u0120zz{token}"
    fields = _changed(model, f"{len(ids)} tokens renamed", {TOKENS: tokens})
    return write_gguf(target, model.architecture, fields, model.tensors)


def padded_vocabulary(source: Path, target: Path, extra: int) -> Path:
    """The same model with `extra` unused tokens behind the others; their rows are zero."""
    model = read_gguf(source)
    count = len(model.fields[TOKENS].value)
    changes: dict[str, Any] = {f"{model.architecture}.vocab_size": count + extra}
    changes[TOKENS] = model.fields[TOKENS].value + [f"[PAD{count + n}]" for n in range(extra)]
    unused = int(gguf.TokenType.UNUSED)
    changes[TOKEN_TYPES] = model.fields[TOKEN_TYPES].value + [unused] * extra
    tensors = dict(model.tensors)
    for name in _HEADS:
        if name in tensors:
            data, kind = tensors[name]
            # a block of zero bytes has the scale zero in each of the formats
            rows = np.zeros((extra, data.shape[1]), data.dtype)
            tensors[name] = np.concatenate([data, rows]), kind
    fields = _changed(model, f"{extra} tokens added", changes)
    return write_gguf(target, model.architecture, fields, tensors)


Tensor = tuple[npt.NDArray[Any], Any]
"""The data as the file has it (bytes where quantized) and its GGMLQuantizationType."""


@dataclass(frozen=True, slots=True)
class Field:
    """A metadata value; `inner` is the type of an array's elements."""

    value: Any
    kind: Any
    inner: Any = None


@dataclass(frozen=True, slots=True)
class Model:
    """A GGUF file's content. It is shared between callers: copy before changing."""

    architecture: str
    fields: Mapping[str, Field]
    tensors: Mapping[str, Tensor]


def read_gguf(path: Path) -> Model:
    """Read `path`, once per version of the file."""
    state = path.stat()
    return _read(path, state.st_mtime_ns, state.st_size)


def write_gguf(
    target: Path, architecture: str, fields: Mapping[str, Field], tensors: Mapping[str, Tensor]
) -> Path:
    partial = target.with_suffix(".partial")
    writer = gguf.GGUFWriter(partial, architecture)
    for key, field in fields.items():
        writer.add_key_value(key, field.value, field.kind, field.inner)
    for name, (data, kind) in tensors.items():
        writer.add_tensor(name, data, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    partial.replace(target)
    return target


_ITS_PARTS = vars(gguf.GGUFReader)["_get_field_parts"]


class Reader(gguf.GGUFReader):  # type: ignore[misc]
    """Reads lists at once: the library goes through 50,000 tokens in 4 s, one array each."""

    def _get_field_parts(self, orig_offs: int, raw_type: int) -> tuple[int, Any, Any, Any]:
        if raw_type != gguf.GGUFValueType.ARRAY:
            found: tuple[int, Any, Any, Any] = _ITS_PARTS(self, orig_offs, raw_type)
            return found
        view, at = memoryview(self.data), orig_offs + 12
        kind, count = struct.unpack("<IQ", view[orig_offs:at])
        types = [gguf.GGUFValueType.ARRAY, gguf.GGUFValueType(kind)]
        if kind != gguf.GGUFValueType.STRING:
            whole = np.frombuffer(view, self.gguf_scalar_to_np[types[1]], count, at)
            return 12 + whole.nbytes, [whole], [0], types
        texts = []
        for _ in range(count):
            size = int.from_bytes(view[at : at + 8], "little")
            texts.append(view[at + 8 : at + 8 + size])
            at += 8 + size
        return at - orig_offs, texts, list(range(count)), types


@functools.lru_cache(maxsize=4)
def _read(path: Path, modified: int, size: int) -> Model:
    prefiller = Reader(path)
    fields: dict[str, Field] = {}
    for key, field in prefiller.fields.items():
        # the writer makes these itself
        if key.startswith("GGUF.") or key == "general.architecture":
            continue
        kind = field.types[0]
        inner = field.types[-1] if kind is gguf.GGUFValueType.ARRAY else None
        fields[key] = Field(field.contents(), kind, inner)
    architecture = str(prefiller.fields["general.architecture"].contents())
    tensors = {tensor.name: (tensor.data, tensor.tensor_type) for tensor in prefiller.tensors}
    return Model(architecture, fields, tensors)


def _is_long(field: Field, length: int) -> bool:
    return isinstance(field.value, list) and len(field.value) == length


def _changed(model: Model, name: str, changes: Mapping[str, Any]) -> dict[str, Field]:
    """The model's metadata with `changes`; a key that the model lacks stays absent."""
    fields = {
        key: replace(field, value=changes[key]) if key in changes else field
        for key, field in model.fields.items()
    }
    label = fields["general.name"]
    fields["general.name"] = replace(label, value=f"{label.value}, {name}")
    return fields
