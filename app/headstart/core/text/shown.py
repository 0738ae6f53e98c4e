"""Numbers and names for display. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from headstart.core.text.locale import Locale, locale, reads_from_right

# characters that count as letters or marks, and show nothing
_NOTHING = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
# spaces and line ends, and characters that only change how others are shown
_INVISIBLE = frozenset(("Zs", "Zl", "Zp", "Cc", "Cf"))
# a number and its unit, not inside a name (Qwen3-8B) and not isolated yet
_AMOUNT = re.compile(
    r"(?<![\w.+\u2066\u2068-])\d[\d.,\u066b\u066c\u202f]*[ \u00a0][A-Za-z][A-Za-z/]*"
)
_FROM_LEFT = re.compile("[A-Za-z\u00c0-\u024f\u0370-\u052f]")
# options, endings of files, beginnings of paths, negative numbers and measures of pictures: the
# signs belong to what follows them
_SIGNED = re.compile(
    r"(?<![\w/:<\u2066\u2068])(?:(?:--?|\.|/)[A-Za-z][\w./:-]*|-\d[\d.,]*|\d+ × \d+)"
)
# what decides the direction of a line: a letter, or a mark that stands for one
_STRONG = re.compile(
    "[\u200fA-Za-z\u00c0-\u024f\u0370-\u052f\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]"
)
_WIDE_ENDS = ("。", "！", "？", "：", "；")
# letters of scripts written from right to left
_FROM_RIGHT = re.compile(
    "[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)


def is_blank(text: str) -> bool:
    """True for a text without visible characters, which would be an empty message."""
    return all(
        one.isspace()
        or one in _NOTHING
        or unicodedata.category(one) in _INVISIBLE
        # variation selectors
        or "\ufe00" <= one <= "\ufe0f"
        for one in text
    )


def begins_at_right(text: str) -> bool:
    """True if the first letter of a text belongs to a script that is written from right to left."""
    for one in text:
        direction = unicodedata.bidirectional(one)
        if direction in ("L", "R", "AL"):
            return direction != "L"
    return False


def isolated(text: str) -> str:
    """A line of user text for display: text of the other direction keeps its own order in the
    window, punctuation included."""
    strange = _FROM_LEFT if reads_from_right() else _FROM_RIGHT
    return f"\u2068{text}\u2069" if strange.search(text) else text


def joined(sentences: Iterable[str]) -> str:
    """Sentences in one line: a full-width mark brings its own space."""
    whole = ""
    for one in filter(None, sentences):
        space = "" if not whole or whole.endswith(_WIDE_ENDS) else " "
        whole = f"{whole}{space}{one}"
    return whole


def at_start(text: str) -> str:
    """A name that stands alone in a line, for display: where reading begins in the window, for Qt
    goes by the first letter."""
    return f"\u200f\u2068{text}\u2069" if reads_from_right() and text else text


def from_left(text: str) -> str:
    """Keys, a path or a figure for display: read from the left in every window."""
    return f"\u2066{text}\u2069" if reads_from_right() and text else text


def in_window_order(text: str) -> str:
    """A sentence for display. In a window that is read from right to left, a number stays in front
    of its Latin unit (“31 tok/s”), which the algorithm of Unicode would put behind it, an option
    keeps its hyphens (“--home”), and a sentence that begins with a Latin name still begins at the
    right."""
    if not reads_from_right():
        return text
    for one in (_AMOUNT, _SIGNED):
        text = one.sub("\u2066\\g<0>\u2069", text)
    first = _STRONG.search(text)
    begins_left = first is not None and _FROM_LEFT.match(first[0]) is not None
    return f"\u200f{text}" if begins_left and _FROM_RIGHT.search(text) else text


def size_text(size: int, style: Locale | None = None) -> str:
    """Bytes in decimal units: 1 kB, 12 MB, 3.4 GB; in the window's language, or in that of
    `style`."""
    said = _size(size, style or locale())
    return said if style is not None else from_left(said)


def _size(size: int, style: Locale) -> str:
    if size < 1_000_000:
        return f"{style.number((size + 999) // 1000)} kB"
    if size < 1_000_000_000:
        return f"{style.number(size / 1e6)} MB"
    return f"{style.number(size / 1e9, 1)} GB"


def shortened(text: str, length: int) -> str:
    """At most `length` characters, with an ellipsis for the omitted rest."""
    return text if len(text) <= length else f"{text[: length - 1].rstrip()}…"


def count_text(count: int) -> str:
    """A count in short form: 890, 1.2k, 1.1M, 3.4B."""
    for limit, unit in ((1_000_000_000, "B"), (1_000_000, "M"), (1_000, "k")):
        if count >= limit:
            return _rounded(count / limit, 10) + unit
    return locale().number(count)


def tokens_text(count: int) -> str:
    """A count of tokens in short form: 890, 1.2k, 15.1k, 128k."""
    return locale().number(count) if count < 1_000 else f"{_rounded(count / 1_000, 100)}k"


def _rounded(value: float, whole_from: int) -> str:
    """One digit after the point below `whole_from`, unless it is a 0."""
    plain = value >= whole_from or f"{value:.1f}".endswith(".0")
    return locale().number(value, 0 if plain else 1)


def time_code(seconds: float) -> tuple[str, dict[str, int | str]]:
    """The code of a duration's text, and its facts."""
    if seconds < 90:
        return "time-seconds", {"seconds": max(1, round(seconds))}
    if seconds < 90 * 60:
        return "time-minutes", {"minutes": round(seconds / 60)}
    hours, minutes = divmod(round(seconds / 60), 60)
    if hours < 48:
        return "time-hours", {"hours": hours, "minutes": f"{minutes:02}"}
    return "time-days", {"days": hours // 24}


def age_code(seconds: float) -> tuple[str, dict[str, int | str]]:
    """The code of an age's text, and its facts."""
    days = int(seconds // 86_400)
    for length, unit in ((365, "years"), (30, "months"), (7, "weeks"), (1, "days")):
        if days >= length:
            return f"age-{unit}", {"count": days // length}
    return "age-today", {}
