"""Finding text in messages, as it was written: Markdown between two words does not matter. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

# emphasis and code, where a word ends or begins
_MARKS = "[*_`~]{0,3}"
_LONGEST = 400


@dataclass(frozen=True, slots=True)
class FoundInChat:
    """A message with what was looked for: how often, and whether it is on the branch on show."""

    message_id: str
    count: int
    shown: bool


def pattern_of(query: str) -> re.Pattern[str] | None:
    """What finds a query, in any case; None for one without words."""
    words = query[:_LONGEST].split()
    if not words:
        return None
    between = rf"{_MARKS}\s+{_MARKS}"
    return re.compile(between.join(map(re.escape, words)), re.IGNORECASE)


def spans_of(query: str, text: str) -> Iterator[tuple[int, int]]:
    """Where a query is in a text, from and to."""
    pattern = pattern_of(query)
    return iter(()) if pattern is None else (found.span() for found in pattern.finditer(text))
