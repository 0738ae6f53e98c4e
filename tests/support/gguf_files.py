"""Small GGUF files with the heads of larger models: for what reads heads only."""

from __future__ import annotations

import random
import struct
from collections.abc import Mapping, Sequence

_TEXT, _ARRAY, _COUNT, _FLOAT, _INT = 8, 9, 4, 6, 5


def _text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def _value(value: object) -> bytes:
    if isinstance(value, str):
        return struct.pack("<I", _TEXT) + _text(value)
    if isinstance(value, float):
        return struct.pack("<If", _FLOAT, value)
    if isinstance(value, int):
        return struct.pack("<II", _COUNT, value)
    assert isinstance(value, Sequence)
    if value and isinstance(value[0], int):
        numbers = struct.pack(f"<{len(value)}i", *value)
        return struct.pack("<IIQ", _ARRAY, _INT, len(value)) + numbers
    items = [_text(item) for item in value if isinstance(item, str)]
    return struct.pack("<IIQ", _ARRAY, _TEXT, len(items)) + b"".join(items)


def make_gguf(
    metadata: Mapping[str, object] | None = None,
    vocabulary: int = 300,
    weights: int = 64 << 10,
    seed: int = 0,
) -> bytes:
    """A llama with one tensor of so many bytes of noise; `metadata` is added or replaces."""
    said: dict[str, object] = {
        "general.architecture": "llama",
        "general.name": "Small",
        "llama.block_count": 4,
        "llama.context_length": 8192,
        "llama.embedding_length": 256,
        "llama.feed_forward_length": 1024,
        "llama.attention.head_count": 8,
        "llama.attention.head_count_kv": 2,
        **(metadata or {}),
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.tokens": [f"t{number}" for number in range(vocabulary)],
    }
    head = b"GGUF" + struct.pack("<IQQ", 3, 1, len(said))
    for key, value in said.items():
        head += _text(key) + _value(value)
    head += _text("blk.0.weight") + struct.pack("<IQIQ", 1, weights // 4, 0, 0)
    head += b"\0" * (-len(head) % 32)
    return head + random.Random(seed).randbytes(weights // 4 * 4)
