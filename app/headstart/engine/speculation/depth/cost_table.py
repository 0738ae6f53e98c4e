"""Costs of rounds, in forwards of one token of the target. Pure."""

from __future__ import annotations

from headstart.engine.speculation.costs import bucket
from headstart.engine.speculation.profile import PairProfile, TargetProfile

MAX_DRAFT = 16
MAX_LOOKUP = 31
# assumed cost of a copy of a state, in forwards, before one is timed
UNTIMED_COPY = 0.5
# the most informative sizes of forwards are tried first, in this order
_SIZES = (2, 4, 8, 16)
# a larger forward replaces a smaller one if its cost is below this share, and it was timed at least
# this often
_FASTER, _TIMED = 0.97, 2


class CostTable:
    """Costs of a target and its present draft; `pair` is None without one. `undo`: the tokens of a
    forward that the target takes back without a checkpoint; None: any number."""

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
        """True if both target and draft have been timed."""
        return self.decode_time > 0 and self.pair is not None and self.pair.costs.decode_time > 0

    @property
    def decode_time(self) -> float:
        """Seconds of a forward of one token at present."""
        return self.target.costs.decode_time

    def usual(self, context: int) -> list[float]:
        """Costs of forwards of n tokens, for n up to the most ever verified, padded with rows where
        that is faster."""
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
        """As `usual`, with the highest possible costs for sizes that were never timed."""
        self.usual(context)
        return self._worst

    def filled(self, rows: int, context: int) -> int:
        """Number of rows to compute if `rows` are wanted: kernels that compute four or eight at
        once may take longer for fewer."""
        self.usual(context)
        return self._filled[rows] if rows < len(self._filled) else rows

    def _fill(self, context: int) -> None:
        self._filled = list(range(len(self._usual)))
        if self._undo is not None:
            # additional rows would require a return to a checkpoint
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
        """True if wrong tokens in a forward of `rows` rows require a return to a checkpoint."""
        return self._undo is not None and rows - 1 > self._undo

    def worst_of_going_back(self, rows: int) -> float:
        """Worst cost in forwards of taking a checkpoint and decoding the first row again."""
        if not self.may_go_back(rows):
            return 0.0
        copying = self.target.checkpoint
        return 1.0 + (UNTIMED_COPY if copying is None else copying)

    def draft(self, tokens: int, context: int) -> float:
        """Cost of a forward of the draft."""
        assert self.pair is not None
        return self.pair.costs.seconds(tokens, context) / self.decode_time

    def drafting(self, tokens: int, context: int, lag: int = 1) -> float:
        """Cost of drafting `tokens` tokens after prefilling `lag` others."""
        assert self.pair is not None
        if self.pair.at_once:
            return self.draft(max(lag, tokens), context)
        return self.draft(lag, context) + (tokens - 1) * self.one_more(context)

    def worst_drafting(self, tokens: int, context: int, lag: int = 1) -> float:
        """Worst cost of drafting; each token of a chain costs a forward, the first one too."""
        assert self.pair is not None
        if self.pair.at_once:
            return self.worst_draft(max(lag, tokens), context)
        return tokens * self.worst_draft(1, context)

    def one_more(self, context: int, worst: bool = False) -> float:
        """Cost of drafting one more token, once drafting has begun."""
        assert self.pair is not None
        if self.pair.at_once:
            return 0.0
        if worst:
            return self.worst_draft(1, context)
        return self.draft(1, context) * self.pair.costs.share

    @property
    def most_drafted(self) -> int:
        """The most tokens that the draft may draft in a round."""
        at_once = 0 if self.pair is None else self.pair.at_once
        return min(MAX_DRAFT, at_once or MAX_DRAFT)

    def worst_draft(self, tokens: int, context: int) -> float:
        assert self.pair is not None
        return self.pair.costs.worst_seconds(tokens, context) / self.decode_time

    def affordable(self, rows: int, context: int, allowed: float) -> bool:
        """True if prefilling `rows` tokens into the draft costs at most `allowed` forwards at
        worst."""
        assert self.pair is not None
        return self.pair.costs.decode_time > 0 and self.worst_draft(rows, context) <= allowed

    def most_to_verify(self, context: int) -> int:
        """The most draft tokens of a round while some sizes of forwards are untimed: 3 rows may
        cost as much as 4, and would make both 2 and 4 look bad."""
        measured = self.target.costs.measured(context)
        return next((size - 1 for size in _SIZES if size not in measured), MAX_LOOKUP)

    def observe_going_back(self, copying: float, again: float) -> None:
        """Record the seconds that a round spent on its checkpoint, and on decoding tokens again."""
        if self.decode_time <= 0:
            return
        target, known = self.target, self.target.checkpoint
        fresh = copying / self.decode_time
        # in steps, because each change rebuilds the tables
        target.checkpoint = round(fresh if known is None else known + 0.3 * (fresh - known), 2)
        target.again = round(target.again + 0.1 * (again / self.decode_time - target.again), 2)
