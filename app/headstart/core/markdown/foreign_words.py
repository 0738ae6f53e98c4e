"""Words in a formula without glyphs in its font: Chinese, Arabic, Hindi and others. The formula is
drawn with a box of their size, which a text in the system's font then replaces. Pure."""

from __future__ import annotations

import html
import re
import unicodedata

from msgspec import Struct

from headstart.core.markdown.latex import NotDrawn, closing

_FOREIGN = (
    "\u0590-\u08ff\u0900-\u0dff\u0e00-\u0fff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u2e80-\u9fff"
    "\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufb1d-\ufdff\ufe70-\ufefc\uff00-\uffef"
    "\U0001f300-\U0001faff\U00020000-\U0003ffff"
)
_RUN = re.compile(f"[{_FOREIGN}](?:[{_FOREIGN}\u200c\u200d ]*[{_FOREIGN}])?")
_GROUP = re.compile(r"\\(?:text|textrm|textnormal|mathrm|mbox|operatorname)\s*\{")
_RECT = re.compile(r'<rect x="([-\d.]+)" y="([-\d.]+)" width="([-\d.]+)" height="([-\d.]+)"\s*/>')
# em of a box, above and below the baseline: sizes that nothing else in a formula has
_ASCENT, _DEPTH = 0.8803, 0.1207
# each box is wider than the previous one by this much, to tell them apart
_STEP = 0.0011
_FAMILIES = "'Noto Sans CJK SC', 'Noto Sans', 'PingFang SC', 'Microsoft YaHei', sans-serif"
# em of a letter: of square ones, of joined ones, of others
_WIDE, _JOINED, _NARROW = 1.0, 0.5, 0.62


class Words(Struct, frozen=True):
    """`width` is em of the formula's font."""

    text: str
    width: float


def with_boxes(latex: str) -> tuple[str, list[Words]]:
    """The formula with a box for each run of such words; raises NotDrawn for unbalanced braces."""
    found: list[Words] = []

    def box(text: str) -> str:
        width = sum(map(_width, text)) + _STEP * (len(found) + 1)
        found.append(Words(text, width))
        return rf"\rule[-{_DEPTH}em]{{{width:.4f}em}}{{{_ASCENT + _DEPTH:.4f}em}}"

    pieces, at = [], 0
    while (group := _GROUP.search(latex, at)) is not None:
        end = closing(latex, group.end() - 1)
        inside = latex[group.end() : end - 1]
        foreign = _RUN.search(inside) is not None
        if foreign and ("\\" in inside or "$" in inside):
            raise NotDrawn("more than words")
        pieces.append(_RUN.sub(lambda run: box(run[0]), latex[at : group.start()]))
        pieces.append(box(inside) if foreign else latex[group.start() : end])
        at = end
    pieces.append(_RUN.sub(lambda run: box(run[0]), latex[at:]))
    return "".join(pieces), found


def with_words(svg: str, words: list[Words]) -> str | None:
    """The drawing with the words in place of their boxes; None if a box is missing."""
    left = dict(enumerate(words))

    def written(rect: re.Match[str]) -> str:
        x, y, width, height = map(float, rect.groups())
        size = height / (_ASCENT + _DEPTH)
        for number, one in left.items():
            if height and abs(width / size - one.width) < _STEP / 2:
                del left[number]
                baseline = y + size * _DEPTH
                return (
                    f'<text transform="translate({x + width / 2:g},{baseline:g}) scale(1,-1)" '
                    f'text-anchor="middle" font-size="{size * 0.92:g}" font-family="{_FAMILIES}">'
                    f"{html.escape(one.text)}</text>"
                )
        return rect[0]

    found = _RECT.sub(written, svg)
    return None if left else found


def _width(one: str) -> float:
    if unicodedata.category(one) in ("Mn", "Me", "Cf"):
        return 0.0
    if unicodedata.east_asian_width(one) in ("W", "F"):
        return _WIDE
    if "\u0600" <= one <= "\u08ff":
        return _JOINED
    return 0.3 if one == " " else _NARROW
