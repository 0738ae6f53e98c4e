"""An encoder over bytes with a template's marks as special tokens: prompts without a model."""

from __future__ import annotations

import re
from collections.abc import Collection

import msgspec
import numpy as np

from headstart.engine.decoder import SpecialToken
from headstart.engine.prompt import PromptEncoder
from headstart.engine.template import choose
from tests.support.fake_decoder import FakeDecoder

_MARK = re.compile(
    r"<[|｜][^<>\s]{1,40}?[|｜]>|<\|?tool_call\|?>|</tool_call>|\[[A-Z_]{4,20}\]|\]<\]minimax\[>\["
)


class ByteDecoder(FakeDecoder):
    """Tokens 0 to 255 are bytes; the marks of a template follow."""

    def __init__(self, template: str, more: Collection[str] = ()) -> None:
        marks = sorted({*_MARK.findall(template), "<s>", "</s>", *more})
        super().__init__(np.zeros((256 + len(marks), 1, 1)), ends=[256 + marks.index("</s>")])
        self._marks = marks
        special = tuple(SpecialToken(256 + at, text) for at, text in enumerate(marks))
        self.facts = msgspec.structs.replace(self.facts, special_tokens=special)

    def encode(self, text: str) -> list[int]:
        return list(text.encode())

    def piece(self, token: int) -> bytes:
        return bytes([token]) if token < 256 else b""


def byte_encoder(template: str, more: Collection[str] = ()) -> PromptEncoder:
    """`more`: further control tokens of the vocabulary."""
    chosen = choose(template, "<s>", "</s>", frozenset())
    return PromptEncoder(ByteDecoder(template, more), chosen)


def reply_tokens(encoder: PromptEncoder, raw: str) -> list[int]:
    """A reply as a model writes it: marks are tokens."""
    found: list[int] = []
    for piece in encoder.pieces(raw):
        found += [piece] if isinstance(piece, int) else list(piece.encode())
    return found
