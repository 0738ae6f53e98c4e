"""Repeats in prompt and reply as guesses: where the last tokens stood before, what came next?

Pure. An index of the latest position after each run of 2 to 8 tokens, kept up in O(1) a token;
the longest and, among equals, the latest match wins (prompt lookup: Saxena 2023).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

SHORTEST, LONGEST = 2, 8
# how far back a match is measured: beyond this it is as sure as it gets
MEASURED = 24


@dataclass(frozen=True, slots=True)
class Match:
    """The last `length` tokens stood before `position` too."""

    position: int
    length: int


class RepeatIndex:
    """Indexes a growing text. `sync` follows it through cuts and other branches."""

    def __init__(self) -> None:
        self._tokens: list[int] = []
        self._after: list[dict[tuple[int, ...], int]] = [{} for _ in range(LONGEST + 1)]

    def __len__(self) -> int:
        return len(self._tokens)

    def sync(self, tokens: Sequence[int]) -> None:
        """Make the index that of `tokens`; cheap when they only grew."""
        known = len(self._tokens)
        if known > len(tokens) or self._tokens != list(tokens[:known]):
            self.__init__()  # type: ignore[misc]
            known = 0
        self.extend(tokens[known:])

    def extend(self, more: Sequence[int]) -> None:
        """Add tokens at the end.

        The run that ends the text is indexed only when a token follows: it would find itself.
        """
        tokens, after = self._tokens, self._after
        for token in more:
            end = len(tokens)
            for size in range(SHORTEST, min(LONGEST, end) + 1):
                after[size][tuple(tokens[end - size :])] = end
            tokens.append(token)

    def find(self) -> Match | None:
        """The longest earlier place of the text's last tokens."""
        tokens = self._tokens
        end = len(tokens)
        position = self._after[SHORTEST].get(tuple(tokens[-SHORTEST:]))
        if position is None:
            # nearly always the answer, so it comes first
            return None
        for size in range(min(LONGEST, end), SHORTEST, -1):
            longer = self._after[size].get(tuple(tokens[-size:]))
            if longer is not None:
                position = longer
                break
        length = 0
        limit = min(position, MEASURED)
        while length < limit and tokens[position - 1 - length] == tokens[end - 1 - length]:
            length += 1
        return Match(position, length)

    def guess(self, match: Match, count: int) -> list[int]:
        """The `count` tokens that followed; a period that runs into the end goes on."""
        tokens, position = self._tokens, match.position
        period = len(tokens) - position
        if count <= period:
            return tokens[position : position + count]
        return [tokens[position + index % period] for index in range(count)]
