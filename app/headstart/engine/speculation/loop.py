"""The speculative loop, shared by all decoders and all sources of draft tokens. Engine thread.

`Speculator.step` is one round: choose, draft, verify in one forward of the target, accept,
correct. Afterwards the target's KV state is exactly `tokens`; the last emitted token is pending
and not in it. The draft's KV state is cut to the text before it is used again.

An accepted branch is decoded again in the next round: kept in place, its cell would come after
those of later tokens and change the order of sums, and so bits of the logits.
"""

from __future__ import annotations

from collections.abc import Sequence

from headstart.core.chats.parts import Origin
from headstart.core.events import DraftActivity
from headstart.engine import image_tokens
from headstart.engine.decoder import Decoder, Sampler
from headstart.engine.speculation.depth.choice import Depth
from headstart.engine.speculation.drafting import Drafting
from headstart.engine.speculation.outcome import activity_of, learn_outcome, learn_repeat
from headstart.engine.speculation.plan import PLAIN, Chain, DraftPlan, Path
from headstart.engine.speculation.prompt_lookup import Match
from headstart.engine.speculation.sources import Sources
from headstart.engine.speculation.tally import Tally
from headstart.engine.speculation.token_mapping import DraftToken
from headstart.engine.speculation.verify import Tree, verify

# matches of at least this many tokens are copies, and worth resuming
LONG_COPY = 8
# longest chains; tokens beyond are right too seldom
MOST_RECYCLED, MOST_FROM_HISTORY = 8, 16
# longest part of a forced text
MOST_FORCED = 24
# the most tokens used to find a position in earlier replies
LONGEST_RUN = 24

_ONE_ROW = (0,)
Emitted = list[tuple[int, Origin]]


class Speculator:
    """One turn's loop. `tokens`: the list of tokens in the target's KV state, which the loop
    extends."""

    def __init__(
        self,
        target: Decoder,
        tokens: list[int],
        sampler: Sampler,
        depth: Depth,
        sources: Sources,
    ) -> None:
        self.target = target
        self._tokens = tokens
        self._sampler = sampler
        self.depth = depth
        self._settings = sources.settings
        self._lookup = sources.lookup
        self._earlier = sources.earlier
        self._recycling = None if sources.earlier is None else sources.earlier.recycling
        self._before: Chain | None = None  # continuation of the same run in an earlier chat
        self._forced = sources.forced
        # forced tokens that the target wrote, and all that were verified; they begin with a guess
        self._forced_right, self._forced_tried = 9.5, 10.0
        self.drafting = Drafting(depth, sources)
        self._leaves = target.facts.leaves
        self._checkpoints = target.facts.rollback == "checkpoint"
        self._undo = target.facts.undo
        self._reply_start = len(tokens)
        self._known = len(tokens)  # length of the text that the lookup and the draft know
        self._carry: list[int] = []  # emitted before the pending token, but not in the KV state
        self.tally = Tally()

    @property
    def activity(self) -> DraftActivity:
        """The present activity of the draft, with the reason."""
        return activity_of(self.tally, self.depth, len(self._tokens), self.drafting.chosen)

    def restart(self) -> None:
        """Begin again, as the text before the reply changed (older turns were dropped)."""
        self._reply_start = self._known = len(self._tokens)
        self._carry = []
        if self._lookup is not None:
            began = self.target.seconds()
            self._lookup.sync(self._tokens, self.depth.budget.allowance() / 2)
            self.depth.budget.spend(self.target.seconds() - began, drafting=False)
        self.drafting.end()

    @property
    def position(self) -> int:
        """The position of the first token that `step` will emit."""
        return len(self._tokens) + len(self._carry) + 1

    def step(self, pending: int, room: int) -> Emitted:
        """Decode `pending` and the draft tokens after it that pay; returns the emitted tokens.

        Emits at least one token; `tokens` lists those in the KV state. At most `room` draft tokens
        are verified. Raises ContextFull and DecodeAborted.
        """
        began = self.target.seconds()
        drafting = self.drafting
        self.depth.follow(self.target.pace, drafting.pace)
        if drafting.waits and drafting.join(self._tokens, self._carry, self._known):
            began = self.target.seconds()
        match = self._follow(pending)
        lag = drafting.lag
        # an accepted branch is decoded again with the pending token, at an extra cost
        carried = bool(self._carry)
        context = len(self._tokens)
        chains = self._chains(pending, context)
        if match is None and lag is None and not chains and not carried:
            return self._plain(pending, began)
        room = min(room, self.target.facts.batch - 1, self._room_in_context())
        plan = self.depth.plan(context, room, match, lag, drafting.unseen, chains)
        if plan.probe:
            drafting.probe(plan, self.position - self._reply_start, context)
            plan = self.depth.plan(context, room, match, drafting.lag, chains=chains)
            if plan.probe:
                plan = PLAIN
            began = self.target.seconds()
        draft_tokens: list[DraftToken] = []
        path = Path()
        if plan.chain is not None:
            tokens = plan.chain.tokens[: plan.depth]
            draft_tokens = [DraftToken(token, -1, 0.0) for token in tokens]
        elif plan.source is Origin.LOOKUP and match is not None and self._lookup is not None:
            draft_tokens = [
                DraftToken(token, -1, 0.0) for token in self._lookup.continuation(match, plan.depth)
            ]
        elif plan.source is Origin.DRAFT:
            draft_tokens, path = drafting.chain(plan, context)
        drafted = plan.source is Origin.DRAFT
        if not draft_tokens:
            plan = PLAIN
        tree = self._tree(plan, draft_tokens, path, context)
        emitted = self._verify(pending, tree, plan, draft_tokens, match)
        if self._earlier is not None and self._before is not None:
            # whether it was verified or not
            self._earlier.history.learn(self._before, [token for token, _ in emitted])
        seconds = self.target.seconds() - began
        speculated = bool(draft_tokens) or drafted or carried
        self.depth.budget.earn(len(emitted), seconds, speculated=speculated, drafted=drafted)
        # a plain round is the reference
        plain = len(emitted) * self.depth.costs.decode_time if speculated else seconds
        self.tally.round(self._shown(plan), len(tree.tokens), plain)
        return emitted

    def _plain(self, pending: int, began: float) -> Emitted:
        """Run a round without drafts, with minimal overhead: small models write 300 tokens a
        second."""
        target, tokens = self.target, self._tokens
        self._sampler.look_ahead(len(tokens) + 1)
        target.forward((pending,), _ONE_ROW)
        if self.drafting.rows is not None:
            self.drafting.rows.saw(target, len(tokens), _ONE_ROW)
        tokens.append(pending)
        token = self._sampler.draw(0, len(tokens))
        if self._recycling is not None:
            self._recycling.wrote(self._sampler.likeliest(0), token)
        self._sampler.accept((token,))
        seconds = self.target.seconds() - began
        self.tally.round(Origin.TARGET, 0, seconds)
        self.depth.budget.earn_plain(seconds)
        return [(token, Origin.TARGET)]

    def cut(self, length: int) -> None:
        """Keep only the first `length` tokens, as the reply ended within the accepted ones."""
        if length < len(self._tokens):
            kept = self.target.truncate(length)
            del self._tokens[kept:]
            if self.drafting.rows is not None:
                self.drafting.rows.cut(kept)

    # --- drafting ------------------------------------------------------------------------

    def _chains(self, pending: int, context: int) -> list[Chain]:
        """Chains from a grammar and from earlier chats that can be worth a row."""
        earlier, tokens, found = self._earlier, self._tokens, list[Chain]()
        forced = () if self._forced is None else self._forced()[:MOST_FORCED]
        if forced:
            chance = self._forced_right / self._forced_tried
            found.append(Chain(forced, [chance] * len(forced), forced=True))
        if earlier is None:
            return found
        text = [*tokens[-LONGEST_RUN:], *self._carry, pending]
        earlier.recycling.at(*(0, *text)[-2:])
        if self.depth.worth_a_row(earlier.recycling.first_chance(), context):
            chain = earlier.recycling.chain(MOST_RECYCLED)
            found += [chain] if chain.tokens else []
        self._before = earlier.history.chain(text, MOST_FROM_HISTORY)
        if self._before is not None:
            found.append(self._before)
        return found

    def _room_in_context(self) -> int:
        return self.target.facts.context_length - self.position

    def _follow(self, pending: int) -> Match | None:
        """Pass the emitted tokens to lookup and draft; returns the earlier match of the text's
        end."""
        draft = self.drafting.draft
        if draft is None and not self._carry and self._known == len(self._tokens):
            self._known += 1
            if self._lookup is None:
                return None
            self._lookup.extend((pending,))
            return self._lookup.find()
        known = self._known - len(self._tokens)
        emitted = [*self._carry, pending]
        new = emitted[known:] if known >= 0 else [*self._tokens[known:], *emitted]
        self._known = len(self._tokens) + len(emitted)
        if draft is not None:
            draft.extend(new)
        if self._lookup is None:
            return None
        self._lookup.extend(new)
        return self._lookup.find()

    def _tree(
        self, plan: DraftPlan, draft_tokens: Sequence[DraftToken], path: Path, context: int
    ) -> Tree:
        tree = Tree.chain([drafted.token for drafted in draft_tokens])
        if plan.source is not Origin.DRAFT or self._leaves < 2:
            return tree
        if (
            self._settings.tree_branches == "never"
            or self._room_in_context() < len(draft_tokens) + 3
        ):
            return tree
        if self._settings.tree_branches == "always":
            order = sorted(range(len(draft_tokens)), key=lambda index: draft_tokens[index].margin)
            chosen = order[: self._leaves - 1]
        else:
            chosen = self.depth.branches(path, context, self._leaves - 1)
        for index in chosen:
            if draft_tokens[index].second >= 0:
                tree.add(draft_tokens[index].second, index - 1)
        return tree

    # --- verifying -----------------------------------------------------------------------

    def _verify(
        self,
        pending: int,
        tree: Tree,
        plan: DraftPlan,
        draft_tokens: Sequence[DraftToken],
        match: Match | None,
    ) -> Emitted:
        target, context = self.target, len(self._tokens)
        first = [*self._carry, pending]
        count = len(first) + len(tree.tokens)
        filling = self._filling(count, context)
        copying = 0.0
        may_go_back = self._checkpoints and count - 1 > self._undo
        if may_go_back:
            began = self.target.seconds()
            target.checkpoint()
            copying = self.target.seconds() - began
        if count == 1:
            self._sampler.look_ahead(context + 1)
        began = self.target.seconds()
        target.forward(
            [*first, *tree.tokens, *[pending] * filling],
            range(len(first) - 1, count),
            parents=tree.below(len(first), len(draft_tokens), filling),
        )
        self._position = context + len(first)
        verdict = verify(tree, self._draw, target.is_end)
        if self.drafting.rows is not None:
            # before anything is decoded again; an accepted branch comes last
            seen = (*range(len(first)), *(len(first) + node for node in verdict.path))
            self.drafting.rows.saw(target, context, seen)
        again = self._settle(first, tree, verdict.path, len(draft_tokens), filling)
        self.depth.target.costs.observe(
            count + filling, context, self.target.seconds() - began - again
        )
        if may_go_back:
            self.depth.costs.observe_going_back(copying, again)
        repeats = plan.source is Origin.LOOKUP and plan.chain is None
        if tree.tokens:
            sees_all = self.drafting.sees_all
            outcome = learn_outcome(
                self.depth, plan, draft_tokens, match, verdict.emitted, sees_all
            )
            if plan.chain is not None and plan.chain.forced:
                self._forced_tried += outcome[0]
                self._forced_right += outcome[1]
            self.tally.verified(plan.source, *outcome)
            if match is not None and self._lookup is not None and repeats:
                self._lookup.copied(match.position + outcome[1])
        if match is not None and self._lookup is not None and not repeats:
            repeated = self._lookup.continuation(match, len(verdict.emitted))
            right = learn_repeat(self.depth, match, repeated, verdict.emitted)
            if match.length >= LONG_COPY and right < len(verdict.emitted):
                self._lookup.copied(match.position + right)
        origins = [self._shown(plan)] * len(verdict.path) + [Origin.TARGET]
        return list(zip(verdict.emitted, origins, strict=False))

    def _shown(self, plan: DraftPlan) -> Origin:
        """The displayed origin of the plan's accepted tokens."""
        if plan.source is Origin.DRAFT:
            return self.drafting.origin
        return plan.source if plan.chain is None or plan.chain.forced else Origin.EARLIER

    def _draw(self, row: int) -> int:
        token = self._sampler.draw(row, self._position)
        if self._recycling is not None:
            self._recycling.wrote(self._sampler.likeliest(row), token)
        self._sampler.accept((token,))
        self._position += 1
        return token

    def _filling(self, count: int, context: int) -> int:
        """Number of unused padding rows that make the forward faster."""
        filled = self.depth.costs.filled(count, context)
        facts = self.target.facts
        return filled - count if filled <= min(facts.batch, facts.context_length - context) else 0

    def _settle(
        self, first: list[int], tree: Tree, path: Sequence[int], chain: int, filling: int
    ) -> float:
        """Make the KV state hold the tokens before the draft and the accepted part of the chain
        (the tree's first `chain` tokens); an accepted branch is carried over. Returns the seconds
        spent on decoding again."""
        target, tokens = self.target, self._tokens
        kept = [node for node in path if node < chain]
        self._carry = [tree.tokens[node] for node in path[len(kept) :]]
        tokens.extend(first)
        tokens.extend(tree.tokens[node] for node in kept)
        if len(tree.tokens) > chain:
            target.keep([*range(len(first)), *(node + len(first) for node in kept)])
        elif len(kept) < len(tree.tokens) or filling:
            left = target.truncate(len(tokens))
            if left < len(tokens):
                began = self.target.seconds()
                self._recompute(left)
                return self.target.seconds() - began
        return 0.0

    def _recompute(self, kept: int) -> None:
        """Decode lost tokens again: models that cannot be cut return to a checkpoint, or to
        nothing."""
        missing = self._tokens[kept:]
        del self._tokens[kept:]
        for part in image_tokens.slices(missing, self.target.facts.batch):
            self.target.forward(part, [])
            self._tokens.extend(part)
