"""Variables in prompts: `{{date}}`, `{{clipboard}}`, and names that the user is asked for. Pure.

A system prompt must stay the same throughout a chat, or everything is recomputed: a chat keeps its
initial values, and its date is the day on which it began.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date

DATE, CLIPBOARD = "date", "clipboard"
# most characters of a value
LONGEST = 100_000

_VARIABLE = re.compile(r"\{\{[ \t]*([^\W\d][\w \t.-]{0,39}?)[ \t]*\}\}")


def names(text: str) -> list[str]:
    """The variables of a text, each once, in order; without the date, which is filled in by
    itself."""
    found = (match[1].strip().lower() for match in _VARIABLE.finditer(text))
    return [name for name in dict.fromkeys(found) if name != DATE]


def filled(text: str, values: Mapping[str, str], day: date) -> str:
    """The text with its values filled in; a variable without one stays. Values are inserted
    literally."""
    if "{{" not in text:
        return text
    known = {DATE: day_text(day), **values}
    return _VARIABLE.sub(lambda match: known.get(match[1].strip().lower(), match[0]), text)


def day_text(day: date) -> str:
    """A day in words: Monday, 23 November 2026."""
    weekdays = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
    months = (
        "January", "February", "March", "April", "May", "June", "July", "August", "September",
        "October", "November", "December",
    )  # fmt: skip
    return f"{weekdays[day.weekday()]}, {day.day} {months[day.month - 1]} {day.year}"
