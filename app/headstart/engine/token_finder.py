"""Finds control tokens in text, in time that grows with the text, not with the number of tokens.

Some vocabularies have thousands of them. One alternation of all would try each at every position
where the first character matches, and hold the interpreter's lock meanwhile.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

# length of the prefixes that index the tokens
_HEAD = 3


class TokenFinder:
    """Finds the longest of the given texts at each position, from left to right."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = frozenset(text for text in texts if text)
        lengths: dict[str, set[int]] = {}
        for text in self._texts:
            lengths.setdefault(text[:_HEAD], set()).add(len(text))
        self._lengths = {head: sorted(sizes, reverse=True) for head, sizes in lengths.items()}
        self._heads = sorted({len(head) for head in lengths}, reverse=True)
        first = "".join(sorted({re.escape(text[0]) for text in self._texts}))
        self._first = re.compile(f"[{first}]") if first else None

    def plus(self, texts: Iterable[str]) -> TokenFinder:
        """A finder of more texts."""
        return TokenFinder((*self._texts, *texts))

    def find(self, text: str) -> Iterator[tuple[int, int]]:
        """Start and end of each match."""
        if self._first is None:
            return
        end = 0
        for found in self._first.finditer(text):
            at = found.start()
            if at < end:
                continue
            size = self.longest(text, at)
            if size:
                end = at + size
                yield at, end

    def split(self, text: str) -> list[str]:
        """Text and tokens alternating; the first and the last piece are text, possibly empty."""
        pieces, at = [], 0
        for start, end in self.find(text):
            pieces += [text[at:start], text[start:end]]
            at = end
        pieces.append(text[at:])
        return pieces

    def longest(self, text: str, at: int) -> int:
        """Length of the longest match at a position; 0 without one."""
        for head in self._heads:
            for size in self._lengths.get(text[at : at + head], ()):
                if text[at : at + size] in self._texts:
                    return size
        return 0
