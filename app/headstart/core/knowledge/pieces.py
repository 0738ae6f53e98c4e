"""Cuts a file's text into pieces for the index, along headings, paragraphs, items and code. Pure.

The pieces cover the text without gaps or overlap, so that a place is a range of the text, and the
text is its pieces joined. A piece knows the headings above it. Sizes follow tokens: a Chinese,
Japanese or Korean character counts as several letters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

# most letters of a piece, and the least before a heading begins another one
_MOST, _LEAST = 1_600, 600
# letters that one wide character counts as
_WIDE = 3.6
_WIDE_SIGNS = re.compile("[\u1100-\u11ff\u2e80-\uffdc\U00020000-\U0003ffff]")
PAGE_BREAK = "\f"
_LINE = re.compile("[^\n\f]*[\n\f]?")
_ATX = re.compile(r" {0,3}(#{1,6})[ \t]++(\S.*)")
_RULE = re.compile(r"([=\-~^\"'`*+#:.])\1{2,}[ \t]*$")
# headings of plain text: 3.1 or 3.1.2, then words; one number begins the items of lists as well
_NUMBERED = re.compile(r"(\d{1,3}(?:\.\d{1,3}){1,4})\.?[ \t]+(\S.{1,110})$")
_ITEM = re.compile(r"[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+\S")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
# the ends of sentences, best first, then of lines and words
_BREAKS = (re.compile(r"[.!?][\s]+|[。！？]"), re.compile(r"\n"), re.compile(r"\s+"))
# characters that belong to the one before them
_JOINED = re.compile(
    "[\u0300-\u036f\u0610-\u061a\u064b-\u065f\u200d\ufe00-\ufe0f\U0001f3fb-\U0001f3ff]"
)
_LONGEST_HEADING, _DEEPEST = 120, 6
BETWEEN_HEADINGS = " › "


class CutPiece(Struct, frozen=True):
    """Characters `start` to `end` of a text, in code points. `page`: from 1 on, 0 for a text
    without pages; `line`: from 1 on, in its page. `heading`: the headings above it."""

    start: int
    end: int
    page: int = 0
    line: int = 1
    heading: str = ""


class _Block(Struct):
    start: int
    end: int
    # of a heading, from 1 on; 0 for all others
    level: int = 0
    title: str = ""


def cut(text: str, pages: bool = False) -> list[CutPiece]:
    """The pieces of a text, [] for no text. `pages`: its pages are separated by PAGE_BREAK, and the
    words of a piece are on one page."""
    if not text.strip():
        return []
    spans: list[tuple[int, int, str]] = []
    path: list[tuple[int, str]] = []
    start, size, heading = 0, 0.0, ""
    for block in _blocks(text, pages):
        weight = _weight(text, block.start, block.end)
        body = text[start : block.start].lstrip()
        over = size + weight > _MOST or (pages and PAGE_BREAK in body)
        ends = over or (block.level and size >= _LEAST)
        # a piece has words
        if ends and body and text[block.start : block.end].strip():
            spans.append((start, block.start, heading))
            start, size = block.start, 0.0
        if not size:
            # the headings in force before this block: a heading of its own is in its text
            above = [one for one in path if not block.level or one[0] < block.level]
            heading = BETWEEN_HEADINGS.join(title for _, title in above)
        if block.level:
            path = [one for one in path if one[0] < block.level][-_DEEPEST:]
            path.append((block.level, block.title))
        if weight > _MOST:
            for first, last in _parts(text, start, block.end):
                if text[first:last].strip() or not spans:
                    spans.append((first, last, heading))
                else:
                    # the line end of a block that just filled its parts
                    spans[-1] = (spans[-1][0], last, spans[-1][2])
            start, size = block.end, 0.0
            continue
        size += weight
    if start < len(text):
        if spans and not text[start:].strip():
            spans[-1] = (spans[-1][0], len(text), spans[-1][2])
        else:
            spans.append((start, len(text), heading))
    return _placed(text, spans, pages)


def meant(heading: str, text: str) -> str:
    """The text whose vector stands for a piece."""
    body = text.strip()
    shown = [one for one in heading.split(BETWEEN_HEADINGS) if one and one not in body[:200]]
    return "\n".join((BETWEEN_HEADINGS.join(shown), body)) if shown else body


def _placed(text: str, spans: list[tuple[int, int, str]], pages: bool) -> list[CutPiece]:
    """The pieces with the page and the line of their first visible character."""
    found, page, line, at = [], 1, 1, 0
    for start, end, heading in spans:
        body = text[start:end]
        first = start + len(body) - len(body.lstrip())
        breaks = text.count(PAGE_BREAK, at, first) if pages else 0
        if breaks:
            page += breaks
            line = 1 + text.count("\n", text.rindex(PAGE_BREAK, at, first), first)
        else:
            line += text.count("\n", at, first)
        at = first
        found.append(CutPiece(start, end, page if pages else 0, line, heading))
    return found


def _weight(text: str, start: int, end: int) -> float:
    piece = text[start:end]
    if piece.isascii():
        return float(end - start)
    wide = sum(1 for _ in _WIDE_SIGNS.finditer(piece))
    return end - start + (_WIDE - 1) * wide


def _parts(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A long block in parts that end with a sentence, a line or a word, if it has them."""
    while start < end:
        share = _weight(text, start, min(end, start + _MOST)) / min(end - start, _MOST)
        most = max(1, int(_MOST / share))
        if end - start <= most:
            yield start, end
            return
        at = 0
        for pattern in _BREAKS:
            places = (one.end() for one in pattern.finditer(text, start + most // 2, start + most))
            at = max(places, default=0)
            if at:
                break
        at = at or start + most
        while at < end and _JOINED.match(text, at):
            at += 1
        yield start, at
        start = at


def _blocks(text: str, pages: bool) -> Iterator[_Block]:
    """Headings, paragraphs, items of lists and code blocks; each with the blank lines after it."""
    marks: list[str] = []
    now: _Block | None = None
    fence, blank, lines = "", False, 0
    for found in _LINE.finditer(text):
        if not found[0]:
            continue
        line = found[0].rstrip("\n\f")
        if pages and now is not None and text[found.start() - 1] == PAGE_BREAK:
            yield now
            now, fence, blank, lines = None, "", False, 0
        begins = now is None or blank
        if fence:
            if line.strip().startswith(fence):
                fence, blank = "", True
            assert now is not None
            now.end = found.end()
            continue
        if not line.strip():
            blank = True
            if now is None:
                now = _Block(found.start(), found.end())
            now.end = found.end()
            continue
        opened = _FENCE.match(line)
        heading = _heading(line, begins)
        under = _RULE.match(line) if now is not None and lines == 1 and not blank else None
        if under and now is not None and not now.level:
            title = text[now.start : found.start()].strip()
            if title and len(title) <= _LONGEST_HEADING and not _RULE.match(title):
                if under[1] not in marks:
                    marks.append(under[1])
                now.level, now.title = marks.index(under[1]) + 1, title
                now.end, blank = found.end(), True
                continue
        if begins or heading or opened or _ITEM.match(line) or (now and now.level):
            if now is not None:
                yield now
            level, title = heading or (0, "")
            now, lines = _Block(found.start(), found.end(), level, title), 0
        assert now is not None
        now.end, lines = found.end(), lines + 1
        blank = bool(heading)
        fence = opened[1] if opened else ""
    if now is not None:
        yield now


def _heading(line: str, begins: bool) -> tuple[int, str] | None:
    found = _ATX.match(line)
    if found is not None:
        # signs at the end close it
        title = found[2].rstrip(" \t").rstrip("#").rstrip(" \t") or found[2][0]
        return len(found[1]), title[:_LONGEST_HEADING]
    found = _NUMBERED.match(line) if begins else None
    if found is not None and not line.rstrip().endswith((".", ",", ";")):
        return found[1].count(".") + 1, line.strip()
    return None
