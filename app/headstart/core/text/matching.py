"""Match between a title and typed text: all words, in any order, preferably at word starts.
Pure."""

from __future__ import annotations

import re

_WORDS = re.compile(r"\w+")


def score(query: str, title: str) -> int | None:
    """Rank of a match, smaller is better; None if a word is missing."""
    wanted = query.casefold().split()
    text = title.casefold()
    begins = [found.start() for found in _WORDS.finditer(text)]
    total = 0
    for word in wanted:
        at = text.find(word)
        if at < 0:
            return None
        starts = any(text.startswith(word, begin) for begin in begins)
        total += 0 if at == 0 else 1 if starts else 3
    return total * 1_000 + min(len(text), 999)
