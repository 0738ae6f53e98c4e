"""Reading order of a page: columns of prose one after the other, and vertical writing. Pure.

Cuts a page recursively, after Nagy and Seth's X-Y cut (1984), but only between columns of prose:
the cells of a table stay in their rows. Sizes are points, y grows upwards.
"""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Sequence
from typing import NamedTuple

# least lines of a column, and its least width in line heights
_LEAST_LINES, _LEAST_WIDTH = 4, 9
# share of the column's width that a full line has, and share of full lines in prose
_FULL, _MOSTLY = 0.8, 0.6
# in line heights: largest indent within a column, and largest gap within a line
_INDENT, _WORDS = 0.4, 0.9
# most columns, and most left edges to try as the start of one
_DEEPEST, _MOST_PLACES = 6, 12


class Box(NamedTuple):
    left: float
    bottom: float
    right: float
    top: float

    @property
    def height(self) -> float:
        return self.top - self.bottom


def reading_order(pieces: Sequence[Box], from_right: bool = False) -> list[Box]:
    """The parts of a page in reading order; a page without columns is a single part.

    `pieces`: runs of letters in any order. `from_right`: the first column is the right one.
    """
    lines = _lines([one for one in pieces if one.height > 0 and one.right > one.left])
    if not lines:
        return []
    return [_around(part) for part in _parts(lines, from_right, 0)]


def _around(boxes: Sequence[Box]) -> Box:
    return Box(
        min(one.left for one in boxes),
        min(one.bottom for one in boxes),
        max(one.right for one in boxes),
        max(one.top for one in boxes),
    )


def _lines(pieces: list[Box]) -> list[Box]:
    """Merge nearby pieces of a line into boxes, from the top down."""
    rows: list[list[Box]] = []
    for one in sorted(pieces, key=lambda box: -(box.top + box.bottom)):
        middle = (one.top + one.bottom) / 2
        if rows and rows[-1][0].bottom < middle < rows[-1][0].top:
            rows[-1].append(one)
        else:
            rows.append([one])
    found = []
    for row in rows:
        row.sort()
        open_one = row[0]
        for one in row[1:]:
            if one.left - open_one.right < _WORDS * min(one.height, open_one.height):
                open_one = _around((open_one, one))
            else:
                found.append(open_one)
                open_one = one
        found.append(open_one)
    return found


def _parts(lines: list[Box], from_right: bool, depth: int) -> list[list[Box]]:
    """Groups of lines that are read from the top down, in order."""
    height = statistics.median(one.height for one in lines)
    for place in _beginnings(lines, height) if depth < _DEEPEST else ():
        found = _cut(lines, place, height, from_right, depth)
        if found:
            return found
    return [lines]


def _beginnings(lines: list[Box], height: float) -> list[float]:
    """Left edges shared by several lines, except the first; the most frequent ones, from the
    left."""
    edges = sorted(one.left for one in lines)
    groups: list[list[float]] = []
    for edge in edges:
        if groups and edge - groups[-1][0] < _INDENT * height:
            groups[-1].append(edge)
        else:
            groups.append([edge])
    likely = [one for one in groups if len(one) >= _LEAST_LINES and one[0] > edges[0] + height]
    return sorted(one[0] for one in sorted(likely, key=len, reverse=True)[:_MOST_PLACES])


def _cut(
    lines: list[Box], place: float, height: float, from_right: bool, depth: int
) -> list[list[Box]]:
    """Cut the bands between lines that cross the edge; [] if nothing is cut."""
    parts: list[list[Box]] = []
    whole: list[Box] = []
    band: list[Box] = []
    cut = False

    def close() -> None:
        nonlocal band, whole, cut
        sides = _columns(band, place, height)
        # the left side is one column; with three, the right side is cut again
        if sides and _is_prose(sides[0], height, place):
            right = _parts(sides[1], from_right, depth + 1)
        else:
            right = []
        if len(right) > 1 or (right and _is_prose(sides[1], height, 0)):
            cut = True
            if whole:
                parts.append(whole)
            parts.extend([*right, sides[0]] if from_right else [sides[0], *right])
            whole = []
        else:
            whole = whole + band
        band = []

    for one in lines:
        if one.left < place - height / 4 and one.right > place:
            close()
            whole.append(one)
        else:
            band.append(one)
    close()
    if whole:
        parts.append(whole)
    return parts if cut else []


def _columns(band: list[Box], place: float, height: float) -> list[list[Box]]:
    """Both sides of a cut if both may be columns, else none."""
    sides = [
        [one for one in band if one.right <= place],
        [one for one in band if one.right > place],
    ]
    if any(len(side) < _LEAST_LINES for side in sides):
        return []
    first, second = (_around(side) for side in sides)
    # columns must stand side by side, not one below the other
    together = min(first.top, second.top) - max(first.bottom, second.bottom)
    return sides if together > _LEAST_LINES * height / 2 else []


def _is_prose(side: list[Box], height: float, end: float) -> bool:
    """True if most lines fill their column. `end`: the left edge of the next column; 0 for the last
    one, whose width is that of its long lines."""
    left = min(one.left for one in side)
    widths = sorted(one.right - left for one in side)
    width = end - left if end else widths[len(widths) * 3 // 4]
    full = sum(one >= _FULL * width for one in widths)
    return width >= _LEAST_WIDTH * height and full >= _MOSTLY * len(side)


# --- vertical writing --------------------------------------------------------------------


class Sign(NamedTuple):
    text: str
    box: Box


def is_vertical(signs: Sequence[Sign]) -> bool:
    """True if most characters stand below the previous one. `signs` are wide characters in text
    order."""
    down = across = 0
    for before, one in itertools.pairwise(signs):
        width = max(before.box.right - before.box.left, one.box.right - one.box.left)
        height = max(before.box.height, one.box.height)
        beside = abs(_middle(one.box) - _middle(before.box)) < width / 2
        below = before.box.top - one.box.top
        if beside and 0 < below < 3 * height:
            down += 1
        else:
            across += 1
    return down > across


def vertical_text(signs: Sequence[Sign]) -> str:
    """Text in lines from right to left, each from top to bottom; one tier after the other."""
    # rotated a quarter turn to the left: a line's top becomes its left
    turned = [Sign(text, Box(-b.top, b.left, -b.bottom, b.right)) for text, b in signs]
    found = []
    for part in reading_order([one.box for one in turned]):
        inside = [one for one in turned if _holds(part, one.box)]
        rows: list[list[Sign]] = []
        for one in sorted(inside, key=lambda sign: -(sign.box.top + sign.box.bottom)):
            middle = (one.box.top + one.box.bottom) / 2
            # small characters (such as ruby) do not form a line beside a wider one
            if rows and _line(rows[-1]).bottom < middle < _line(rows[-1]).top:
                rows[-1].append(one)
            else:
                rows.append([one])
        found += ["".join(one.text for one in sorted(row, key=lambda s: s.box)) for row in rows]
    return "\n".join(found)


def _line(row: list[Sign]) -> Box:
    return max((one.box for one in row), key=lambda box: box.height)


def _middle(box: Box) -> float:
    return (box.left + box.right) / 2


def _holds(part: Box, one: Box) -> bool:
    return (
        part.left <= _middle(one) <= part.right
        and part.bottom <= (one.bottom + one.top) / 2 <= part.top
    )
