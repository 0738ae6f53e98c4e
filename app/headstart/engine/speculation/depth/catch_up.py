"""Decides when a draft that lags behind the text is worth prefilling. Pure.

The prefill is always a separate step, paid for before the draft can save anything.
"""

from __future__ import annotations

from headstart.core.chats.parts import Origin
from headstart.engine.speculation.depth.cost_table import CostTable
from headstart.engine.speculation.depth.time_budget import TimeBudget
from headstart.engine.speculation.depth.worth import Worth
from headstart.engine.speculation.plan import DraftPlan

# a draft that lags by more has to be prefilled in a separate step
LIVE_LAG = 8
# tokens of the reply before a new draft is scored on them, and the tokens that it prefills
FIRST_PROBE, PROBE_WINDOW = 16, 32


class CatchUp:
    def __init__(self, costs: CostTable, worth: Worth, budget: TimeBudget) -> None:
        self._costs = costs
        self._worth = worth
        self._budget = budget
        # the number of tokens when the draft was last scored
        self._at = 0

    def begin(self) -> None:
        """Begin waiting for the next probe: a reply begins, or the draft was scored."""
        self._at = self._budget.all_tokens

    def plan(self, context: int, lag: int) -> DraftPlan | None:
        """Plan to prefill the draft up to the present position, if that may pay."""
        pair, budget, proven = self._costs.pair, self._budget, self._budget.proven
        assert pair is not None
        allowed = budget.allowance()
        if self._worth.known_to_lose(context) and not self._worth.doubted(context):
            return None
        if pair.pause == 0 and pair.costs.known and (proven or self._promises(context)):
            # the whole text; else only its end, which makes drafts slightly worse
            for most in (lag, 4 * PROBE_WINDOW, 2 * PROBE_WINDOW, PROBE_WINDOW):
                rows = min(lag, most)
                # a proven pair may risk savings on a likely gain, at its usual cost
                if proven:
                    cost = pair.costs.seconds(rows, context)
                else:
                    # enough for one round must be left, or the prefill was for nothing
                    cost = pair.costs.worst_seconds(rows, context) + self._one_round(context)
                if cost <= allowed + budget.credit():
                    return DraftPlan(Origin.DRAFT, window=None if rows == lag else rows, probe=True)
        wait = pair.pause or FIRST_PROBE
        if budget.all_tokens - self._at < wait:
            return None
        # fewer tokens say little: a draft that sees only a few words looks worse than it is
        rows = min(lag, PROBE_WINDOW)
        if self._costs.affordable(rows, context, allowed / self._costs.decode_time):
            return DraftPlan(Origin.DRAFT, window=rows, probe=True)
        return None

    def _promises(self, context: int) -> bool:
        """True if the measurements of an unproven pair favour trying it."""
        if self._budget.is_first:
            return self._worth.pays(context)
        return self._budget.promise > 0

    def _one_round(self, context: int) -> float:
        """Worst-case loss of the first round in seconds: with one draft token if the target's costs
        are unknown, else with three."""
        costs = self._costs
        depth = 3 if 4 in costs.target.costs.measured(context) else 1
        lost = costs.worst(context)[depth + 1] - 1 + costs.worst_drafting(depth, context)
        return lost * costs.decode_time
