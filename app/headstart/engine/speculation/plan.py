"""The plan of a round, and a growing chain of draft tokens. Pure values."""

from __future__ import annotations

import math
from collections.abc import Sequence

from msgspec import Struct, field

from headstart.core.chats.parts import Origin


class DraftPlan(Struct, frozen=True):
    """The plan of the next round: plain (TARGET), LOOKUP or DRAFT with at most `depth` tokens."""

    source: Origin
    depth: int = 0
    # first prefill at most this many tokens into the draft; None: all missing ones
    window: int | None = None
    # only score the draft on the text so far, then plan again
    probe: bool = False
    # prefill the whole text, and forget the held one
    from_start: bool = False
    # for LOOKUP: a chain from a table in place of repeated text
    chain: Chain | None = None


PLAIN = DraftPlan(Origin.TARGET)


class Chain(Struct, frozen=True):
    """Draft tokens from a table, without a forward, and the chance of each if those before it are
    right."""

    tokens: Sequence[int]
    chances: Sequence[float]
    # for text of an earlier chat: number of matching tokens before it
    length: int = 0
    # the grammar leaves no other text
    forced: bool = False


class Path(Struct):
    """A growing chain of draft tokens: the chance of each, of all of them, and the expected tokens
    by length."""

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
