"""Rounds that repeat measurements that other programs may have slowed down. Pure.

Drafts that are right often enough for most computers, but do not pay at this computer's measured
costs, are tried again at times: within the allowed loss, and at growing intervals.
"""

from __future__ import annotations

from headstart.core.chats.parts import Origin
from headstart.engine.speculation.depth.cost_table import CostTable
from headstart.engine.speculation.depth.time_budget import TimeBudget
from headstart.engine.speculation.depth.worth import Worth
from headstart.engine.speculation.plan import PLAIN, DraftPlan

# rows to time again, the first interval in tokens, and the longest: the interval doubles each time
# that they are still slow
ROWS, FIRST, LONGEST = (4, 2), 64, 2048


class Looks:
    def __init__(self, costs: CostTable, worth: Worth, budget: TimeBudget) -> None:
        self._costs = costs
        self._worth = worth
        self._budget = budget
        # the number of tokens at the last look, and the interval to the next
        self._at, self._wait = -FIRST, FIRST
        self.looking = False

    def begin(self) -> None:
        """Begin a reply; a look at the end of the last one taught nothing."""
        self.looking = False

    def plan(self, context: int, lag: int, room: int) -> DraftPlan:
        """Plan a round that times a verification of doubtful cost, if the allowance permits. At
        worst it costs as much as its rows one by one."""
        budget, costs = self._budget, self._costs
        if budget.all_tokens - self._at < self._wait or not self._worth.doubted(context):
            return PLAIN
        allowed = budget.allowance() / costs.decode_time
        first, pair = costs.worst_draft(lag, context), costs.pair
        assert pair is not None
        for rows in ROWS:
            worst = min(costs.worst(context)[rows], rows + costs.worst_of_going_back(rows)) - 1
            if pair.at_once:
                first = costs.worst_drafting(rows - 1, context, lag)
            more = (rows - 2) * costs.one_more(context)
            if rows - 1 <= room and first + more + worst <= allowed:
                self.looking = True
                return DraftPlan(Origin.DRAFT, rows - 1)
        return PLAIN

    def end(self, context: int) -> None:
        """End a look, if the last round was one."""
        if not self.looking:
            return
        self.looking, self._at = False, self._budget.all_tokens
        if self._worth.pays(context):
            self._wait = FIRST
            assert self._costs.pair is not None
            self._costs.pair.pause = 0
        else:
            self._wait = min(LONGEST, 2 * self._wait)
