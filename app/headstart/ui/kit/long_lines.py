"""Long lines of a text field, cut into pieces. Pure.

Qt lays a whole line out again at each key: most of a second for a megabyte. A piece is a line of
Qt's document that ends with a mark which Unicode has left unassigned and fonts do not draw.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

# the end of a piece: a code point without a character, ignored where it is drawn
MARK = "\ufff0"
# characters of a piece; longer lines, and runs without a break, are cut
PIECE = 4_000
LONGEST_LINE = 10_000
# Qt needs time quadratic in such a run's length to find that it has no break between words
_RUN = re.compile(rf"\S{{{PIECE}}}")
_BREAK = re.compile(r"[^\S\n]")


def cut(text: str) -> str:
    """The text for a field: long lines are pieces. Itself if no line is long, or if it has the mark
    already."""
    if len(text) <= PIECE or MARK in text:
        return text
    lines = text.split("\n")
    if not any(map(_is_long, lines)):
        return text
    return "\n".join(f"{MARK}\n".join(_pieces(line)) if _is_long(line) else line for line in lines)


def whole(raw: str) -> str:
    """The user's text in a field's: with its own lines only, whose ends are `\\n`."""
    if MARK in raw:
        # a mark without a line's end is left where pieces were put together
        raw = raw.replace(f"{MARK}\n", "").replace(MARK, "")
    return raw


def _is_long(line: str) -> bool:
    return len(line) > LONGEST_LINE or (len(line) > PIECE and _RUN.search(line) is not None)


def _pieces(line: str) -> Iterator[str]:
    at = 0
    while len(line) - at > PIECE:
        end = at + PIECE
        # behind the last break of the second half
        breaks = [found.end() for found in _BREAK.finditer(line, at + PIECE // 2, end)]
        if breaks:
            end = breaks[-1]
        else:
            # a sign and what is written on it stay together
            while end > at + PIECE // 2 and _goes_on(line, end):
                end -= 1
        yield line[at:end]
        at = end
    yield line[at:]


def _goes_on(line: str, at: int) -> bool:
    """True if the character at `at` is written on, or joined with, the one before."""
    joiner = "\u200d"
    return bool(
        unicodedata.combining(line[at])
        or unicodedata.category(line[at]) in ("Mn", "Mc", "Me", "Cf", "Sk")
        or line[at - 1] == joiner
    )
