"""Differences between two texts, word by word. Pure. Ratcliff and Obershelp's matching, as in
difflib."""

from __future__ import annotations

import difflib
import re

# more words than this are compared as whole lines: the time grows with the square
_MOST_WORDS = 4_000
_WORD = re.compile(r"\w+|[^\w\s]|\s+")
_LINE = re.compile(r"[^\n]*\n|[^\n]+")
Span = tuple[int, int]


def differences(one: str, other: str) -> tuple[list[Span], list[Span]]:
    """Ranges of each text that the other one lacks."""
    pieces = [_WORD.findall(text) for text in (one, other)]
    if max(map(len, pieces)) > _MOST_WORDS:
        pieces = [_LINE.findall(text) for text in (one, other)]
    first, second = pieces
    matcher = difflib.SequenceMatcher(None, first, second, autojunk=False)
    places = [_places(first), _places(second)]
    found: tuple[list[Span], list[Span]] = ([], [])
    for kind, a, b, c, d in matcher.get_opcodes():
        if kind == "equal":
            continue
        for side, (begin, end) in enumerate(((a, b), (c, d))):
            span = places[side][begin], places[side][end]
            if pieces[side][begin:end] and "".join(pieces[side][begin:end]).strip():
                found[side].append(span)
    return found


def _places(pieces: list[str]) -> list[int]:
    places = [0]
    for piece in pieces:
        places.append(places[-1] + len(piece))
    return places
