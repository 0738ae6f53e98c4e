"""Searches across all chats, and their results. Pure."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Iterable, Sequence

from msgspec import Struct
from msgspec.structs import replace


class Filters(Struct, frozen=True):
    """Limits of a search; dates are milliseconds, from (inclusive) and to (exclusive)."""

    model: str = ""
    folder: str = ""
    tag: str = ""
    after: int = 0
    before: int = 0
    has_code: bool = False
    has_file: bool = False

    @property
    def any(self) -> bool:
        return self != Filters()


class Snippet(Struct, frozen=True):
    """An excerpt around a match, and the match's start and end within it."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()


class SearchHit(Struct, frozen=True):
    """A message with a match; `kind`: kind of the matching part, text or file."""

    chat_id: str
    message_id: str
    role: str
    created_at: int
    snippet: Snippet
    kind: str = "text"


class ChatMatches(Struct, frozen=True):
    """Matches in one chat: the number of its messages with one, and the parts with the latest."""

    chat_id: str
    messages: int
    parts: tuple[int, ...] = ()


class FoundChat(Struct, frozen=True):
    """Results in one chat: in its title, or in messages, the latest first."""

    chat_id: str
    title: str
    updated_at: int
    archived: bool
    messages: tuple[SearchHit, ...]
    # number of further messages that match
    more: int = 0

    @property
    def count(self) -> int:
        """Number of messages that match."""
        return len(self.messages) + self.more


class FoundChats(Struct, frozen=True):
    """All chats with the words of a search, best first. `whole`: False if only the latest messages
    were looked at."""

    chats: tuple[FoundChat, ...] = ()
    whole: bool = True

    @property
    def messages(self) -> int:
        """Number of messages that match, in all chats."""
        return sum(one.count for one in self.chats)


# days after which a match counts half as much beside one of today
_FADES = 180.0


def in_order(
    found: Iterable[tuple[ChatMatches, int]], titles: Sequence[str], now: int
) -> list[ChatMatches]:
    """Chats best first, each with the moment of its last use (milliseconds, as `now`): those with
    the words in their title before the others; then those with more matches, where recent ones
    count more."""
    first = {chat_id: place for place, chat_id in enumerate(titles)}

    def rank(one: tuple[ChatMatches, int]) -> tuple[int, float]:
        matches, used_at = one
        days = max(0, now - used_at) / 86_400_000
        score = math.log2(1 + matches.messages) * (0.5 + 0.5 * 0.5 ** (days / _FADES))
        return first.get(matches.chat_id, len(first)), -score

    return [matches for matches, _ in sorted(found, key=rank)]


# "model:qwen has:code" and so on; a value with spaces is quoted
_WORD = re.compile(r'(?<!\S)(model|folder|tag|has|after|before|on):("[^"]*"?|\S+)', re.IGNORECASE)
# prefixes of all filters, offered by the window
WORDS = ("model:", "folder:", "tag:", "has:code", "has:file", "after:", "before:", "on:")


def parsed(query: str) -> tuple[str, Filters]:
    """The words of a query, and the filters between them. Unknown or meaningless filters count as
    words."""
    filters = Filters()
    words, at = [], 0
    for found in _WORD.finditer(query):
        changed = _with(filters, found[1].lower(), found[2].strip('"'))
        if changed is not None:
            filters = changed
            words.append(query[at : found.start()])
            at = found.end()
    return "".join((*words, query[at:])).strip(" "), filters


def _with(filters: Filters, name: str, value: str) -> Filters | None:
    match name, value.lower():
        case _, "":
            return None
        case "model", _:
            return replace(filters, model=value)
        case "folder", _:
            return replace(filters, folder=value.strip("/"))
        case "tag", _:
            return replace(filters, tag=value)
        case "has", "code":
            return replace(filters, has_code=True)
        case "has", "file" | "files" | "attachment":
            return replace(filters, has_file=True)
    if name not in ("after", "before", "on"):
        return None
    span = _span(value)
    if span is None:
        return None
    if name == "before":
        return replace(filters, before=span[0])
    if name == "after":
        return replace(filters, after=span[0])
    return replace(filters, after=span[0], before=span[1])


def _span(value: str) -> tuple[int, int] | None:
    """Start and end of a year, month or day in local time; None for anything else."""
    found = re.fullmatch(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?", value)
    try:
        if found is None:
            return _named_span(value.lower())
        year, month, day = (int(one) if one else 0 for one in found.groups())
        begin = dt.date(year, month or 1, day or 1)
        if day:
            end = begin + dt.timedelta(days=1)
        elif month:
            end = dt.date(year + month // 12, month % 12 + 1, 1)
        else:
            end = dt.date(year + 1, 1, 1)
        return _midnight(begin), _midnight(end)
    except (ValueError, OverflowError, OSError):
        return None


def _midnight(day: dt.date) -> int:
    """Milliseconds at the local start of a day: days have 23 or 25 hours when clocks change."""
    return int(dt.datetime(day.year, day.month, day.day).astimezone().timestamp() * 1000)


def _named_span(value: str) -> tuple[int, int] | None:
    days = {"today": 0, "yesterday": 1}.get(value)
    if days is None:
        return None
    begin = dt.date.today() - dt.timedelta(days=days)
    return _midnight(begin), _midnight(begin + dt.timedelta(days=1))
