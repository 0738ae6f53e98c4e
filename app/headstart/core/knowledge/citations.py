"""Marks like [2] in a reply, and the quotes before them checked against their passages. Pure.

A quote is compared by its letters and digits only, folded: Markdown, line ends, hyphens at line
ends and typographic signs do not make it false.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from enum import StrEnum

from msgspec import Struct

from headstart.core.text.folding import plain_places

_MARK = re.compile(r"\[(\d{1,4}(?:\s*[,;]\s*\d{1,4}){0,9})\]")
_NUMBER = re.compile(r"\d{1,4}")
# pairs of quotation marks; straight ones end at the next
_QUOTES = re.compile(
    "“([^”“]{1,2000})”|„([^“”„]{1,2000})[“”]|«([^»«]{1,2000})»|‹([^›‹]{1,2000})›"
    '|「([^」「]{1,2000})」|『([^』『]{1,2000})』|"([^"]{1,2000})"'
)
# letters of a quote below which it is a word in quotation marks, not a citation
_LEAST = 8
# characters before a mark among which its quotes are
_BEFORE = 2_500
# words that a writer left out
_GAP = re.compile(r"\[?(?:\.\s?\.\s?\.|…)\]?")


class Cited(StrEnum):
    """The quotes before a mark: none, all of them in the passage, or one that is not."""

    PLAIN = "plain"
    FOUND = "found"
    NOT_FOUND = "not found"


class Citation(Struct, frozen=True):
    """Characters `start` to `end` of a reply's text, in code points. `quote`: the last one before
    it, "" for none."""

    start: int
    end: int
    number: int
    state: Cited
    quote: str = ""


def citations(text: str, passages: Mapping[int, str]) -> list[Citation]:
    """The marks of a reply whose numbers are those of passages; `passages`: their texts by number.
    A number without a passage is plain text."""
    found: list[Citation] = []
    last = 0
    quoted = [one.span() for one in _QUOTES.finditer(text)]
    for mark in _MARK.finditer(text):
        if any(begin < mark.start() < end for begin, end in quoted):
            # a part of the quoted text
            continue
        numbers = [
            (one, mark.start(1) + one.start(), mark.start(1) + one.end())
            for one in _NUMBER.finditer(mark[1])
        ]
        known = [
            (int(one[0]), start, end) for one, start, end in numbers if int(one[0]) in passages
        ]
        if not known:
            continue
        before = text[max(last, mark.start() - _BEFORE) : mark.start()]
        quotes = [one for one in quotes_in(before) if is_quote(one)]
        for number, start, end in known:
            # several numbers in one mark share its quotes
            texts = [passages[one] for one, _, _ in known]
            state = Cited.PLAIN
            if quotes:
                right = all(any(has_quote(one, quote) for one in texts) for quote in quotes)
                state = Cited.FOUND if right else Cited.NOT_FOUND
            alone = len(numbers) == 1
            span = (mark.start(), mark.end()) if alone else (start, end)
            found.append(Citation(*span, number, state, quotes[-1] if quotes else ""))
        if not _joined_to_next(text, mark.end()):
            last = mark.end()
    return found


def has_quote(passage: str, quote: str) -> bool:
    """True if the passage has the quote literally; what the writer left out (…) may be anything."""
    shown = _letters(passage)
    at = 0
    for piece in _GAP.split(quote):
        letters = _letters(piece)
        at = shown.find(letters, at)
        if at < 0:
            return False
        at += len(letters)
    return True


def is_quote(quote: str) -> bool:
    """False for a word in quotation marks that is too short to be a citation."""
    return len(_letters(quote)) >= _LEAST


def quote_span(passage: str, quote: str) -> tuple[int, int] | None:
    """The characters of a passage that a quote without gaps has; None if it has none."""
    letters, places = _lettered(passage)
    wanted = _letters(quote)
    at = letters.find(wanted) if wanted else -1
    return None if at < 0 else (places[at], places[at + len(wanted) - 1] + 1)


def quotes_in(text: str) -> Iterator[str]:
    """The words in quotation marks."""
    for found in _QUOTES.finditer(text):
        yield next(one for one in found.groups() if one)


def _joined_to_next(text: str, at: int) -> bool:
    """True if another mark follows at once: [1][2] stand for the same words."""
    return _MARK.match(text, at) is not None or text[at : at + 2].strip().startswith("[")


@functools.lru_cache(maxsize=128)
def _letters(text: str) -> str:
    return _lettered(text)[0]


def _lettered(text: str) -> tuple[str, list[int]]:
    """Letters and digits of a text in their plain form, and the position of each."""
    pieces: list[str] = []
    places: list[int] = []
    if text.isascii():
        for at, one in enumerate(text):
            if one.isalnum():
                pieces.append(one.lower())
                places.append(at)
        return "".join(pieces), places

    shown, at_of = plain_places(text)
    for number, one in enumerate(shown):
        if one.isalnum():
            pieces.append(one)
            places.append(at_of[number])
    return "".join(pieces), places
