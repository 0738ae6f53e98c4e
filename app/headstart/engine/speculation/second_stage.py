"""A second stage of drafting: drafts for the draft model, from its processed text. Pure.

A forward of the draft takes about as long for two or three tokens as for one, because its weights
are read once. So the usual continuation of the last two tokens is decoded together with the next
token: if the draft's own prediction is the same, the next row needs no forward. The drafted tokens
are still the draft's own predictions.
"""

from __future__ import annotations

from collections.abc import Sequence

from headstart.engine.speculation.costs import Costs
from headstart.engine.speculation.recycling import Recycling

# the most tokens added to one forward
MOST = 3
# entries: the older half is dropped when they are full
_PAIRS = 1 << 17
# tokens indexed at the end of a new text
_LOOKED_AT = 4096
# fading of a sample with each further one; the prior, and the number of samples that it counts for
_FADE, _FIRST, _FIRST_WEIGHT = 0.97, 0.4, 4.0
# least gain in rate of a forward with added tokens
_WORTH = 1.03


class SecondStage:
    """Proposes tokens. `recycling`: the target's candidates from earlier replies, if allowed."""

    def __init__(self, same: bool = True) -> None:
        """`same`: the draft has the target's vocabulary."""
        self.recycling: Recycling | None = None
        self._same = same
        # the last token that followed each pair
        self._after: dict[tuple[int, int], int] = {}
        # of these tokens: the right ones, and all
        self._right, self._made = _FIRST * _FIRST_WEIGHT, _FIRST_WEIGHT
        # number of the last proposed tokens that come from the text itself
        self._own = 0

    def forget(self) -> None:
        """Drop the indexed text."""
        self._after.clear()
        self.recycling = None

    def see(self, tokens: Sequence[int], start: int = 0) -> None:
        """Index a text from `start` on."""
        first = max(2, start, len(tokens) - _LOOKED_AT)
        after = self._after
        for index in range(first, len(tokens)):
            after[tokens[index - 2], tokens[index - 1]] = tokens[index]
        if len(after) > _PAIRS:
            for key in list(after)[: _PAIRS // 2]:
                del after[key]

    def next(self, before: int, last: int, costs: Costs, context: int) -> list[int]:
        """Tokens worth decoding after `last`, which follows `before`."""
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
        """Learn that the first `right` of the last proposed tokens were right."""
        for place in range(min(self._own, right + 1)):
            self._right = self._right * _FADE + (place < right)
            self._made = self._made * _FADE + 1

    def _known(self, before: int, last: int) -> tuple[list[int], list[float]]:
        """Proposed tokens with their chances: from the text, then from the target's candidates."""
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
