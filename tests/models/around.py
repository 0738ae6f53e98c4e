"""Tiny models with random weights around a real vocabulary of any size.

A vocabulary's fields are copied as bytes: a quarter of a million tokens would take seconds to
read and to write one by one.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gguf
import numpy as np

from tests.models.llama_source import vocabulary

_WIDTH, _FORWARD, _HEADS = 32, 64, 1
_ALIGNMENT = 32
_SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
_STRING, _ARRAY = 8, 9


def make_around(name: str, target: Path, template: str | None = None) -> Path:
    """A model of one layer with the vocabulary `name`, and `template` as its chat template."""
    data = vocabulary(name).read_bytes()
    fields = {key: data[start:end] for key, start, end in _fields(data)}
    kept = [
        entry
        for key, entry in fields.items()
        if key.startswith("tokenizer.") and key != "tokenizer.chat_template"
    ]
    tokens = _length(fields["tokenizer.ggml.tokens"])
    values: dict[str, Any] = {
        "general.architecture": "llama",
        "general.name": f"Tiny {name}",
        "llama.vocab_size": tokens,
        "llama.context_length": 8192,
        "llama.embedding_length": _WIDTH,
        "llama.feed_forward_length": _FORWARD,
        "llama.block_count": 1,
        "llama.attention.head_count": _HEADS,
        "llama.attention.layer_norm_rms_epsilon": 1e-5,
    }
    if template is not None:
        values["tokenizer.chat_template"] = template
    entries = [_entry(key, value) for key, value in values.items()] + kept
    tensors = _tensors(tokens)
    head = struct.pack("<4sIQQ", b"GGUF", 3, len(tensors), len(entries)) + b"".join(entries)
    at, infos = 0, b""
    for title, array in tensors.items():
        kind = 1 if array.dtype == np.float16 else 0
        shape = array.shape[::-1]
        infos += _string(title) + struct.pack(f"<I{len(shape)}QIQ", len(shape), *shape, kind, at)
        at += -(-array.nbytes // _ALIGNMENT) * _ALIGNMENT
    with target.open("wb") as file:
        file.write(head + infos)
        for array in tensors.values():
            file.write(bytes(-file.tell() % _ALIGNMENT))
            file.write(array.tobytes())
        file.write(bytes(-file.tell() % _ALIGNMENT))
    return target


def _tensors(tokens: int) -> dict[str, np.ndarray[Any, Any]]:
    source = np.random.default_rng(0)

    def matrix(rows: int, columns: int) -> np.ndarray[Any, Any]:
        return (source.standard_normal((rows, columns), np.float32) / 6).astype(np.float16)

    ones = np.ones(_WIDTH, np.float32)
    return {
        "token_embd.weight": matrix(tokens, _WIDTH),
        "output_norm.weight": ones,
        "blk.0.attn_norm.weight": ones,
        "blk.0.attn_q.weight": matrix(_WIDTH, _WIDTH),
        "blk.0.attn_k.weight": matrix(_WIDTH, _WIDTH),
        "blk.0.attn_v.weight": matrix(_WIDTH, _WIDTH),
        "blk.0.attn_output.weight": matrix(_WIDTH, _WIDTH),
        "blk.0.ffn_norm.weight": ones,
        "blk.0.ffn_gate.weight": matrix(_FORWARD, _WIDTH),
        "blk.0.ffn_up.weight": matrix(_FORWARD, _WIDTH),
        "blk.0.ffn_down.weight": matrix(_WIDTH, _FORWARD),
    }


def _fields(data: bytes) -> Iterator[tuple[str, int, int]]:
    """Each field's key, and where its bytes begin and end."""
    count, at = struct.unpack_from("<Q", data, 16)[0], 24
    for _ in range(count):
        start = at
        key, at = _read_string(data, at)
        (kind,) = struct.unpack_from("<I", data, at)
        at = _skip(data, at + 4, kind)
        yield key, start, at


def _skip(data: bytes, at: int, kind: int) -> int:
    if kind == _STRING:
        return at + 8 + int(struct.unpack_from("<Q", data, at)[0])
    if kind == _ARRAY:
        inner, length = struct.unpack_from("<IQ", data, at)
        at += 12
        if inner in _SIZES:
            return at + _SIZES[inner] * int(length)
        for _ in range(length):
            at = _skip(data, at, inner)
        return at
    return at + _SIZES[kind]


def _length(entry: bytes) -> int:
    _, at = _read_string(entry, 0)
    return int(struct.unpack_from("<Q", entry, at + 8)[0])


def _entry(key: str, value: Any) -> bytes:
    start = _string(key)
    if isinstance(value, str):
        return start + struct.pack("<I", _STRING) + _string(value)
    if isinstance(value, int):
        return start + struct.pack("<II", gguf.GGUFValueType.UINT32, value)
    return start + struct.pack("<If", gguf.GGUFValueType.FLOAT32, value)


def _string(text: str) -> bytes:
    data = text.encode()
    return struct.pack("<Q", len(data)) + data


def _read_string(data: bytes, at: int) -> tuple[str, int]:
    (size,) = struct.unpack_from("<Q", data, at)
    end = at + 8 + size
    return data[at + 8 : end].decode("utf-8", "replace"), end
