"""Variables in prompts: `{{date}}`, `{{clipboard}}`, and names that the user is asked for. Pure.

What a system prompt says must stay the same through a chat, or all of it is recomputed: a chat
keeps the values that it began with, and its date is the day on which it began.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date

DATE, CLIPBOARD = "date", "clipboard"
# characters of a value that is filled in
LONGEST = 100_000

_VARIABLE = re.compile(r"\{\{[ \t]*([^\W\d][\w \t.-]{0,39}?)[ \t]*\}\}")


def names(text: str) -> list[str]:
    """The variables of a text, each once, in their order; the date is nobody's to fill in."""
    found = (match[1].strip().lower() for match in _VARIABLE.finditer(text))
    return [name for name in dict.fromkeys(found) if name != DATE]


def filled(text: str, values: Mapping[str, str], day: date) -> str:
    """The text with its values; a variable without one stays as it is. Values are not looked into:
    what they contain is text."""
    if "{{" not in text:
        return text
    known = {DATE: day_text(day), **values}
    return _VARIABLE.sub(lambda match: known.get(match[1].strip().lower(), match[0]), text)


def day_text(day: date) -> str:
    """A day as people, and models, read it: Monday, 23 November 2026."""
    weekdays = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
    months = (
        "January", "February", "March", "April", "May", "June", "July", "August", "September",
        "October", "November", "December",
    )  # fmt: skip
    return f"{weekdays[day.weekday()]}, {day.day} {months[day.month - 1]} {day.year}"
