"""llama.cpp's vocabulary: tokens to text and back. `vocab` is its pointer. Engine thread."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator
from typing import Any

import llama_cpp as lib

from headstart.core.models.described import Vocabulary, spelled
from headstart.engine.decoder import SpecialToken

# the most characters without a break passed to a vocabulary's splitting at once
LONGEST_RUN = 2048
_LONG_RUN = re.compile(rf"\S{{{LONGEST_RUN + 1},}}|\s{{{LONGEST_RUN + 1},}}")

_KINDS = {1: "spm", 2: "bpe", 3: "wpm", 4: "ugm", 5: "rwkv"}


def marked_tokens(vocab: Any) -> tuple[tuple[SpecialToken, ...], tuple[SpecialToken, ...]]:
    """The control tokens, and those that the file declares as whole words."""
    control: list[SpecialToken] = []
    added: list[SpecialToken] = []
    for token in range(lib.llama_vocab_n_tokens(vocab)):
        attributes = lib.llama_vocab_get_attr(vocab, token)
        kinds = lib.LLAMA_TOKEN_ATTR_CONTROL | lib.LLAMA_TOKEN_ATTR_USER_DEFINED
        if attributes & kinds:
            text = lib.llama_vocab_get_text(vocab, token).decode("utf-8", "replace")
            left = bool(attributes & lib.LLAMA_TOKEN_ATTR_LSTRIP)
            right = bool(attributes & lib.LLAMA_TOKEN_ATTR_RSTRIP)
            found = control if attributes & lib.LLAMA_TOKEN_ATTR_CONTROL else added
            found.append(SpecialToken(token, text, left, right))
    return tuple(control), tuple(added)


def ends(vocab: Any) -> frozenset[int]:
    """The tokens that end a reply."""
    every = range(lib.llama_vocab_n_tokens(vocab))
    return frozenset(token for token in every if lib.llama_vocab_is_eog(vocab, token))


def suppressed(vocab: Any) -> tuple[int, ...]:
    """The tokens that a reply never contains, according to the file."""
    count = ctypes.c_int32()
    found = lib.llama_vocab_get_suppress_tokens(vocab, ctypes.byref(count))
    known = range(lib.llama_vocab_n_tokens(vocab))
    return tuple(token for token in found[: count.value] if token in known) if found else ()


def vocabulary(vocab: Any) -> Vocabulary:
    kind = _KINDS.get(lib.llama_vocab_type(vocab), "other")
    begin, end = lib.llama_vocab_bos(vocab), lib.llama_vocab_eos(vocab)
    return Vocabulary(
        kind,
        tuple(
            spelled(kind, lib.llama_vocab_get_text(vocab, token) or b"")
            for token in range(lib.llama_vocab_n_tokens(vocab))
        ),
        begin if begin >= 0 else None,
        end if end >= 0 else None,
    )


def encode(vocab: Any, text: str) -> list[int]:
    """Token ids of plain text; control tokens in it stay plain text."""
    if len(text) <= LONGEST_RUN or lib.llama_vocab_type(vocab) != lib.LLAMA_VOCAB_TYPE_BPE:
        return _encode(vocab, text)
    tokens = []
    for piece_ in short_runs(text):
        tokens += _encode(vocab, piece_)
    return tokens


def short_runs(text: str) -> Iterator[str]:
    """The text in pieces, cut after `LONGEST_RUN` characters without white space, or of nothing but
    white space.

    Some vocabularies split text with std::regex, which recurses at least once for each character of
    a match: 50,000 letters overflow a stack of 8 MiB, which ends the process. The cuts of a run
    depend only on its beginning, so growing text keeps its tokens.
    """
    at = 0
    for run in _LONG_RUN.finditer(text):
        for cut in range(run.start() + LONGEST_RUN, run.end(), LONGEST_RUN):
            yield text[at:cut]
            at = cut
    yield text[at:]


def _encode(vocab: Any, text: str) -> list[int]:
    data = text.encode("utf-8", "replace")
    room = len(data) + 8
    buffer = (lib.llama_token * room)()
    count = lib.llama_tokenize(vocab, data, len(data), buffer, room, False, False)
    if count < 0:
        raise RuntimeError(f"tokenization of {len(data)} bytes wants {-count} tokens")
    return list(buffer[:count])


def piece(vocab: Any, token: int) -> bytes:
    """The bytes of a token's text; empty for control tokens."""
    size = 64
    while True:
        buffer = ctypes.create_string_buffer(size)
        count = lib.llama_token_to_piece(vocab, token, buffer, size, 0, False)
        if count >= 0:
            return buffer.raw[:count]
        size = -count
