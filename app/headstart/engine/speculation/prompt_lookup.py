"""Prompt lookup: where did the last tokens stand before, and what came next? Draft tokens from text
that repeats itself.

Pure. An index of the latest position after each run of 2, 3, 5 and 8 tokens, O(1) a token;
the longest and, among equals, the latest match wins (prompt lookup: Saxena 2023). Where a copy
was left because a word was changed, one token is enough to find back into it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct

from headstart.engine import image_tokens

SHORTEST, LONGER = 2, (3, 5, 8)
# how far back a match is measured: beyond this it is as sure as it gets
MEASURED = 24
# a copy that was left is looked for again, for so many tokens, so far beyond where it was left
_LEFT_FOR, _BEYOND = 24, 8
# seconds for each token that is indexed, measured on a slow core
_INDEXED = 4e-6


class Match(Struct, frozen=True):
    """The last `length` tokens stood before `position` too."""

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
        # where the last copy was left, and the length of the text then
        self._left: tuple[int, int] | None = None
        # whether the text from its first token on is indexed
        self.whole = True

    @property
    def tokens(self) -> Sequence[int]:
        return self._tokens

    def __len__(self) -> int:
        return len(self._tokens)

    def sync(self, tokens: Sequence[int], seconds: float = math.inf) -> None:
        """Make the index that of `tokens`; cheap when they only grew.

        Takes about `seconds` at most: of a long text that is new only the end is indexed then.
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

        The run that ends the text is indexed only when a token follows: it would find itself.
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
        """The text was a copy up to `position`, and went on otherwise."""
        self._left = (position, len(self._tokens))

    def find(self) -> Match | None:
        """The longest earlier place of the text's last tokens."""
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
        """Position of the last token a little further on in the copied text."""
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
        """The `count` tokens that followed, fewer before an image; a period that runs into the end
        goes on."""
        tokens, position = self._tokens, match.position
        period = len(tokens) - position
        end = image_tokens.first_image(tokens, position, position + min(count, period))
        if end < position + min(count, period):
            return tokens[position:end]
        if count <= period:
            return tokens[position : position + count]
        return [tokens[position + index % period] for index in range(count)]
