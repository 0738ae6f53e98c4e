"""Finding text in messages, as it was written: Markdown between two words does not matter. Pure."""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterator

from msgspec import Struct

from headstart.core.text.folding import plain, plain_places

# marks of emphasis and code, at the edges of words
_MARKS = "[*_`~]{0,3}"
_LONGEST = 400
# letters whose plain form has another length or is another character
_OTHER_WAYS = re.compile(
    "[\u00ad\u00c0-\u024f\u02bc\u0300-\u036f\u0386-\u03ce\u0400-\u0527\u0591-\u05c7"
    "\u0610-\u061a\u0622-\u0629\u0640\u0649\u064b-\u065f\u0670-\u0675\u06a9\u06c0-\u06d3\u06d6-\u06ed"
    "\u13f8-\u13fd\u1c90-\u1cbf\u1e00-\u1fff\u200b-\u200f\u2018\u2019\u2060\uab70-\uabbf\ufb00-\ufdff"
    "\ufe00-\ufe0f\uff00-\uffef]"
)
# characters whose plain form is empty or several characters: their positions must be counted
_NOT_ALONE = re.compile(
    "[ßÆæŒœÞþẞĳĲŉǆ-ǌǢǣǱ-ǳǼǽ\u00ad\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670"
    "\u06d6-\u06ed\u1e9a\u1f80-\u1fbc\u1fc2-\u1fcc\u1ff2-\u1ffc\u200b-\u200f\u2060\ufb00-\ufdff\ufe00-\ufe0f\uff00-\uffef"
    "\U0001f3fb-\U0001f3ff]"
)


class FoundInChat(Struct, frozen=True):
    """A message with matches: their number, and whether it is on the shown branch."""

    message_id: str
    count: int
    shown: bool


def pattern_of(query: str) -> re.Pattern[str] | None:
    """A pattern that finds a query in plain-form text; None for a query without words."""
    words = [one for one in map(plain, query[:_LONGEST].split()) if one]
    if not words:
        return None
    # an empty group: both words are one in the text, which may be camelCase
    between = rf"(?:{_MARKS}\s+{_MARKS}|())"
    return re.compile(between.join(map(re.escape, words)), re.IGNORECASE)


def spans_of(query: str, text: str) -> Iterator[tuple[int, int]]:
    """Spans where a query matches a text, in code points; ignores case, width and accents. Two
    words of the query may be the parts of one in camelCase."""
    pattern = pattern_of(query)
    if pattern is None:
        return
    for begin, end, joints in _spans(pattern, text):
        if all(_is_camel(text, joint) for joint in joints):
            yield begin, end


def _spans(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, int, tuple[int, ...]]]:
    """Spans of a pattern, and the places between words that the text writes as one."""
    if text.isascii() or not _has_other_ways(text):
        yield from ((*found.span(), _joints(found)) for found in pattern.finditer(text))
        return
    if unicodedata.is_normalized("NFKC", text) and _NOT_ALONE.search(text) is None:
        one = text.lower().translate(_alone())
        if len(one) == len(text):
            # each letter has one in the plain form: the positions are the same
            yield from ((*found.span(), _joints(found)) for found in pattern.finditer(one))
            return
    shown, places = plain_places(text)
    for found in pattern.finditer(shown):
        begin, end = places[found.start()], places[found.end() - 1]
        # include everything that the last character comes from
        end = next((place for place in places[found.end() :] if place > end), len(text))
        yield begin, end, tuple(places[joint] for joint in _joints(found))


def _joints(found: re.Match[str]) -> tuple[int, ...]:
    return tuple(found.start(n) for n in range(1, found.re.groups + 1) if found.start(n) >= 0)


def _is_camel(text: str, place: int) -> bool:
    """True between the words of readLine and of HTTPServer."""
    before, after = text[place - 1 : place], text[place : place + 1]
    small = text[place + 1 : place + 2].islower()
    return after.isupper() and (
        before.islower() or before.isdigit() or (before.isupper() and small)
    )


@functools.cache
def _alone() -> dict[int, str]:
    """Letters and apostrophes whose plain form is one character, in scripts with variant forms."""
    ranges = (
        (0xC0, 0x250), (0x2BC, 0x2BD), (0x386, 0x3CF), (0x400, 0x530), (0x620, 0x6D4),
        (0x13A0, 0x13FE), (0x1C90, 0x1CC0), (0x1E00, 0x2000), (0x2018, 0x201A), (0xAB70, 0xABC0),
    )  # fmt: skip
    found = {code: plain(chr(code)) for first, last in ranges for code in range(first, last)}
    return {code: text for code, text in found.items() if len(text) == 1}


def _has_other_ways(text: str) -> bool:
    return _OTHER_WAYS.search(text) is not None or not unicodedata.is_normalized("NFKC", text)
