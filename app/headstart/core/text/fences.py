"""Fenced blocks of Markdown, line by line. Pure.

A pattern that looks for the end of each fence reads a text of n open fences n times; this reads it
once, and ends a fence as CommonMark does.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

_LEAST = 3


class Fenced(Struct, frozen=True):
    """A closed block: `text[start:end]` with its fences, without the last line break; `inside` is
    what they enclose."""

    start: int
    end: int
    inside: str


def fenced(text: str) -> Iterator[Fenced]:
    """The closed blocks of a text; an open one encloses the rest, so that nothing follows it."""
    place, start, begin, fence = 0, 0, 0, ""
    while place < len(text):
        found = text.find("\n", place)
        end = len(text) if found < 0 else found
        line = text[place:end]
        if not fence:
            fence, start, begin = _opening(line), place, end + 1
        elif _closes(line, fence):
            yield Fenced(start, end, text[begin:place])
            fence = ""
        place = end + 1


def open_fence(text: str) -> str:
    """The fence that closes the block in which a text ends; "" if it ends in none."""
    fence = ""
    for line in text.split("\n"):
        if not fence:
            fence = _opening(line)
        elif _closes(line, fence):
            fence = ""
    return fence


def without_fenced(text: str, instead: str = "") -> str:
    """The text with each closed block replaced."""
    pieces, place = [], 0
    for one in fenced(text):
        pieces += [text[place : one.start], instead]
        place = one.end
    return "".join([*pieces, text[place:]])


def _opening(line: str) -> str:
    """The fence that a line opens, "" for none."""
    bare = line.lstrip(" ")
    sign = bare[:1]
    if len(line) - len(bare) > _LEAST or sign not in ("`", "~"):
        return ""
    rest = bare.lstrip(sign)
    count = len(bare) - len(rest)
    # `code` in a line is no fence
    return "" if count < _LEAST or (sign == "`" and "`" in rest) else sign * count


def _closes(line: str, fence: str) -> bool:
    bare = line.lstrip(" ")
    inner = bare.rstrip(" \t\r")
    indent = len(line) - len(bare)
    return indent <= _LEAST and len(inner) >= len(fence) and not inner.strip(fence[0])
