"""Images as tokens: a run of negative ids that encode an image's identity and layout. Pure.

A prompt with images stays one list of numbers, so that code that compares, cuts, hashes and stores
tokens needs no knowledge of images: equal images are equal runs, different images differ from the
first number on. A run is prefilled as a whole or not at all.

Some models (M-RoPE) count fewer positions than tokens for an image; a run encodes both, so that
`ImageLayout` can convert between index and position without the image.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

# the bit set in the first number of a run, the bit of a run of one, and the bits of the first
# number left for the digest
_FIRST, _ALONE = 1 << 30, 1 << 29
_BITS = _ALONE - 1
_HALF = 15
# the count of numbers after the first two that each carry digest bits
_DIGEST = 8
# the most tokens of one image
MOST = (1 << _HALF) - 1


def run(digest: bytes, tokens: int, positions: int) -> list[int]:
    """The ids of an image of `tokens` tokens; `digest`: a 32-byte hash of everything that decides
    its KV state. Raises ValueError for no tokens, or too many."""
    if not (0 < tokens <= MOST and 0 < positions <= MOST and (tokens > 1 or positions == 1)):
        raise ValueError(f"an image of {tokens} tokens at {positions} positions")
    said = int.from_bytes(digest)
    values = [_FIRST | _ALONE * (tokens == 1) | said & _BITS]
    if tokens > 1:
        values.append(tokens << _HALF | positions)
    for _ in range(tokens - 2):
        said >>= 29
        values.append(said & _BITS if len(values) < _DIGEST + 2 else len(values))
    return [-1 - value for value in values]


def begins(token: int) -> bool:
    """True if a run begins with this id."""
    return token < 0 and bool(-1 - token & _FIRST)


def first_image(tokens: Sequence[int], at: int, end: int) -> int:
    """Position of the first image in `tokens` from `at` on, `end` without one."""
    return next((index for index in range(at, end) if tokens[index] < 0), end)


def end_of_run(tokens: Sequence[int], at: int) -> int:
    """The index after the image that begins at `at`."""
    end = at + 1
    while end < len(tokens) and tokens[end] < 0 and not begins(tokens[end]):
        end += 1
    return end


def slices(tokens: Sequence[int], most: int) -> Iterator[Sequence[int]]:
    """Slices of a prompt, one for each forward: at most `most` tokens of text, or one image."""
    at = 0
    while at < len(tokens):
        limit = min(len(tokens), at + most)
        end = end_of_run(tokens, at) if tokens[at] < 0 else first_image(tokens, at, limit)
        yield tokens[at:end]
        at = end


def whole(tokens: Sequence[int], length: int) -> int:
    """The longest prefix length up to `length` that cuts no image of `tokens` in two."""
    if length >= len(tokens):
        return length
    while length > 0 and tokens[length] < 0 and not begins(tokens[length]):
        length -= 1
    return length


def without(tokens: Sequence[int], stand_in: int) -> Sequence[int]:
    """The same text for a model without vision: equally long, with `stand_in` for each image
    token."""
    if not tokens or min(tokens) >= 0:
        return tokens
    return [stand_in if token < 0 else token for token in tokens]


class _Span(NamedTuple):
    start: int
    tokens: float
    positions: int


class ImageLayout:
    """Positions of a sequence's tokens, for images that have fewer positions than tokens."""

    def __init__(self) -> None:
        self._spans: list[_Span] = []

    def set(self, tokens: Sequence[int]) -> None:
        """Set the sequence's tokens; the last image may be cut."""
        self._spans.clear()
        if tokens and min(tokens) < 0:
            for index, token in enumerate(tokens):
                if begins(token):
                    self.add(index, tokens[index : index + 2])

    def add(self, index: int, ids: Sequence[int]) -> None:
        """Add an image that begins at `index`; `ids`: at least its first two, if it has two."""
        tokens, positions = math.inf, 1
        if len(ids) > 1 and ids[1] < 0 and not begins(ids[1]):
            value = -1 - ids[1]
            tokens, positions = value >> _HALF, value & MOST
        elif -1 - ids[0] & _ALONE:
            tokens = 1
        if tokens != positions:
            self._spans.append(_Span(index, tokens, positions))

    def cut(self, length: int) -> None:
        """Drop all but the first `length` tokens."""
        while self._spans and self._spans[-1].start >= length:
            self._spans.pop()

    def position(self, index: int) -> int:
        """The position of the token at `index`; within an image, that of its beginning."""
        saved = 0
        for span in self._spans:
            if index >= span.start + span.tokens:
                saved += int(span.tokens) - span.positions
            else:
                return min(index, span.start) - saved
        return index - saved

    def last_position(self, length: int) -> int:
        """The highest position among the first `length` tokens: all tokens of an image share its
        first position."""
        for span in self._spans:
            if length == span.start + span.tokens:
                return self.position(span.start)
        return self.position(length) - 1

    def count(self, position: int) -> int:
        """Number of tokens up to the highest position `position`."""
        saved = 0
        for span in self._spans:
            at = span.start - saved
            if position < at:
                break
            if position < at + span.positions:
                return span.start + int(span.tokens) if span.tokens < math.inf else span.start
            saved += int(span.tokens) - span.positions
        return position + 1 + saved
