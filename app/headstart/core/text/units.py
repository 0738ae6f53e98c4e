"""Converts positions in text: Python counts characters, Qt units of UTF-16, of which an emoji
takes two. Pure."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from itertools import accumulate
from typing import TypeVar

T = TypeVar("T")

# the last character of a single unit
_NARROW = 0xFFFF


def units(text: str) -> int:
    """The length of a text in units."""
    return len(text) if text.isascii() else len(text) + sum(ord(one) > _NARROW for one in text)


def to_units(text: str, positions: Iterable[int]) -> list[int]:
    """Positions in characters of `text` as positions in units, in the order given."""
    if text.isascii():
        return list(positions)
    wide = [index for index, one in enumerate(text) if ord(one) > _NARROW]
    return [position + bisect_left(wide, position) for position in positions]


def spans_in_units(text: str, spans: Iterable[tuple[int, int, T]]) -> list[tuple[int, int, T]]:
    """Spans (begin, end, anything) of characters as spans of units."""
    given = list(spans)
    begins = to_units(text, (begin for begin, _, _ in given))
    ends = to_units(text, (end for _, end, _ in given))
    return [
        (begin, end, what) for begin, end, (_, _, what) in zip(begins, ends, given, strict=True)
    ]


def from_units(text: str, position: int) -> int:
    """A position in units as one in characters; inside a pair, the position before it."""
    if text.isascii():
        return min(position, len(text))
    ends = list(accumulate(1 + (ord(one) > _NARROW) for one in text))
    return bisect_right(ends, position)
