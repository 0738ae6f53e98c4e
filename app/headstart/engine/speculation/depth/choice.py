"""Chooses the draft depth round by round: most expected tokens for the expected time. Pure.

Costs are counted in forwards of one token of the target. The source with the most expected tokens
for the expected time wins; within a round every further draft token is worth its expected tokens
minus its time times that rate. The rate is the best that the draft can give in this text, not a
past average: compared with that, plain decoding would look cheap in a text where drafts are right
less often. All depths are tried, because the cost of a forward grows in steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from headstart.core.chats.parts import Origin
from headstart.core.settings.schema import Speculation
from headstart.engine.speculation.depth.catch_up import LIVE_LAG, CatchUp
from headstart.engine.speculation.depth.cost_table import MAX_LOOKUP, CostTable
from headstart.engine.speculation.depth.looks import Looks
from headstart.engine.speculation.depth.time_budget import TimeBudget
from headstart.engine.speculation.depth.worth import Worth
from headstart.engine.speculation.plan import PLAIN, Chain, DraftPlan, Path
from headstart.engine.speculation.profile import PairProfile, TargetProfile
from headstart.engine.speculation.prompt_lookup import Match

# regular plain forwards keep the reference time accurate
PLAIN_EVERY = 48
# forwards that one round may always risk within the allowance; beyond that, only this share of the
# allowance, or the share of right drafts if larger: one unlucky round must leave enough for the
# next
_FREELY, _RISK_SHARE = 2.5, 0.5
_SLACK = 0.25  # tokens


class Depth:
    """Decides for one pair, for the lifetime of its profiles. `undo` as in `CostTable`."""

    def __init__(
        self,
        target: TargetProfile,
        pair: PairProfile | None,
        settings: Speculation,
        undo: int | None = None,
    ) -> None:
        self.target = target
        self.settings = settings
        self.costs = CostTable(target, pair, undo)
        self.worth = Worth(self.costs)
        self.budget = TimeBudget(self.costs, self.worth)
        self._looks = Looks(self.costs, self.worth, self.budget)
        self._catch_up = CatchUp(self.costs, self.worth, self.budget)
        # the value of time, in tokens per forward of one: the draft's best rate
        self._rate = 1.0
        # the loss allowed for this round, in forwards
        self._limit = 0.0

    @property
    def pair(self) -> PairProfile | None:
        return self.costs.pair

    # --- replies -------------------------------------------------------------------------

    def begin(
        self,
        pair: PairProfile | None,
        settings: Speculation,
        paces: tuple[int, int | None] | None = None,
    ) -> None:
        """Begin a reply, with target and draft at these paces."""
        self.costs.pair, self.settings = pair, settings
        if paces is not None:
            self.follow(*paces)
        self.target.lengths.begin()
        if pair is not None:
            pair.margins.begin()
        self.budget.begin()
        self._looks.begin()
        self._catch_up.begin()

    def follow(self, target: int, draft: int | None) -> None:
        """Switch to the decoders' present paces."""
        if target != self.target.pace:
            before = self.target.costs.decode_time
            self.target.use(target)
            if before and not self.target.costs.decode_time:
                # used until measured, which takes two plain forwards
                self.target.costs.decode_time = before
        pair = self.pair
        if draft is not None and pair is not None and draft != pair.pace:
            before = pair.costs.decode_time
            pair.use(draft)
            pair.costs.decode_time = pair.costs.decode_time or before

    def end(self) -> None:
        """End the reply."""
        self.budget.end()

    # --- rounds --------------------------------------------------------------------------

    def plan(
        self,
        context: int,
        room: int,
        match: Match | None,
        lag: int | None,
        unseen: int = 0,
        chains: Sequence[Chain] = (),
    ) -> DraftPlan:
        """Plan the next round. `room`: the most draft tokens to verify; `match`: prompt lookup's
        match; `lag`: tokens that the draft must prefill before it can draft, None without one;
        `unseen`: tokens that it must prefill to see the whole text, 0 if it does; `chains`: other
        drafts that need no forward."""
        pair = self.pair if lag is not None else None
        self._looks.end(context)
        self.budget.expect_at_most(room + 1)
        self.budget.context = context
        if room < 1 or (match is None and pair is None and not chains):
            return PLAIN
        costs = self.target.costs
        if not costs.known or costs.surprised or self.budget.since_plain >= PLAIN_EVERY:
            # plain decoding's speed is the reference for everything
            return PLAIN
        if self.settings.depth_mode == "fixed":
            return self._fixed(room, match, pair is not None, chains)
        if costs.decode_time_samples < 2 and not self._trusted():
            return PLAIN
        allowed = self.budget.risk() / costs.decode_time
        if unseen and lag is not None and self.costs.affordable(unseen, context, allowed / 2):
            # the draft began with only the end of the text, and has earned the rest
            return DraftPlan(Origin.DRAFT, probe=True, from_start=True)
        live = lag is not None and lag <= LIVE_LAG and pair is not None
        self._rate = 1.0
        room = min(room, self.costs.most_to_verify(context))
        drafted = (
            self._deepest(context, lag or 1, min(room, self.costs.most_drafted), allowed)
            if live
            else 0
        )
        best, plan = 1.0, PLAIN
        if self._rate > 1:
            best, plan = self._rate, DraftPlan(Origin.DRAFT, self._drafted(context, drafted))
        if match is not None:
            chance, length = self.target.lengths.chance, match.length
            chances = (chance(length + index) for index in range(min(room, MAX_LOOKUP)))
            depth, rate = self._free(chances, context, allowed)
            if rate > best:
                best, plan = rate, DraftPlan(Origin.LOOKUP, depth)
        for chain in chains:
            depth, rate = self._free(chain.chances[:room], context, allowed)
            if rate > best:
                best, plan = rate, DraftPlan(Origin.LOOKUP, depth, chain=chain)
        if plan is PLAIN and live:
            # drafting does not pay on average, but confident drafts may
            if self.worth.draft_value(lag or 1, context, drafted, allowed) > 0:
                return DraftPlan(Origin.DRAFT, self._drafted(context, drafted))
            return self._looks.plan(context, lag or 1, room)
        if lag is not None and not live and pair is not None:
            return self._catch_up.plan(context, lag) or plan
        return plan

    def _drafted(self, context: int, room: int) -> int:
        """The most tokens to draft, at most `room`; a block is always drafted whole, so its size is
        chosen."""
        pair = self.pair
        return self.worth.block(context, room) if pair is not None and pair.at_once else room

    def _trusted(self) -> bool:
        """True if the decode time is known well enough from an earlier run of the app."""
        target = self.target
        return target.costs.decode_time > 0 and target.time_budget >= 0 and self.budget.proven

    def _fixed(
        self, room: int, match: Match | None, draft: bool, chains: Sequence[Chain]
    ) -> DraftPlan:
        depth = min(self.settings.depth, room)
        if match is not None:
            chance = self.target.lengths.chance(match.length)
            if not draft or (self.pair is not None and chance > self.pair.margins.mean):
                return DraftPlan(Origin.LOOKUP, depth)
        if draft or not chains:
            return DraftPlan(Origin.DRAFT, depth) if draft else PLAIN
        chain = max(chains, key=lambda one: one.chances[0])
        return DraftPlan(Origin.LOOKUP, min(depth, len(chain.tokens)), chain=chain)

    def worth_a_row(self, chance: float, context: int) -> bool:
        """True if a table's draft can be worth a forward, given the chance of its first token:
        later tokens are hardly likelier, and no row is cheaper than the second."""
        known = self.target.costs.decode_time_samples > 1
        return known and chance > (1 - chance) * (self.costs.usual(context)[2] - 1)

    def _free(self, chances: Iterable[float], context: int, allowed: float) -> tuple[int, float]:
        """The depth to verify of a draft that costs no time to make, and its tokens per forward of
        one. `chances`: of each of its tokens, if those before it are right.

        Such drafts are irregular, so time is valued at the text's average rate.
        """
        table, most = self.costs.usual(context), self.costs.worst(context)
        worth = max(self._rate, self.budget.recent_rate())
        depth, best, rate = 0, float("-inf"), 0.0
        reach = expected = 1.0
        for drafted, chance in enumerate(chances, 1):
            reach *= chance
            expected += reach
            if most[drafted + 1] - 1 > allowed:
                break
            value = expected - worth * table[drafted + 1]
            if value > best:
                depth, best, rate = drafted, value, expected / table[drafted + 1]
        return depth, rate

    def _deepest(self, context: int, lag: int, room: int, allowed: float) -> int:
        """The most draft tokens that the next round may risk; the rate ignores deeper drafts. If a
        part of the allowance is too little for drafts to pay, the round may risk all of it: it has
        no better use."""
        table, costs = self.costs.worst(context), self.costs
        share, drafted = max(_RISK_SHARE, self.worth.known_mean), 0
        for self._limit in (min(allowed, max(_FREELY, share * allowed)), allowed):
            risks = (
                (n, costs.worst_drafting(n, context, lag) + table[n + 1] - 1)
                for n in range(1, room + 1)
            )
            drafted = max((n for n, risk in risks if risk <= self._limit), default=0)
            self._rate = self.worth.draft_rate(lag, context, drafted, allowed)
            if self._rate > 1:
                break
        return drafted

    def go_on(self, path: Path, context: int, room: int, spent: float) -> bool:
        """True to draft one more token; `spent`: seconds of this round's drafting so far."""
        made = len(path.chances)
        if made >= room:
            return False
        if self.settings.depth_mode == "fixed" or self._looks.looking:
            return True
        costs, rate = self.costs, self._rate
        table, decode_time = costs.usual(context), costs.decode_time
        step = costs.one_more(context, worst=True)
        if spent / decode_time + step + costs.worst(context)[made + 2] - 1 > self._limit:
            return False
        now = max(path.expected[n] - rate * table[n + 1] for n in range(made + 1))
        # continue at nearly equal value: unlikely drafts are right slightly more often than
        # estimated
        return self.worth.of_more(rate, path, context, room) > now - _SLACK

    def cut(self, path: Path, context: int) -> int:
        """Number of draft tokens to verify."""
        if self.settings.depth_mode == "fixed" or self._looks.looking:
            return len(path.chances)
        table, rate = self.costs.usual(context), self._rate
        values = [expected - rate * table[n + 1] for n, expected in enumerate(path.expected)]
        return max(range(len(values)), key=values.__getitem__)

    def branches(self, path: Path, context: int, most: int) -> list[int]:
        """Positions of branches that are worth a row: indices into the path, best first."""
        pair = self.pair
        if pair is None or most < 1 or not path.chances or self.settings.depth_mode == "fixed":
            return []
        if self._looks.looking:
            return []
        most = min(most, self.costs.most_to_verify(context) - len(path.chances))
        table, rate = self.costs.usual(context), self._rate
        second, reach, gains = pair.margins.second, 1.0, []
        for index, chance in enumerate(path.chances):
            gains.append((reach * (1 - chance) * second, index))
            reach *= chance
        gains.sort(reverse=True)
        kept: list[int] = []
        for gain, index in gains[: max(0, most)]:
            rows = len(path.chances) + 1 + len(kept)
            if gain > rate * max(0.0, table[rows + 1] - table[rows]):
                kept.append(index)
        return kept

    def probed(
        self, right: Sequence[tuple[float, bool]], context: int, lasting: bool = True
    ) -> None:
        """Learn from scoring the draft on the text so far; see `Worth.learn`."""
        self._catch_up.begin()
        self.worth.learn(right, context, lasting)
