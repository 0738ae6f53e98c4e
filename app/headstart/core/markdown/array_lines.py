"""Lines between the columns and rows of one array, redrawn on its picture. Pure.

mathra has no dashed lines, and draws a bar between columns as a delimiter between two arrays, so
horizontal lines stop at the bar. If every line in the picture can be identified as the array's, the
lines are redrawn at full length, and dashed where the source asks for dashes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from headstart.core.markdown.latex import ARRAY, NotDrawn

_PATH = re.compile(
    r'<path id="(?P<id>[^"]+)" d="M(?P<x1>[-\d.]+) (?P<y0>[-\d.]+) L(?P=x1) (?P<y1>[-\d.]+) '
    r'L(?P<x0>[-\d.]+) (?P=y1) L(?P=x0) (?P=y0) Z"/>'
)
_USE = re.compile(r'<use href="#(?P<id>[^"]+)" x="(?P<x>[-\d.]+)" y="(?P<y>[-\d.]+)"/>')
_RECT = re.compile(
    r'<rect x="(?P<x>[-\d.]+)" y="(?P<y>[-\d.]+)" '
    r'width="(?P<width>[-\d.]+)" height="(?P<height>[-\d.]+)"/>'
)
_END = "</g>"
# thousandths of an em: a dash, and the gap after it
_DASH, _GAP = 150, 100


class Lines(Struct, frozen=True):
    """The lines of an array: bars between columns, lines between rows, the number of arrays that
    the bars cut it into, and which lines are dashed."""

    bars: int
    rows: int
    arrays: int
    dashed_bars: bool
    dashed_rows: bool

    @property
    def dashed(self) -> bool:
        return self.dashed_bars or self.dashed_rows


def lines_of(latex: str) -> tuple[str, Lines | None]:
    """The formula with solid lines, and its lines; None without lines, or with several arrays.
    Raises NotDrawn for dashes that cannot be told from other lines."""
    arrays = list(ARRAY.finditer(latex))
    dashed = "hdashline" in latex or any(":" in one["columns"] for one in arrays)
    if len(arrays) != 1:
        if dashed:
            raise NotDrawn("dashes in one array of several")
        return latex, None
    columns = arrays[0]["columns"].replace(" ", "")
    mixed = "|" in columns and ":" in columns
    if dashed and (mixed or (r"\hline" in latex and r"\hdashline" in latex)):
        raise NotDrawn("dashes beside lines")
    whole = columns.replace(":", "|")
    begin, end = arrays[0].span("columns")
    text = latex[:begin] + whole + latex[end:].replace(r"\hdashline", r"\hline")
    found = Lines(
        whole.count("|"),
        text.count(r"\hline"),
        max(1, sum(1 for one in whole.split("|") if one)),
        ":" in columns,
        r"\hdashline" in latex,
    )
    return text, found if found.bars or found.rows else None


def drawn_through(body: str, lines: Lines) -> str | None:
    """The picture with its lines at full length; unchanged if a line cannot be identified, or None
    if that one should be dashed."""
    shapes = {one["id"]: one for one in _PATH.finditer(body)}
    uses = [one for one in _USE.finditer(body) if one["id"] in shapes]
    rects = list(_RECT.finditer(body))
    lefts = sorted({float(one["x"]) for one in uses})
    heights = sorted({float(one["y"]) for one in rects})
    known = len(lefts) == lines.bars and len(rects) == lines.rows * lines.arrays
    if not known or len(heights) != lines.rows:
        return None if lines.dashed else body
    bars = [_bar([one for one in uses if float(one["x"]) == left], shapes) for left in lefts]
    rows = [_row([one for one in rects if float(one["y"]) == height]) for height in heights]
    begin = min(one[0] for one in (*bars, *rows))
    end = max(one[0] + one[2] for one in (*bars, *rows))
    low = min(one[1] for one in (*bars, *rows))
    high = max(one[1] + one[3] for one in (*bars, *rows))
    made = [
        *(_drawn(x, low, width, high - low, lines.dashed_bars) for x, _, width, _ in bars),
        *(_drawn(begin, y, end - begin, height, lines.dashed_rows) for _, y, _, height in rows),
    ]
    for one in sorted((*uses, *rects), key=lambda found: -found.start()):
        body = body[: one.start()] + body[one.end() :]
    at = body.rindex(_END)
    return body[:at] + "".join(made) + body[at:]


Area = tuple[float, float, float, float]


def _bar(uses: list[re.Match[str]], shapes: dict[str, re.Match[str]]) -> Area:
    """Left, bottom, width and height of the pieces of one bar."""
    shape = shapes[uses[0]["id"]]
    x0, x1, y0, y1 = (float(shape[name]) for name in ("x0", "x1", "y0", "y1"))
    lows = [float(one["y"]) + y0 for one in uses]
    return float(uses[0]["x"]) + x0, min(lows), x1 - x0, max(lows) + y1 - y0 - min(lows)


def _row(rects: list[re.Match[str]]) -> Area:
    begin = min(float(one["x"]) for one in rects)
    end = max(float(one["x"]) + float(one["width"]) for one in rects)
    return begin, float(rects[0]["y"]), end - begin, float(rects[0]["height"])


def _drawn(x: float, y: float, width: float, height: float, dashed: bool) -> str:
    if not dashed:
        return _rect(x, y, width, height)
    across = width > height
    pieces = _dashes(width if across else height)
    return "".join(
        _rect(x + at, y, long, height) if across else _rect(x, y + at, width, long)
        for at, long in pieces
    )


def _dashes(length: float) -> Iterator[tuple[float, float]]:
    """Start and length of each dash of a line, with a dash at both ends."""
    count = max(2, round((length + _GAP) / (_DASH + _GAP)))
    long = (length - (count - 1) * _GAP) / count
    return ((number * (long + _GAP), long) for number in range(count))


def _rect(x: float, y: float, width: float, height: float) -> str:
    return f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"/>'
