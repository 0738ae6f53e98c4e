"""The speculative loop, once for every decoder and every source of draft tokens. Engine thread.

`Speculator.step` is one round: choose, draft, verify in one forward of the target, accept,
correct. Afterwards the target's KV state is exactly `tokens`; the last emitted token is pending
and not in it. The draft's KV state is cut to the text before it is used again.

A branch that wins is decoded again with the next round: kept where it is, its cell would
lie behind later tokens' and change the order of sums, and with it bits of the logits.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from time import perf_counter

from headstart.core.events import DraftActivity
from headstart.core.log_safety import kind_of
from headstart.core.parts import Origin
from headstart.engine import image_tokens
from headstart.engine.decoder import DecodeAborted, Decoder, Prediction, Sampler
from headstart.engine.speculation.depth.choice import Depth
from headstart.engine.speculation.draft_model import DraftModel
from headstart.engine.speculation.outcome import activity_of, learn_outcome, learn_repeat
from headstart.engine.speculation.plan import PLAIN, Path, Plan, probability_margin
from headstart.engine.speculation.prompt_lookup import Match
from headstart.engine.speculation.sources import Sources
from headstart.engine.speculation.tally import Tally
from headstart.engine.speculation.token_mapping import DraftToken
from headstart.engine.speculation.verify import Tree, verify

log = logging.getLogger(__name__)

# a draft is scored on at most so many of the reply's tokens at once
SCORED = 32
# tokens until a draft that waits is asked for again
JOIN_EVERY = 8
# repeats of so many tokens are copies, and worth finding back into
LONG_COPY = 8

_ONE_ROW = (0,)
Emitted = list[tuple[int, Origin]]


class Speculator:
    """One turn's loop. `tokens` is what the target's KV state holds; it grows here."""

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
        self._sources = sources
        self._settings = sources.settings
        self._lookup = sources.lookup
        # a draft joins when what that takes may be spent
        follows = sources.begin_draft is None
        self.draft = sources.draft if follows else None
        self._waiting = None if follows else sources.draft
        # a head sees every forward, whether it drafts or waits
        self._rows = sources.rows
        self._join_at = 0  # how long the text must be before that is asked again
        self._margin = probability_margin(sources.settings.min_probability)
        self._leaves = target.facts.leaves
        self._checkpoints = target.facts.rollback == "checkpoint"
        self._undo = target.facts.undo
        self._reply_start = len(tokens)
        self._known = len(tokens)  # how much of the text the lookup and the draft know
        self._carry: list[int] = []  # emitted before the pending token, and not in the KV state
        self.tally = Tally()

    @property
    def activity(self) -> DraftActivity:
        """What the chosen draft is doing, and why."""
        chosen = self.draft is not None or self._waiting is not None
        return activity_of(self.tally, self.depth, len(self._tokens), chosen)

    def restart(self) -> None:
        """The text before the reply changed (older turns were left out): begin again with it."""
        self._reply_start = self._known = len(self._tokens)
        self._carry = []
        if self._lookup is not None:
            began = perf_counter()
            self._lookup.sync(self._tokens, self.depth.budget.allowance() / 2)
            self.depth.budget.spend(perf_counter() - began, drafting=False)
        self.draft = self._waiting = None

    @property
    def position(self) -> int:
        """The position in the text of what `step` will emit first."""
        return len(self._tokens) + len(self._carry) + 1

    def step(self, pending: int, room: int) -> Emitted:
        """Decode `pending` and whatever draft tokens after it pay; returns what came out.

        At least one token; `tokens` says which are in the KV state. At most `room` draft tokens are
        verified. Raises ContextFull and DecodeAborted.
        """
        began = perf_counter()
        draft = self.draft or self._waiting
        self.depth.follow(self.target.pace, None if draft is None else draft.decoder.pace)
        if self._waiting is not None and self._join_draft(self._waiting):
            began = perf_counter()
        match = self._follow(pending)
        lag = self._lag()
        # a branch that won is decoded again with the pending token, at a cost of its own
        carried = bool(self._carry)
        if match is None and lag is None and not carried:
            return self._plain(pending, began)
        context = len(self._tokens)
        room = min(room, self.target.facts.batch - 1, self._room_in_context())
        unseen = self.draft.unseen if self.draft is not None else 0
        plan = self.depth.plan(context, room, match, lag, unseen)
        if plan.probe:
            self._probe(plan)
            plan = self.depth.plan(context, room, match, self._lag())
            if plan.probe:
                plan = PLAIN
            began = perf_counter()
        draft_tokens: list[DraftToken] = []
        path = Path()
        if plan.source is Origin.LOOKUP and match is not None and self._lookup is not None:
            draft_tokens = [
                DraftToken(token, -1, 0.0) for token in self._lookup.continuation(match, plan.depth)
            ]
        elif plan.source is Origin.DRAFT and self.draft is not None:
            draft_tokens, path = self._draft_chain(plan, context)
        drafted = plan.source is Origin.DRAFT
        if not draft_tokens:
            plan = PLAIN
        tree = self._tree(plan, draft_tokens, path, context)
        emitted = self._verify(pending, tree, plan, draft_tokens, match)
        seconds = perf_counter() - began
        speculated = bool(draft_tokens) or drafted or carried
        self.depth.budget.earn(len(emitted), seconds, speculated=speculated, drafted=drafted)
        # a plain round is what it is compared with
        plain = len(emitted) * self.depth.costs.decode_time if speculated else seconds
        self.tally.round(plan.source, len(tree.tokens), plain)
        return emitted

    def _plain(self, pending: int, began: float) -> Emitted:
        """A round without drafts. Small models write 300 tokens a second: no step too many."""
        target, tokens = self.target, self._tokens
        self._sampler.look_ahead(len(tokens) + 1)
        target.forward((pending,), _ONE_ROW)
        if self._rows is not None:
            self._rows.saw(target, len(tokens), _ONE_ROW)
        tokens.append(pending)
        token = self._sampler.draw(0, len(tokens))
        self._sampler.accept((token,))
        seconds = perf_counter() - began
        self.tally.round(Origin.TARGET, 0, seconds)
        self.depth.budget.earn_plain(seconds)
        return [(token, Origin.TARGET)]

    def cut(self, length: int) -> None:
        """The reply ended inside what was accepted: keep only the first `length` tokens."""
        if length < len(self._tokens):
            kept = self.target.truncate(length)
            del self._tokens[kept:]
            if self._rows is not None:
                self._rows.cut(kept)

    # --- drafting ------------------------------------------------------------------------

    def _room_in_context(self) -> int:
        return self.target.facts.context_length - self.position

    def _follow(self, pending: int) -> Match | None:
        """Let lookup and draft follow what was emitted; returns where the end stood before."""
        if self.draft is None and not self._carry and self._known == len(self._tokens):
            self._known += 1
            if self._lookup is None:
                return None
            self._lookup.extend((pending,))
            return self._lookup.find()
        known = self._known - len(self._tokens)
        emitted = [*self._carry, pending]
        new = emitted[known:] if known >= 0 else [*self._tokens[known:], *emitted]
        self._known = len(self._tokens) + len(emitted)
        if self.draft is not None:
            self.draft.extend(new)
        if self._lookup is None:
            return None
        self._lookup.extend(new)
        return self._lookup.find()

    def _lag(self) -> int | None:
        return self.draft.lag if self.draft is not None and self.draft.ready else None

    def _join_draft(self, draft: DraftModel) -> bool:
        """Have the draft follow the text and get back what was kept of it: after the first token,
        so that nobody waits for it, when it may be spent, and only for a draft that may pay."""
        if self._known < self._join_at:
            return False
        fixed = self._settings.depth_mode == "fixed"
        if not fixed and not self.depth.target.costs.known:
            return False
        self._join_at = self._known + JOIN_EVERY
        if not fixed and self.depth.worth.known_to_lose(len(self._tokens)):
            return False
        text = [*self._tokens, *self._carry][: self._known]
        if not fixed and not self.depth.budget.may_spend(draft.join_seconds(text)):
            return False
        self._waiting, self.draft = None, draft
        began = perf_counter()
        try:
            assert self._sources.begin_draft is not None
            self._sources.begin_draft(text)
            draft.restore()
        except DecodeAborted:
            raise
        except Exception as problem:
            self._drop_draft(problem)
        finally:
            seconds = perf_counter() - began
            self.depth.budget.spend(seconds)
        return True

    def _probe(self, plan: Plan) -> None:
        """Read the draft up to here and see how it would have done on the reply so far."""
        draft, pair = self.draft, self.depth.pair
        assert draft is not None
        assert pair is not None
        began = perf_counter()
        written = self.position - self._reply_start
        try:
            if plan.from_start:
                draft.forget()
            scores = draft.prefill(pair.costs, plan.window, min(SCORED, max(0, written - 1)))
        except DecodeAborted:
            raise
        except Exception as problem:
            self._drop_draft(problem)
            return
        finally:
            seconds = perf_counter() - began
            self.depth.budget.spend(seconds)
        self.depth.probed(scores, len(self._tokens), draft.sees_all)

    def _draft_chain(self, plan: Plan, context: int) -> tuple[list[DraftToken], Path]:
        draft, pair = self.draft, self.depth.pair
        assert draft is not None
        assert pair is not None
        path = Path()

        def go_on(prediction: Prediction, seconds: float) -> bool:
            if prediction.margin < self._margin:
                return False
            path.add(pair.margins.chance(prediction.margin))
            return self.depth.go_on(path, context, plan.depth, seconds)

        try:
            # by text, a draft token can become several tokens
            draft_tokens = draft.draft(pair.costs, go_on, plan.depth)[: plan.depth]
        except DecodeAborted:
            raise
        except Exception as problem:
            self._drop_draft(problem)
            return [], Path()
        # by text, draft tokens come back as other tokens, each with its own chance
        path = Path()
        for draft_token in draft_tokens:
            if draft_token.margin < self._margin:
                break
            path.add(pair.margins.chance(draft_token.margin))
        keep = self.depth.cut(path, context)
        kept = Path()
        for chance in path.chances[:keep]:
            kept.add(chance)
        return draft_tokens[:keep], kept

    def _drop_draft(self, problem: Exception) -> None:
        """The draft failed: say so once, and go on without it. Nothing of it may end a reply."""
        log.warning("the draft failed: %s", problem, exc_info=problem)
        self.draft = self._rows = None
        self._sources.on_draft_failed(kind_of(problem))

    def _tree(
        self, plan: Plan, draft_tokens: Sequence[DraftToken], path: Path, context: int
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
        plan: Plan,
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
            began = perf_counter()
            target.checkpoint()
            copying = perf_counter() - began
        if count == 1:
            self._sampler.look_ahead(context + 1)
        began = perf_counter()
        target.forward(
            [*first, *tree.tokens, *[pending] * filling],
            range(len(first) - 1, count),
            parents=tree.below(len(first), len(draft_tokens), filling),
        )
        self._position = context + len(first)
        verdict = verify(tree, self._draw, target.is_end)
        if self._rows is not None:
            # before anything is decoded again; a branch that won comes last
            seen = (*range(len(first)), *(len(first) + node for node in verdict.path))
            self._rows.saw(target, context, seen)
        again = self._settle(first, tree, verdict.path, len(draft_tokens), filling)
        self.depth.target.costs.observe(count + filling, context, perf_counter() - began - again)
        if may_go_back:
            self.depth.costs.observe_going_back(copying, again)
        if tree.tokens:
            sees_all = self.draft is None or self.draft.sees_all
            outcome = learn_outcome(
                self.depth, plan, draft_tokens, match, verdict.emitted, sees_all
            )
            self.tally.verified(plan.source, *outcome)
            if match is not None and self._lookup is not None and plan.source is Origin.LOOKUP:
                self._lookup.copied(match.position + outcome[1])
        if match is not None and self._lookup is not None and plan.source is not Origin.LOOKUP:
            repeated = self._lookup.continuation(match, len(verdict.emitted))
            right = learn_repeat(self.depth, match, repeated, verdict.emitted)
            if match.length >= LONG_COPY and right < len(verdict.emitted):
                self._lookup.copied(match.position + right)
        origins = [plan.source] * len(verdict.path) + [Origin.TARGET]
        return list(zip(verdict.emitted, origins, strict=False))

    def _draw(self, row: int) -> int:
        token = self._sampler.draw(row, self._position)
        self._sampler.accept((token,))
        self._position += 1
        return token

    def _filling(self, count: int, context: int) -> int:
        """Further rows, which nothing is made of, where a forward with them is faster."""
        filled = self.depth.costs.filled(count, context)
        facts = self.target.facts
        return filled - count if filled <= min(facts.batch, facts.context_length - context) else 0

    def _settle(
        self, first: list[int], tree: Tree, path: Sequence[int], chain: int, filling: int
    ) -> float:
        """Make the KV state hold what came before the draft, and what was accepted of the chain
        (the tree's first `chain` tokens); a branch that won is carried. Returns the seconds for
        what had to be decoded again."""
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
                began = perf_counter()
                self._recompute(left)
                return perf_counter() - began
        return 0.0

    def _recompute(self, kept: int) -> None:
        """Models that cannot be cut go back to a checkpoint, or to nothing: read what is lost."""
        missing = self._tokens[kept:]
        del self._tokens[kept:]
        for part in image_tokens.slices(missing, self.target.facts.batch):
            self.target.forward(part, [])
            self._tokens.extend(part)
