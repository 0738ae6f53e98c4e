"""Plan of a round, and a chain of draft tokens as it grows. Pure values."""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct, field

from headstart.core.chats.parts import Origin


class DraftPlan(Struct, frozen=True):
    """Plan of the next round: plain (TARGET), LOOKUP or DRAFT with at most `depth` tokens."""

    source: Origin
    depth: int = 0
    # read at most so many tokens into the draft first; None reads all it lacks
    window: int | None = None
    # only score the draft on the text so far, and decide afterwards
    probe: bool = False
    # read the whole text, what is held is forgotten
    from_start: bool = False
    # of LOOKUP: a chain of a table rather than text that repeats itself
    chain: Chain | None = None


PLAIN = DraftPlan(Origin.TARGET)


class Chain(Struct, frozen=True):
    """Draft tokens that a table gives without a forward, and the chance of each where those before
    it are right."""

    tokens: Sequence[int]
    chances: Sequence[float]
    # of text that stood in an earlier chat: how many tokens before it were the same
    length: int = 0


class Path(Struct):
    """A chain of draft tokens as it grows: the chance of each, and of getting that far."""

    chances: list[float] = field(default_factory=list)
    reach: float = 1.0
    expected: list[float] = field(default_factory=lambda: [1.0])

    def add(self, chance: float) -> None:
        self.chances.append(chance)
        self.reach *= chance
        self.expected.append(self.expected[-1] + self.reach)


def probability_margin(confidence: float) -> float:
    """The margin at which the first candidate has this share of the first two."""
    return math.log(confidence / (1 - confidence)) if confidence > 0 else float("-inf")
