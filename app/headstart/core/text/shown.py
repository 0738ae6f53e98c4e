"""Numbers and names as people read them. Pure."""

from __future__ import annotations

import re
import unicodedata

# signs that count as letters or marks, and show nothing
_NOTHING = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
# spaces and line ends, and signs that only change how others are shown
_INVISIBLE = frozenset(("Zs", "Zl", "Zp", "Cc", "Cf"))
# letters of scripts that are written from right to left
_FROM_RIGHT = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)


def is_blank(text: str) -> bool:
    """True for a text in which nothing can be seen: a message of that kind says nothing."""
    return all(
        one.isspace()
        or one in _NOTHING
        or unicodedata.category(one) in _INVISIBLE
        # selectors of variants
        or "\ufe00" <= one <= "\ufe0f"
        for one in text
    )


def isolated(text: str) -> str:
    """A line of somebody's words as it is shown: one from right to left keeps its own direction
    where the window's is another, punctuation included."""
    return text if text.isascii() or not _FROM_RIGHT.search(text) else f"\u2068{text}\u2069"


def size_text(size: int) -> str:
    """Bytes in decimal units: 1 kB, 12 MB, 3.4 GB."""
    if size < 1_000_000:
        return f"{(size + 999) // 1000:,} kB"
    if size < 1_000_000_000:
        return f"{size / 1e6:,.0f} MB"
    return f"{size / 1e9:,.1f} GB"


def shortened(text: str, length: int) -> str:
    """At most so many characters, with an ellipsis for what is left out."""
    return text if len(text) <= length else f"{text[: length - 1].rstrip()}…"


def count_text(count: int) -> str:
    """A count as people say it: 890, 1.2k, 1.1M, 3.4B."""
    for limit, unit in ((1_000_000_000, "B"), (1_000_000, "M"), (1_000, "k")):
        if count >= limit:
            value = count / limit
            return f"{value:.0f}{unit}" if value >= 10 else f"{value:.1f}".removesuffix(".0") + unit
    return str(count)


def tokens_text(count: int) -> str:
    """Tokens as people say them: 890, 1.2k, 15.1k, 128k."""
    if count < 1_000:
        return str(count)
    value = count / 1_000
    return f"{value:.0f}k" if value >= 100 else f"{value:.1f}".removesuffix(".0") + "k"


def count_words(count: int, word: str) -> str:
    """A number with its noun: 1 chat, 2,000 chats."""
    return f"{count:,} {word if count == 1 else f'{word}s'}"


def time_text(seconds: float) -> str:
    """Duration in words: 20 s, 3 min, 1 h 05."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    if seconds < 90 * 60:
        return f"{round(seconds / 60)} min"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes:02}" if hours < 48 else f"{hours // 24} days"


def age_text(seconds: float) -> str:
    """Age in words: today, 3 days ago, 2 months ago."""
    days = int(seconds // 86_400)
    if days < 1:
        return "today"
    for length, name in ((365, "year"), (30, "month"), (7, "week"), (1, "day")):
        if days >= length:
            count = days // length
            return f"{count} {name}{'' if count == 1 else 's'} ago"
    return "today"
