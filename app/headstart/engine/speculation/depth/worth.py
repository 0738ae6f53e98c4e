"""The worth of drafts at given costs, and the evidence that they pay. Pure.

Within a round every further draft token is worth its expected tokens minus its time times the
best rate (the ratio rule for renewal rewards, Dinkelbach 1967).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

from headstart.engine.speculation.costs import PRIOR_SLOPE, bucket
from headstart.engine.speculation.depth.cost_table import CostTable
from headstart.engine.speculation.plan import Path

# verified draft tokens that make a pair known
KNOWN_TESTS = 24.0
# tokens of the reply between two probes of a draft that does not pay
PAUSE_FIRST, PAUSE_LONGEST = 64, 1024
# factor by which a draft may be measured slower than it is
_SLOWER = 3.0
# share of the best rate that a larger block has to reach
_AS_GOOD = 0.98


class Worth:
    """Computes the worth of drafts. Results are cached: some take 0.3 ms, and are needed at every
    token."""

    def __init__(self, costs: CostTable) -> None:
        self._costs = costs
        self._known: dict[object, float] = {}
        self._known_for: tuple[object, ...] | None = None

    def draft_rate(self, lag: int, context: int, room: int, allowed: float) -> float:
        """Tokens per forward of one at the best depth, at the mean acceptance."""
        if self._too_dear(lag, context, allowed):
            return 1.0
        room = min(room, self._costs.most_drafted)
        return self._once(
            ("rate", lag, room), context, lambda: self._draft_rate(lag, context, room)
        )

    def draft_value(self, lag: int, context: int, room: int, allowed: float) -> float:
        """Expected gain of one step of drafting over a plain forward, if unlikely drafts are
        dropped."""
        if self._too_dear(lag, context, allowed):
            return float("-inf")
        room = min(room, self._costs.most_drafted)
        return self._once(
            ("value", lag, room), context, lambda: self._draft_value(lag, context, room)
        )

    def _too_dear(self, lag: int, context: int, allowed: float) -> bool:
        costs = self._costs
        return costs.worst_draft(lag, context) + costs.worst(context)[2] - 1 > allowed

    def _once(self, key: object, context: int, make: Callable[[], float]) -> float:
        """The result of `make`, cached until its inputs change noticeably."""
        target, pair = self._costs.target, self._costs.pair
        assert pair is not None
        margins = pair.margins
        now = (
            id(pair),
            target.pace,
            pair.pace,
            bucket(context),
            target.costs.version,
            target.checkpoint,
            target.again,
            pair.costs.version,
            margins.all_verified,
            margins.recent_expected,
            # within a tenth
            round(10 * math.log(max(1e-9, pair.costs.decode_time / self._costs.decode_time))),
        )
        if now != self._known_for:
            self._known.clear()
            self._known_for = now
        found = self._known.get(key)
        if found is None:
            found = self._known[key] = make()
        return found

    def _draft_rate(self, lag: int, context: int, room: int) -> float:
        return max((rate for rate, _ in self._rates(lag, context, room)), default=1.0)

    def _rates(self, lag: int, context: int, room: int) -> Iterator[tuple[float, int]]:
        """Tokens per forward of one, with the depth, from depth 0 on."""
        costs, pair = self._costs, self._costs.pair
        assert pair is not None
        table, mean = costs.usual(context), pair.margins.mean
        reach = expected = 1.0
        yield 1.0, 0
        for drafted in range(1, room + 1):
            reach *= mean
            expected += reach
            spent = costs.drafting(drafted, context, lag)
            yield expected / (table[drafted + 1] + spent), drafted

    def block(self, context: int, room: int) -> int:
        """Number of tokens to draft at once, at most `room`: the largest size nearly as good as the
        best, because unlikely tokens are not verified."""
        rates = list(self._rates(1, context, min(room, self._costs.most_drafted)))[1:]
        best = max(rates, default=(0.0, 0))[0]
        return max((drafted for rate, drafted in rates if rate >= _AS_GOOD * best), default=0)

    def _draft_value(self, lag: int, context: int, room: int) -> float:
        costs, pair = self._costs, self._costs.pair
        assert pair is not None
        if pair.at_once:
            room = max(1, self.block(context, room))
        first = costs.drafting(room if pair.at_once else 1, context, lag)
        table, value = costs.usual(context), -first
        for index in range(len(pair.margins.prior)):
            path = Path()
            path.add(pair.margins.chance_in(index))
            more = max(path.expected[1] - table[2], self.of_more(1.0, path, context, room))
            value += pair.margins.share(index) * max(more, 0.0)
        return value

    def of_more(self, rate: float, path: Path, context: int, room: int) -> float:
        """The best expected value of continuing to draft after `path`."""
        costs, pair = self._costs, self._costs.pair
        assert pair is not None
        table, mean, step = costs.usual(context), pair.margins.mean, costs.one_more(context)
        reach, expected = path.reach, path.expected[-1]
        best = float("-inf")
        made = len(path.chances)
        for drafted in range(made + 1, min(room, costs.most_drafted) + 1):
            reach *= mean
            expected += reach
            value = expected - rate * (table[drafted + 1] + (drafted - made) * step)
            best = max(best, value)
        return best

    def pays(self, context: int) -> bool:
        """True if drafts gain anything, prefill and risk aside."""
        if not self._costs.known:
            return False
        freely = (1, context, self._costs.most_drafted, float("inf"))
        return self.draft_rate(*freely) > 1 or self.draft_value(*freely) > 0

    @property
    def known_mean(self) -> float:
        """Share of right drafts in this text, if enough were verified; else 0."""
        pair = self._costs.pair
        if pair is None or pair.margins.all_verified < KNOWN_TESTS:
            return 0.0
        return pair.margins.mean

    def promise(self, context: int) -> float:
        """Forwards saved per token at the best depth, if enough was measured, assuming slightly
        fewer right drafts than observed; else 0."""
        pair = self._costs.pair
        if pair is None or not self._costs.known or pair.margins.all_verified < KNOWN_TESTS:
            return 0.0
        return self._once("promise", context, lambda: self._promise(context))

    def _promise(self, context: int) -> float:
        pair = self._costs.pair
        assert pair is not None
        mean = pair.margins.mean
        mean -= math.sqrt(mean * (1 - mean) / pair.margins.all_verified)
        table = self._costs.worst(context)
        reach, expected, best = 1.0, 1.0, 1.0
        for drafted in range(1, self._costs.most_drafted + 1):
            reach *= mean
            expected += reach
            spent = self._costs.drafting(drafted, context)
            best = max(best, expected / (table[drafted + 1] + spent))
        return 1 - 1 / best

    def needed(self, context: int) -> float:
        """Share of right drafts above which they pay at this computer's costs; 1 if those are
        unknown."""
        if not self._costs.known:
            return 1.0
        return self._once("needed", context, lambda: self._needed(context))

    def _needed(self, context: int) -> float:
        table = self._costs.usual(context)
        spent = [
            table[depth + 1] + self._costs.drafting(depth, context)
            for depth in range(1, self._costs.most_drafted + 1)
        ]
        low, high = 0.0, 1.0
        for _ in range(12):
            middle = (low + high) / 2
            pays = any(
                sum(middle**index for index in range(depth + 1)) > cost
                for depth, cost in enumerate(spent, 1)
            )
            low, high = (low, middle) if pays else (middle, high)
        return high

    def known_to_lose(self, context: int) -> bool:
        """True if the measurements show that the pair does not pay, even if its drafts are right
        slightly more often than observed."""
        pair = self._costs.pair
        if pair is None or not self._costs.known:
            return False
        verified, mean = pair.margins.all_verified, pair.margins.mean
        if verified < KNOWN_TESTS or self.pays(context):
            return False
        doubt = math.sqrt(mean * (1 - mean) / verified)
        return mean + doubt < self.needed(context)

    def doubted(self, context: int) -> bool:
        """True if only the costs rule out drafts that are right often enough for most computers:
        another program may have slowed down their measurement."""
        pair = self._costs.pair
        if pair is None or not self._costs.known or pair.margins.all_verified < KNOWN_TESTS:
            return False
        return bool(self._once("doubted", context, lambda: self._doubted(context)))

    def _doubted(self, context: int) -> bool:
        pair = self._costs.pair
        assert pair is not None
        if self.pays(context):
            return False
        reach, expected = 1.0, 1.0
        for drafted in range(1, self._costs.most_drafted + 1):
            reach *= pair.margins.mean
            expected += reach
            spent = self._costs.drafting(drafted, context) / _SLOWER
            if expected > 1 + drafted * PRIOR_SLOPE + spent:
                return True
        return False

    def learn(
        self, right: Sequence[tuple[float, bool]], context: int, lasting: bool = True
    ) -> None:
        """Learn from (margin, right) of drafts compared with the target's text; not `lasting` if
        the draft saw only the end of the text, which makes it look worse than it is."""
        pair = self._costs.pair
        assert pair is not None
        for margin, hit in right:
            pair.margins.observe(margin, hit, lasting)
        if not self._costs.known:
            return
        if self.pays(context):
            pair.pause = 0
        elif right:
            pair.pause = min(PAUSE_LONGEST, max(PAUSE_FIRST, 2 * pair.pause))
