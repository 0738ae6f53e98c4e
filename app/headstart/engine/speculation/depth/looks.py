"""Rounds that time again what other programs may have slowed down. Pure.

Drafts that are right often enough for most computers, and do not pay at the costs that were
measured here, get a look now and then: within what may be lost, and ever more rarely.
"""

from __future__ import annotations

from headstart.core.chats.parts import Origin
from headstart.engine.speculation.depth.cost_table import CostTable
from headstart.engine.speculation.depth.time_budget import TimeBudget
from headstart.engine.speculation.depth.worth import Worth
from headstart.engine.speculation.plan import PLAIN, DraftPlan

# so many rows are timed again, after so many tokens at first, and each time that they are as slow
# as they were after twice as many
ROWS, FIRST, LONGEST = (4, 2), 64, 2048


class Looks:
    def __init__(self, costs: CostTable, worth: Worth, budget: TimeBudget) -> None:
        self._costs = costs
        self._worth = worth
        self._budget = budget
        # tokens after which the last look was, and until the next one
        self._at, self._wait = -FIRST, FIRST
        self.looking = False

    def begin(self) -> None:
        """A reply begins; one that ended with a look has not learned from it."""
        self.looking = False

    def plan(self, context: int, lag: int, room: int) -> DraftPlan:
        """A round that times a verification whose cost is doubted, where that may be spent. At the
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
        """The round is over, if there was one."""
        if not self.looking:
            return
        self.looking, self._at = False, self._budget.all_tokens
        if self._worth.pays(context):
            self._wait = FIRST
            assert self._costs.pair is not None
            self._costs.pair.pause = 0
        else:
            self._wait = min(LONGEST, 2 * self._wait)
