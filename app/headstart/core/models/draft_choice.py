"""Which of several drafts is worth most for a model: by what was measured, else by what their sizes
promise. Pure.

The promise is the usual one of speculative decoding (Leviathan et al., 2023): with acceptance `a`
and a draft that costs `c` of the target's time, depth `d` gives (1 - a^(d+1)) / (1 - a) tokens for
the time of 1 + d * c forwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct


class Works(StrEnum):
    """The judgement of a draft, the best one first; BY_TEXT is slower."""

    YES = "yes"
    BY_TEXT = "by text"
    NO = "no"


# tokens after which a measurement counts for itself, and after which older ones fade
KNOWN, FADES = 200, 2_000
# less than that is no gain: the memory is worth more
LEAST = 1.03
# how often drafts of each kind are right before anything was measured
_RIGHT = {Works.YES: 0.75, Works.BY_TEXT: 0.55}
# a head costs about a layer, and is right less often than a good model
_HEAD_COST, _HEAD_RIGHT = 0.06, 0.6
# verifying several tokens costs more than one, on most computers
_ROW = 0.06
_DEEPEST = 8


class Measured(Struct, frozen=True):
    """Gain of a draft: the speed of replies over plain decoding, and over how many tokens."""

    gain: float = 1.0
    tokens: int = 0

    def with_reply(self, gain: float, tokens: int) -> Measured:
        """After another reply: what lies long back fades."""
        before = min(self.tokens, FADES)
        mean = (self.gain * before + gain * tokens) / max(1, before + tokens)
        return Measured(mean, self.tokens + tokens)


class Candidate(Struct, frozen=True):
    """A draft that works. `share`: of the target's size; None for heads and own layers."""

    key: str
    works: Works
    share: float | None
    measured: Measured = Measured()

    @property
    def expected(self) -> float:
        """Speed of the next replies over plain decoding."""
        known = min(1.0, self.measured.tokens / KNOWN)
        return known * self.measured.gain + (1 - known) * self._promise

    @property
    def _promise(self) -> float:
        right = _HEAD_RIGHT if self.share is None else _RIGHT.get(self.works, 0.0)
        cost = _HEAD_COST if self.share is None else self.share
        return max(
            sum(right**step for step in range(depth + 1)) / (1 + depth * (cost + _ROW))
            for depth in range(1, _DEEPEST + 1)
        )


def best(candidates: Sequence[Candidate]) -> Candidate | None:
    """The one to draft with; None where none of them pays. Of equals the first."""
    worth = [one for one in candidates if one.expected >= LEAST]
    return max(worth, key=lambda one: one.expected, default=None)
