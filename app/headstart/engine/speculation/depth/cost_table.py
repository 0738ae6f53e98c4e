"""Cost of rounds, in forwards of one token of the target. Pure."""

from __future__ import annotations

from headstart.engine.speculation.costs import bucket
from headstart.engine.speculation.profile import PairProfile, TargetProfile

MAX_DRAFT = 16
MAX_LOOKUP = 31
# forwards that a copy of a state is thought to cost at most, before one was timed
UNTIMED_COPY = 0.5
# sizes of forwards that say most about the others are tried first, each before the next one
_SIZES = (2, 4, 8, 16)
# a larger forward must be so much faster to be taken instead, and timed so often
_FASTER, _TIMED = 0.97, 2


class CostTable:
    """Costs of a target and its present draft; `pair` is None without one. The target takes
    back `undo` tokens of a forward without a checkpoint; None: any number."""

    def __init__(
        self, target: TargetProfile, pair: PairProfile | None, undo: int | None = None
    ) -> None:
        self.target = target
        self.pair = pair
        self._undo = undo
        self._usual: list[float] = []
        self._worst: list[float] = []
        self._filled: list[int] = []
        self._table_of: tuple[object, ...] | None = None

    @property
    def known(self) -> bool:
        """True if target and draft were timed at all."""
        return self.decode_time > 0 and self.pair is not None and self.pair.costs.decode_time > 0

    @property
    def decode_time(self) -> float:
        """Seconds of a forward of one token now."""
        return self.target.costs.decode_time

    def usual(self, context: int) -> list[float]:
        """Forwards of n tokens, for n up to the most that is ever verified, filled up where that
        is faster."""
        costs = self.target.costs
        extra = self.target.checkpoint, self.target.again
        wanted = (bucket(context), costs.version, self.target.pace, extra)
        if self._table_of != wanted:
            back = (extra[0] or 0.0) + extra[1]
            sizes = range(2, MAX_LOOKUP + 3)
            self._usual = [0.0, 1.0, *costs.ratios(sizes, context)]
            self._worst = [0.0, 1.0, *costs.worst_ratios(sizes, context)]
            for n in sizes if self._undo is not None else ():
                self._usual[n] += back * self.may_go_back(n)
                self._worst[n] += self.worst_of_going_back(n)
            self._fill(context)
            self._table_of = wanted
        return self._usual

    def worst(self, context: int) -> list[float]:
        """As `usual`, where sizes that were never timed cost as much as they possibly can."""
        self.usual(context)
        return self._worst

    def filled(self, rows: int, context: int) -> int:
        """Number of rows to compute where `rows` are wanted: kernels that compute four or eight at
        once may take longer for fewer."""
        self.usual(context)
        return self._filled[rows] if rows < len(self._filled) else rows

    def _fill(self, context: int) -> None:
        self._filled = list(range(len(self._usual)))
        if self._undo is not None:
            # further rows would lead back to a checkpoint
            return
        costs = self.target.costs
        timed = set(costs.measured(context))
        timed.difference_update(costs.unmeasured(timed, context, _TIMED))
        best: int | None = None
        for rows in range(len(self._usual) - 1, 1, -1):
            if best is not None and self._usual[best] < _FASTER * self._usual[rows]:
                self._filled[rows] = best
                self._usual[rows] = self._usual[best]
                self._worst[rows] = min(self._worst[rows], self._worst[best])
            elif rows in timed and (best is None or self._usual[rows] <= self._usual[best]):
                best = rows

    def may_go_back(self, rows: int) -> bool:
        """True if wrong tokens in a forward of so many rows lead back to a checkpoint."""
        return self._undo is not None and rows - 1 > self._undo

    def worst_of_going_back(self, rows: int) -> float:
        """Forwards for taking a checkpoint, and for the first row once more after it."""
        if not self.may_go_back(rows):
            return 0.0
        copying = self.target.checkpoint
        return 1.0 + (UNTIMED_COPY if copying is None else copying)

    def draft(self, tokens: int, context: int) -> float:
        """A forward of the draft."""
        assert self.pair is not None
        return self.pair.costs.seconds(tokens, context) / self.decode_time

    def drafting(self, tokens: int, context: int, lag: int = 1) -> float:
        """Drafting so many tokens, where the draft has to read `lag` others before."""
        assert self.pair is not None
        if self.pair.at_once:
            return self.draft(max(lag, tokens), context)
        return self.draft(lag, context) + (tokens - 1) * self.one_more(context)

    def worst_drafting(self, tokens: int, context: int, lag: int = 1) -> float:
        """At the worst; each one of a chain costs a forward, the first one as well."""
        assert self.pair is not None
        if self.pair.at_once:
            return self.worst_draft(max(lag, tokens), context)
        return tokens * self.worst_draft(1, context)

    def one_more(self, context: int, worst: bool = False) -> float:
        """Drafting one token more, once drafting has begun."""
        assert self.pair is not None
        if self.pair.at_once:
            return 0.0
        if worst:
            return self.worst_draft(1, context)
        return self.draft(1, context) * self.pair.costs.share

    @property
    def most_drafted(self) -> int:
        """Tokens that the draft may draft in a round."""
        at_once = 0 if self.pair is None else self.pair.at_once
        return min(MAX_DRAFT, at_once or MAX_DRAFT)

    def worst_draft(self, tokens: int, context: int) -> float:
        assert self.pair is not None
        return self.pair.costs.worst_seconds(tokens, context) / self.decode_time

    def affordable(self, rows: int, context: int, allowed: float) -> bool:
        """True if the draft may prefill so much, at the worst, for `allowed` forwards."""
        assert self.pair is not None
        return self.pair.costs.decode_time > 0 and self.worst_draft(rows, context) <= allowed

    def most_to_verify(self, context: int) -> int:
        """Draft tokens of a round while forwards of some sizes were never timed: 3 rows may cost
        what 4 do, and would speak against both 2 and 4."""
        measured = self.target.costs.measured(context)
        return next((size - 1 for size in _SIZES if size not in measured), MAX_LOOKUP)

    def observe_going_back(self, copying: float, again: float) -> None:
        """A round that might have to took so many seconds for its checkpoint, and for what it
        decoded once more."""
        if self.decode_time <= 0:
            return
        target, known = self.target, self.target.checkpoint
        fresh = copying / self.decode_time
        # in steps, because each change rebuilds the tables
        target.checkpoint = round(fresh if known is None else known + 0.3 * (fresh - known), 2)
        target.again = round(target.again + 0.1 * (again / self.decode_time - target.again), 2)
