"""Prompt lookup: finds an earlier occurrence of the last tokens, and drafts the tokens that
followed it.

Pure. An index of the latest position after each run of 2, 3, 5 and 8 tokens, O(1) per token; the
longest and, among equals, the latest match wins (prompt lookup: Saxena 2023). After a copy that a
changed word interrupted, one token is enough to resume it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct

from headstart.engine import image_tokens

SHORTEST, LONGER = 2, (3, 5, 8)
# the longest measured match: longer ones are no surer
MEASURED = 24
# an interrupted copy may resume within this many tokens, up to this far beyond the interruption
_LEFT_FOR, _BEYOND = 24, 8
# seconds per indexed token, measured on a slow core
_INDEXED = 4e-6


class Match(Struct, frozen=True):
    """An earlier occurrence of the last `length` tokens, which ends before `position`."""

    position: int
    length: int


class PromptLookup:
    """Indexes a growing text. `sync` follows it through cuts and other branches."""

    def __init__(self) -> None:
        self._clear()

    def _clear(self) -> None:
        self._tokens: list[int] = []
        self._short: dict[tuple[int, ...], int] = {}
        self._long: list[tuple[int, dict[tuple[int, ...], int]]] = [(n, {}) for n in LONGER]
        # the position where the last copy was interrupted, and the length of the text then
        self._left: tuple[int, int] | None = None
        # whether the text from its first token on is indexed
        self.whole = True

    @property
    def tokens(self) -> Sequence[int]:
        return self._tokens

    def __len__(self) -> int:
        return len(self._tokens)

    def sync(self, tokens: Sequence[int], seconds: float = math.inf) -> None:
        """Make the index match `tokens`; cheap if they only grew.

        Takes about `seconds` at most: of a long new text only the end is then indexed.
        """
        known = len(self._tokens)
        same = known <= len(tokens) and self._tokens == list(tokens[:known])
        if not same or (not self.whole and seconds == math.inf):
            self._clear()
            known = 0
        most = len(tokens) - known
        if seconds < most * _INDEXED:
            most = int(seconds / _INDEXED)
            self.whole = False
            self._tokens.extend(tokens[known : len(tokens) - most])
        self.extend(tokens[len(tokens) - most :])

    def extend(self, more: Sequence[int]) -> None:
        """Add tokens at the end.

        The run that ends the text is indexed only once a token follows, or it would find itself.
        """
        tokens = self._tokens
        for token in more:
            end = len(tokens)
            if end >= SHORTEST:
                self._short[tokens[-2], tokens[-1]] = end
                for size, after in self._long:
                    if end >= size:
                        after[tuple(tokens[-size:])] = end
            tokens.append(token)

    def copied(self, position: int) -> None:
        """Note that the text copied up to `position`, and then differed."""
        self._left = (position, len(self._tokens))

    def find(self) -> Match | None:
        """The longest earlier match of the text's last tokens."""
        tokens = self._tokens
        if len(tokens) < SHORTEST:
            return None
        position = self._short.get((tokens[-2], tokens[-1]))
        if position is None:
            return None if self._left is None else self._back_into_copy()
        for size, after in self._long:
            longer = after.get(tuple(tokens[-size:]))
            if longer is None:
                break
            position = longer
        return Match(position, self._measured(position))

    def _back_into_copy(self) -> Match | None:
        """A match of the last token slightly further on in the copied text."""
        assert self._left is not None
        (left, since), tokens = self._left, self._tokens
        if len(tokens) - since > _LEFT_FOR:
            self._left = None
            return None
        last = tokens[-1]
        for position in range(left + 1, min(left + 1 + _BEYOND, len(tokens))):
            if tokens[position - 1] == last:
                return Match(position, self._measured(position))
        return None

    def _measured(self, position: int) -> int:
        """Number of tokens before `position` that equal those at the end."""
        tokens, length = self._tokens, 0
        end = len(tokens)
        limit = min(position, MEASURED)
        while length < limit and tokens[position - 1 - length] == tokens[end - 1 - length]:
            length += 1
        return length

    def continuation(self, match: Match, count: int) -> list[int]:
        """The `count` tokens that followed the match, fewer before an image; a period that reaches
        the end repeats."""
        tokens, position = self._tokens, match.position
        period = len(tokens) - position
        end = image_tokens.first_image(tokens, position, position + min(count, period))
        if end < position + min(count, period):
            return tokens[position:end]
        if count <= period:
            return tokens[position : position + count]
        return [tokens[position + index % period] for index in range(count)]
