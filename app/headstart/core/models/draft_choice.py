"""Choice of the draft that gains most for a model: by measurements, else by an estimate from the
sizes. Pure.

The estimate is the usual one of speculative decoding (Leviathan et al., 2023): with acceptance `a`
and a draft that costs `c` of the target's time, depth `d` gives (1 - a^(d+1)) / (1 - a) tokens for
the time of 1 + d * c forwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from msgspec import Struct


class Works(StrEnum):
    """The verdict on a draft, best first; BY_TEXT is slower."""

    YES = "yes"
    BY_TEXT = "by text"
    NO = "no"


# tokens until a measurement replaces the estimate, and until older measurements fade
KNOWN, FADES = 200, 2_000
# a smaller gain is not worth the memory
LEAST = 1.03
# acceptance of each kind of draft before any measurement
_RIGHT = {Works.YES: 0.75, Works.BY_TEXT: 0.55}
# a head costs about as much as a layer, and is right less often than a good model
_HEAD_COST, _HEAD_RIGHT = 0.06, 0.6
# verifying several tokens costs more than one, on most computers
_ROW = 0.06
_DEEPEST = 8


class Measured(Struct, frozen=True):
    """Gain of a draft: the speed of replies relative to plain decoding, and the tokens measured."""

    gain: float = 1.0
    tokens: int = 0

    def with_reply(self, gain: float, tokens: int) -> Measured:
        """Add another reply; older ones fade."""
        before = min(self.tokens, FADES)
        mean = (self.gain * before + gain * tokens) / max(1, before + tokens)
        return Measured(mean, self.tokens + tokens)


class Candidate(Struct, frozen=True):
    """A usable draft. `share`: its size relative to the target's; None for heads and own layers."""

    key: str
    works: Works
    share: float | None
    measured: Measured = Measured()

    @property
    def expected(self) -> float:
        """Expected speed of the next replies relative to plain decoding."""
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
    """The draft with the largest gain, the first of equals; None if none pays."""
    worth = [one for one in candidates if one.expected >= LEAST]
    return max(worth, key=lambda one: one.expected, default=None)
