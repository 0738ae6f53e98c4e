"""A second stage of drafting: draft tokens for the draft model, from its processed text. Pure.

A forward of the draft takes about as long for two or three tokens as for one, because its weights
are read once. So what usually comes after the last two tokens is put behind the token that it is
going to decode: where its own prediction is the same, the next row is there without a forward. What
is drafted stays what the draft says, token by token.
"""

from __future__ import annotations

from collections.abc import Sequence

from headstart.engine.speculation.costs import Costs
from headstart.engine.speculation.recycling import Recycling

# tokens in one forward
MOST = 3
# entries: the older half goes when they are full
_PAIRS = 1 << 17
# tokens of a text that are looked at when it begins
_LOOKED_AT = 4096
# the rest of a test's weight after each further one; tests that the first idea counts for
_FADE, _FIRST, _FIRST_WEIGHT = 0.97, 0.4, 4.0
# so much more has to come of a forward with draft tokens
_WORTH = 1.03


class SecondStage:
    """`recycling`: what the target thought likely in earlier replies, where that may be used."""

    def __init__(self, same: bool = True) -> None:
        """`same`: the draft has the target's tokens."""
        self.recycling: Recycling | None = None
        self._same = same
        # the token after two others when they stood together last
        self._after: dict[tuple[int, int], int] = {}
        # of these tokens: how many were right, and how many there were
        self._right, self._made = _FIRST * _FIRST_WEIGHT, _FIRST_WEIGHT
        # of the tokens that were given last, how many are from the text itself
        self._own = 0

    def see(self, tokens: Sequence[int], start: int = 0) -> None:
        """A text, of which what is before `start` is known."""
        first = max(2, start, len(tokens) - _LOOKED_AT)
        after = self._after
        for index in range(first, len(tokens)):
            after[tokens[index - 2], tokens[index - 1]] = tokens[index]
        if len(after) > _PAIRS:
            for key in list(after)[: _PAIRS // 2]:
                del after[key]

    def next(self, before: int, last: int, costs: Costs, context: int) -> list[int]:
        """Tokens worth decoding behind `last`, which comes after `before`."""
        found, chances = self._known(before, last)
        best, chosen, reach, tokens = _WORTH, 0, 1.0, 1.0
        ratios = costs.ratios(range(2, len(found) + 2), context)
        for count, chance in enumerate(chances, 1):
            reach *= chance
            tokens += reach
            rate = tokens / ratios[count - 1]
            if rate > best:
                best, chosen = rate, count
        self._own = min(self._own, chosen)
        return found[:chosen]

    def learn(self, right: int) -> None:
        """Learn that so many of the tokens given last were right, up to the first wrong one."""
        for place in range(min(self._own, right + 1)):
            self._right = self._right * _FADE + (place < right)
            self._made = self._made * _FADE + 1

    def _known(self, before: int, last: int) -> tuple[list[int], list[float]]:
        """Draft tokens with their chances: from the text, then from the target's candidates."""
        found: list[int] = []
        while len(found) < MOST and (token := self._after.get((before, last))) is not None:
            found.append(token)
            before, last = last, token
        self._own = len(found)
        chances = [self._right / self._made] * len(found)
        if self.recycling is not None and self._same and len(found) < MOST:
            more = self.recycling.after(before, last, MOST - len(found))
            found += more.tokens
            chances += more.chances
        return found, chances
