"""Facts of a model before it is loaded: its vocabulary and its card."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct

from headstart.core.models.fit import ModelShape
from headstart.core.models.ref import ModelRef

CacheKind = Literal["full", "window", "recurrent", "hybrid"]


class Vocabulary(Struct, frozen=True):
    """The tokens of a model. `texts` are the bytes of each token, by id."""

    kind: str  # the tokenizer's family: bpe, spm, ...
    texts: tuple[bytes, ...]
    begin: int | None = None
    end: int | None = None


class ModelCard(Struct, frozen=True):
    """A model as its file describes it."""

    model: ModelRef
    architecture: str
    cache: CacheKind
    context_length: int
    # the numbers that decide its memory
    shape: ModelShape
    vocabulary_size: int
    vocabulary: Vocabulary

    @property
    def kv_bytes_per_token(self) -> int:
        """Bytes of f16 keys and values for each token of context; recurrent states are small."""
        return 2 * (self.shape.keys + self.shape.values)


def spelled(kind: str, text: bytes) -> bytes:
    """The bytes of a token, decoded from its spelling in the file.

    Byte-level BPE writes every byte as a printable character (GPT-2's table); SentencePiece
    writes a space as U+2581 and lone bytes as <0xNN>.
    """
    if kind == "bpe":
        table = _byte_level()
        try:
            return bytes(table[character] for character in text.decode("utf-8"))
        except (KeyError, UnicodeDecodeError):
            return text
    if kind in ("spm", "ugm"):
        if _LONE_BYTE.fullmatch(text):
            return bytes([int(text[3:5], 16)])
        return text.replace("\u2581".encode(), b" ")
    return text


def tokenizer_kind(tokenizer: Mapping[str, Any]) -> str:
    """The family of a `tokenizer.json`, under the name that GGUF files use for it."""
    model = tokenizer.get("model") or {}
    kind = model.get("type") or ("BPE" if "merges" in model else "")
    if kind == "BPE":
        parts = (tokenizer.get(part) for part in ("pre_tokenizer", "decoder"))
        return "bpe" if any("ByteLevel" in str(part) for part in parts) else "spm"
    return {"Unigram": "ugm", "WordPiece": "wpm"}.get(kind, "other")


_LONE_BYTE = re.compile(rb"<0x[0-9A-Fa-f]{2}>")


@functools.cache
def _byte_level() -> dict[str, int]:
    """GPT-2's characters for bytes: printable ones stand for themselves, others lie above 255."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    table = {chr(byte): byte for byte in printable}
    others = (byte for byte in range(256) if byte not in set(printable))
    table |= {chr(256 + index): byte for index, byte in enumerate(others)}
    return table
