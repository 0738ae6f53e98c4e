"""What rounds cost, in forwards of one token of the target. Pure."""

from __future__ import annotations

from headstart.engine.speculation.costs import bucket
from headstart.engine.speculation.profile import PairProfile, TargetProfile

MAX_DRAFT = 16
MAX_LOOKUP = 31
# sizes of forwards that say most about the others are tried first, each before the next one
_SIZES = (2, 4, 8, 16)


class CostTable:
    """Of a target and the draft that is used now; `pair` is None without one."""

    def __init__(self, target: TargetProfile, pair: PairProfile | None) -> None:
        self.target = target
        self.pair = pair
        self._usual: list[float] = []
        self._worst: list[float] = []
        self._table_of: tuple[int, int, int | None, float] | None = None

    @property
    def known(self) -> bool:
        """Whether target and draft were timed at all."""
        return self.decode_time > 0 and self.pair is not None and self.pair.costs.decode_time > 0

    @property
    def decode_time(self) -> float:
        """Seconds of a forward of one token now."""
        return self.target.costs.decode_time

    def usual(self, context: int) -> list[float]:
        """Forwards of n tokens, for n up to the most that is ever verified."""
        costs = self.target.costs
        extra = self.target.checkpoint
        wanted = (bucket(context), costs.version, self.target.pace, extra)
        if self._table_of != wanted:
            sizes = range(2, MAX_LOOKUP + 3)
            self._usual = [0.0, 1.0, *(costs.ratio(n, context) + extra for n in sizes)]
            self._worst = [0.0, 1.0, *(costs.worst_ratio(n, context) + extra for n in sizes)]
            self._table_of = wanted
        return self._usual

    def worst(self, context: int) -> list[float]:
        """As `usual`, where sizes that were never timed cost as much as they possibly can."""
        self.usual(context)
        return self._worst

    def draft(self, tokens: int, context: int) -> float:
        """A forward of the draft."""
        assert self.pair is not None
        return self.pair.costs.seconds(tokens, context) / self.decode_time

    def worst_draft(self, tokens: int, context: int) -> float:
        assert self.pair is not None
        return self.pair.costs.worst_seconds(tokens, context) / self.decode_time

    def affordable(self, rows: int, context: int, allowed: float) -> bool:
        """Whether the draft may prefill so much, at the worst, for `allowed` forwards."""
        assert self.pair is not None
        return self.pair.costs.decode_time > 0 and self.worst_draft(rows, context) <= allowed

    def most_to_verify(self, context: int) -> int:
        """Draft tokens of a round while forwards of some sizes were never timed: 3 rows may cost
        what 4 do, and would speak against both 2 and 4."""
        measured = self.target.costs.measured(context)
        return next((size - 1 for size in _SIZES if size not in measured), MAX_LOOKUP)

    def observe_checkpoint(self, seconds: float) -> None:
        """Taking a checkpoint took so long."""
        if self.decode_time > 0:
            known = self.target.checkpoint
            weight = 0.3 if known else 1.0
            # in steps, because each change rebuilds the tables
            fresh = seconds / self.decode_time
            self.target.checkpoint = round(known + weight * (fresh - known), 2)
