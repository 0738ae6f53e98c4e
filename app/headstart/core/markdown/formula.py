"""LaTeX to a picture made of paths, with its measures in em; pure, any thread.

mathra draws it. A formula with commands that it does not know, or without glyphs, is shown as
source: readers can cope with that, but not with a wrong formula.
"""

from __future__ import annotations

import functools
import logging
import re

from msgspec import Struct

from headstart.core.markdown.array_lines import drawn_through, lines_of
from headstart.core.markdown.foreign_words import Words, with_boxes, with_words
from headstart.core.markdown.latex import drawable, spoken

log = logging.getLogger(__name__)

# characters; a longer formula is shown as source (40,000 take 80 ms)
LONGEST = 4_000
# thousandths of an em of a drawing, each way from its baseline: what that many characters can take
_LARGEST = 5_000_000
# mathra's message for a letter missing from its font
_NO_SIGN = "the font has no"
# drawn formulas in the cache; a page of mathematics has a hundred
_KEPT = 1_000
_VIEW = re.compile(r'viewBox="([-\d.]+) ([-\d.]+) ([-\d.]+) ([-\d.]+)"')
# elements for browsers and screen readers only; QtSvg warns about each
_UNWANTED = re.compile(r"<(?P<name>title|metadata|style|text)\b.*?(?:</(?P=name)>|\Z)", re.DOTALL)
_ROOT = re.compile(r"<svg\b[^>]*>")
# mathra draws a separate equation number before the formula
_TAG = re.compile(r"\\tag\*?\s*\{([^{}]*)\}")
_LABEL = re.compile(r"\\(?:label\s*\{[^{}]*\}|nonumber\b|notag\b)")


class Formula(Struct, frozen=True):
    """`svg` is in the colour `currentColor`; sizes are em, from the baseline up and down. `words`
    describe it to screen readers; `tag` is the number at its right."""

    svg: str
    width: float
    ascent: float
    depth: float
    words: str
    tag: str = ""


def formula(latex: str, display: bool) -> Formula | None:
    """None if it cannot be drawn correctly."""
    if len(latex) > LONGEST:
        return None
    return _formula(latex, display)


@functools.lru_cache(_KEPT)
def _formula(latex: str, display: bool) -> Formula | None:
    import mathra

    tag = _TAG.search(latex) if display else None
    plain = _LABEL.sub("", _TAG.sub("", latex))
    words: list[Words] = []
    try:
        plain, lines = lines_of(plain)
        plain = drawable(plain)
        found = mathra.render(plain, display=display)
        speech = str(found["speech"])
        if found["warnings"] and all(_NO_SIGN in one["description"] for one in found["warnings"]):
            boxed, words = with_boxes(plain)
            found = mathra.render(boxed, display=display) if words else found
    except ValueError:
        return None
    except Exception as error:
        # a native library on a model's output: never worth more than a line in the log
        log.warning("a formula could not be drawn: %s", type(error).__name__)
        return None
    svg = found["svg"]
    view = _VIEW.search(svg)
    if found["warnings"] or view is None:
        return None
    left, top, width, height = (float(number) for number in view.groups())
    # a width in LaTeX may be a number of any length, and Qt's sizes are integers
    if not (0 < width <= _LARGEST and 0 < height <= _LARGEST and abs(top) <= _LARGEST):
        return None
    body = _UNWANTED.sub("", svg[_ROOT.match(svg).end() :])  # type: ignore[union-attr]
    through = drawn_through(body, lines) if lines is not None else body
    written = with_words(through, words) if words and through is not None else through
    if written is None:
        return None
    box = f"{left:g} {top:g} {width:g} {height:g}"
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}">'
    return Formula(
        head + written,
        width / 1000,
        -top / 1000,
        (height + top) / 1000,
        spoken(speech),
        tag[1] if tag is not None else "",
    )
