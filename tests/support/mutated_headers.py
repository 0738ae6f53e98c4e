"""Heads of GGUF files with some bytes that are others."""

from __future__ import annotations

import random
from pathlib import Path

from headstart.core.models.ref import ModelRef
from tests.models.tiny import make_tiny

FAMILIES = ("llama", "gemma3", "qwen35", "nemotron_h")
_EXTREMES = (0, 1, 0x7F, 0x80, 0xFF)


def sound(starter: ModelRef, folder: Path) -> list[Path]:
    return [make_tiny(family, starter.path, folder / f"{family}.gguf") for family in FAMILIES]


def mutated(source: Path, target: Path, chance: random.Random) -> Path:
    """Some bytes of the head are others: in the fields, in a number, or in the list of tensors.
    The arrays of the vocabulary, most of the head, are seldom hit."""
    data = bytearray(source.read_bytes())
    end = data.rfind(b".weight") + 64
    begin = data.find(b"tokenizer.ggml")
    after = data.rfind(b"tokenizer.")
    for _ in range(chance.choice((1, 1, 2, 5, 20))):
        first, last = chance.choice(((4, begin), (4, begin), (after, end), (4, end)))
        at = chance.randrange(first, last)
        if chance.random() < 0.3:
            size = chance.choice((1, 2, 4, 8))
            data[at : at + size] = bytes([chance.choice(_EXTREMES)]) * size
        else:
            data[at] = chance.choice((chance.randrange(256), *_EXTREMES))
    target.write_bytes(data)
    return target
