"""Google's activity as a web page, Takeout's form unless JSON is chosen: each cell becomes the
record that JSON would have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from itertools import pairwise

from headstart.exchange.fields import Fields, time_of

_START = 1 << 20
_CELL = re.compile(r'<div class="outer-cell\b')
_HEADER = '<p class="mdl-typography--title">'
_CONTENT = re.compile(r'<div class="content-cell[^"]*mdl-typography--body-1">')
_CONTENT_END = re.compile(r'</div>\s*(?=<div class="content-cell|</div>|\Z)')
_BREAK, _TAG = re.compile(r"<br\s*/?>"), re.compile(r"<[^<>]*>")
# a time in any language: a year, and hours, minutes and seconds
_MOMENT = re.compile(r"(?=.*\b\d{4}\b)(?=.*\b\d{1,2}:\d\d:\d\d\b).{8,80}")
# offsets east of Greenwich in minutes, by abbreviation of the zone
_ZONES = {
    "UTC": 0, "GMT": 0, "WET": 0, "BST": 60, "WEST": 60, "CET": 60, "MEZ": 60, "CEST": 120,
    "MESZ": 120, "EET": 120, "EEST": 180, "MSK": 180, "IST": 330, "JST": 540, "KST": 540,
    "AEST": 600, "AEDT": 660, "EST": -300, "EDT": -240, "CST": -360, "CDT": -300, "MST": -420,
    "MDT": -360, "PST": -480, "PDT": -420,
}  # fmt: skip


def is_page(data: memoryview) -> bool:
    """True for a page of activity in Google's Gemini."""
    start = bytes(data[:_START])
    return (
        start.lstrip()[:1] == b"<"
        and b"outer-cell" in start
        and (b"Gemini" in start or b"Bard" in start)
    )


def records(data: memoryview) -> Iterator[Fields]:
    """Records with `header`, `title`, `time` (milliseconds) and `safeHtmlItem`, newest first."""
    page = bytes(data).decode("utf-8", "replace")
    starts = [found.start() for found in _CELL.finditer(page)]
    for start, end in pairwise([*starts, len(page)]):
        cell = page[start:end]
        header, content = _header(cell), _content(cell)
        if header is None or content is None:
            continue
        pieces = _BREAK.split(content)
        at = next((n for n, one in enumerate(pieces) if n and _MOMENT.fullmatch(_plain(one))), None)
        asked = pieces if at is None else pieces[:at]
        answer = "" if at is None else "<br>".join(pieces[at + 1 :]).strip()
        yield Fields(
            {
                "header": _plain(header),
                "title": "\n".join(_plain(one) for one in asked).strip(),
                "time": 0 if at is None else _time(_plain(pieces[at])),
                "safeHtmlItem": [{"html": answer}] if answer else [],
            }
        )


def _header(cell: str) -> str | None:
    _, found, rest = cell.partition(_HEADER)
    header, closed, _ = rest.partition("</p>")
    return header if found and closed else None


def _content(cell: str) -> str | None:
    begin = _CONTENT.search(cell)
    # what ends no first cell ends no later one
    end = None if begin is None else _CONTENT_END.search(cell, begin.end())
    return None if begin is None or end is None else cell[begin.end() : end.start()]


def _plain(html: str) -> str:
    return unescape(_TAG.sub("", html)).replace("\xa0", " ").strip()


def _time(text: str) -> int:
    words = text.split()
    zone = words[-1] if words else ""
    moment = time_of(" ".join(words[:-1]) if zone in _ZONES else text)
    return moment - _ZONES.get(zone, 0) * 60_000 if moment else 0
