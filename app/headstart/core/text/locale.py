"""Numbers, lists, dates and plural forms in the language of the window. Pure.

One object implements all of them. Without a window, and in tests, it is plain English; the window
installs the system's conventions when it starts.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Protocol

from headstart.core.text.languages import FROM_RIGHT
from headstart.core.text.plurals import plural_form


class Locale(Protocol):
    language: str  # ISO 639

    def number(self, value: float, digits: int = 0) -> str:
        """With separators between thousands and `digits` after the point."""

    def percent(self, share: float, digits: int = 0) -> str:
        """A fraction of 1 as a percentage."""

    def listed(self, items: Sequence[str]) -> str:
        """“a, b and c”."""

    def keys(self, keys: str) -> str:
        """“Ctrl+Shift+N” as the keyboards of this system have it: “Strg+Umschalt+N”, “⇧⌘N”."""

    def clock(self, moment: dt.time) -> str:
        """The time of day, without seconds."""

    def day(self, day: dt.date, year: bool) -> str:
        """“16 October”, or “16 October 2025” with the year."""

    def month(self, day: dt.date) -> str:
        """“October 2025”."""


class PlainEnglish:
    language = "en"

    def number(self, value: float, digits: int = 0) -> str:
        return f"{value:,.{digits}f}"

    def percent(self, share: float, digits: int = 0) -> str:
        return f"{share:.{digits}%}"

    def listed(self, items: Sequence[str]) -> str:
        return " and ".join(part for part in (", ".join(items[:-1]), *items[-1:]) if part)

    def keys(self, keys: str) -> str:
        return keys

    def clock(self, moment: dt.time) -> str:
        return f"{moment:%H:%M}"

    def day(self, day: dt.date, year: bool) -> str:
        return f"{day.day} {_MONTHS[day.month - 1]}{f' {day.year}' if year else ''}"

    def month(self, day: dt.date) -> str:
        return f"{_MONTHS[day.month - 1]} {day.year}"


_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip

# prompts and exported files use it in every language
PLAIN = PlainEnglish()
_locale: Locale = PLAIN


def locale() -> Locale:
    return _locale


def use_locale(wanted: Locale) -> None:
    """Format all text from now on with `wanted`."""
    global _locale
    _locale = wanted


def plural(count: int) -> str:
    """The plural form of `count` in the language of the window."""
    return plural_form(_locale.language, count)


def reads_from_right() -> bool:
    """True if the language of the window is written from right to left."""
    return _locale.language in FROM_RIGHT
