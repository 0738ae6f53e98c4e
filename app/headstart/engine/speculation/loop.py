"""The speculative loop, once for every decoder and every source of guesses. Engine thread.

`Speculator.step` is one round: choose, guess, verify in one forward of the target, accept,
correct. Afterwards the target's KV state is exactly `tokens`; the last emitted token is pending
and not in it. The draft's KV state is cut to the text before it is used again.

A second candidate that wins is decoded again with the next round: kept where it is, its cell would
lie behind later tokens' and change the order of sums, and with it bits of the logits.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from time import perf_counter

from headstart.core.events import DraftActivity, DraftStage
from headstart.core.log_safety import kind_of
from headstart.core.parts import Origin
from headstart.core.settings import Speculation
from headstart.core.values import SpeculationFigures
from headstart.engine.decoder import DecodeAborted, Decoder, Guess, Sampler
from headstart.engine.speculation.bridge import Guessed
from headstart.engine.speculation.depth import KNOWN_TESTS, Depth
from headstart.engine.speculation.draft_model import DraftModel
from headstart.engine.speculation.plan import PLAIN, Path, Plan, confidence_margin
from headstart.engine.speculation.repeats import Match, RepeatIndex
from headstart.engine.speculation.verify import Tree, verify

log = logging.getLogger(__name__)

# a draft is scored on at most so many of the reply's tokens at once
SCORED = 32

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
        settings: Speculation,
        repeats: RepeatIndex | None,
        draft: DraftModel | None,
        on_draft_failed: Callable[[str], None],
        begin_draft: Callable[[Sequence[int]], None] | None = None,
    ) -> None:
        """`begin_draft` has the draft follow a text; None: it follows `tokens` already."""
        self._target = target
        self._tokens = tokens
        self._sampler = sampler
        self._depth = depth
        self._settings = settings
        self._repeats = repeats
        # a draft joins when what that takes may be spent
        self._draft = draft if begin_draft is None else None
        self._waiting = draft if begin_draft is not None else None
        self._begin_draft = begin_draft
        self._on_draft_failed = on_draft_failed
        self._margin = confidence_margin(settings.min_confidence)
        self._leaves = target.facts.leaves
        self._checkpoints = target.facts.rollback == "checkpoint"
        self._reply_start = len(tokens)
        self._known = len(tokens)  # how much of the text repeats and draft have been told
        self._carry: list[int] = []  # emitted before the pending token, and not in the KV state
        self.rounds = 0
        self.last_depth = 0
        self.last_source = Origin.TARGET
        self.seconds = 0.0
        self._plain_seconds = 0.0
        self._draft_tested = self._draft_accepted = 0
        self._repeat_tested = self._repeat_accepted = 0

    @property
    def figures(self) -> SpeculationFigures:
        return SpeculationFigures(
            rounds=self.rounds,
            draft_tested=self._draft_tested,
            draft_accepted=self._draft_accepted,
            repeat_tested=self._repeat_tested,
            repeat_accepted=self._repeat_accepted,
            plain_seconds=self._plain_seconds,
        )

    @property
    def activity(self) -> DraftActivity:
        """What the chosen draft is doing, and why."""
        depth, context = self._depth, len(self._tokens)
        if self.last_source is Origin.DRAFT:
            return DraftActivity(DraftStage.DRAFTING, self.last_depth)
        if self.last_source is Origin.REPEAT:
            return DraftActivity(DraftStage.LOOKUP, self.last_depth)
        pair = depth.pair
        if pair is None or (self._draft is None and self._waiting is None):
            return DraftActivity(DraftStage.OFF)
        if depth.known_to_lose(context):
            return DraftActivity(DraftStage.NOT_PAYING, 0, pair.margins.mean, depth.needed(context))
        known = pair.margins.all_tested >= KNOWN_TESTS and depth.target.costs.known
        return DraftActivity(DraftStage.WAITING if known else DraftStage.LEARNING)

    def restart(self) -> None:
        """The text before the reply changed (older turns were left out): begin anew with it."""
        self._reply_start = self._known = len(self._tokens)
        self._carry = []
        if self._repeats is not None:
            self._repeats.sync(self._tokens)
        self._draft = self._waiting = None

    @property
    def place(self) -> int:
        """The place in the text of what `step` will emit first."""
        return len(self._tokens) + len(self._carry) + 1

    def step(self, pending: int, room: int) -> Emitted:
        """Decode `pending` and whatever guesses after it pay; returns what came out.

        At least one token; `tokens` says which are in the KV state. At most `room` guesses are
        tested. Raises ContextFull and DecodeAborted.
        """
        began = perf_counter()
        draft = self._draft or self._waiting
        self._depth.follow(self._target.pace, None if draft is None else draft.decoder.pace)
        if self._waiting is not None and self._join_draft(self._waiting):
            began = perf_counter()
        match = self._tell(pending)
        lag = self._lag()
        if match is None and lag is None:
            return self._plain(pending, began)
        context = len(self._tokens)
        room = min(room, self._target.facts.batch - 1, self._room_in_context())
        unseen = self._draft.unseen if self._draft is not None else 0
        plan = self._depth.plan(context, room, match, lag, unseen)
        if plan.probe:
            self._probe(plan)
            plan = self._depth.plan(context, room, match, self._lag())
            if plan.probe:
                plan = PLAIN
            began = perf_counter()
        guesses: list[Guessed] = []
        path = Path()
        if plan.source is Origin.REPEAT and match is not None and self._repeats is not None:
            guesses = [Guessed(token, -1, 0.0) for token in self._repeats.guess(match, plan.depth)]
        elif plan.source is Origin.DRAFT and self._draft is not None:
            guesses, path = self._guess(plan, context)
        drafted = plan.source is Origin.DRAFT
        if not guesses:
            plan = PLAIN
        tree = self._tree(plan, guesses, path, context)
        emitted = self._verify(pending, tree, plan, guesses, match)
        seconds = perf_counter() - began
        self.rounds += 1
        self.seconds += seconds
        self.last_source, self.last_depth = plan.source, len(tree.tokens)
        self._depth.earn(len(emitted), seconds, guessed=bool(guesses) or drafted, drafted=drafted)
        if guesses or drafted:
            self._plain_seconds += len(emitted) * self._depth.target.costs.unit
        else:
            self._plain_seconds += seconds
        return emitted

    def _plain(self, pending: int, began: float) -> Emitted:
        """A round without guesses. Small models write 300 tokens a second: no step too many."""
        if self._carry:
            return self._verify(pending, Tree(), PLAIN, [], None)
        target, tokens = self._target, self._tokens
        self._sampler.look_ahead(len(tokens) + 1)
        target.forward((pending,), _ONE_ROW)
        tokens.append(pending)
        token = self._sampler.draw(0, len(tokens))
        self._sampler.accept((token,))
        seconds = perf_counter() - began
        self.rounds += 1
        self.seconds += seconds
        self.last_source, self.last_depth = Origin.TARGET, 0
        self._depth.earn_plain(seconds)
        # a plain round is what it is compared with
        self._plain_seconds += seconds
        return [(token, Origin.TARGET)]

    def cut(self, length: int) -> None:
        """The reply ended inside what was accepted: keep only the first `length` tokens."""
        if length < len(self._tokens):
            kept = self._target.truncate(length)
            del self._tokens[kept:]

    # --- guessing ------------------------------------------------------------------------

    def _room_in_context(self) -> int:
        return self._target.facts.context_length - self.place

    def _tell(self, pending: int) -> Match | None:
        """Tell repeats and draft what was emitted; returns where the end stood before."""
        if self._draft is None and not self._carry and self._known == len(self._tokens):
            self._known += 1
            if self._repeats is None:
                return None
            self._repeats.extend((pending,))
            return self._repeats.find()
        known = self._known - len(self._tokens)
        emitted = [*self._carry, pending]
        new = emitted[known:] if known >= 0 else [*self._tokens[known:], *emitted]
        self._known = len(self._tokens) + len(emitted)
        if self._draft is not None:
            self._draft.extend(new)
        if self._repeats is None:
            return None
        self._repeats.extend(new)
        return self._repeats.find()

    def _lag(self) -> int | None:
        return self._draft.lag if self._draft is not None and self._draft.ready else None

    def _join_draft(self, draft: DraftModel) -> bool:
        """Have the draft follow the text and get back what was kept of it: after the first token,
        so that nobody waits for it, when it may be spent, and only for a draft that may pay."""
        text = [*self._tokens, *self._carry][: self._known]
        if self._settings.depth_mode != "fixed" and (
            not self._depth.target.costs.known
            or self._depth.known_to_lose(len(text))
            or not self._depth.may_spend(draft.join_seconds(text))
        ):
            return False
        self._waiting, self._draft = None, draft
        began = perf_counter()
        try:
            assert self._begin_draft is not None
            self._begin_draft(text)
            draft.restore()
        except DecodeAborted:
            raise
        except Exception as problem:
            self._drop_draft(problem)
        finally:
            seconds = perf_counter() - began
            self.seconds += seconds
            self._depth.spend(seconds)
        return True

    def _probe(self, plan: Plan) -> None:
        """Read the draft up to here and see how it would have done on the reply so far."""
        draft, pair = self._draft, self._depth.pair
        assert draft is not None
        assert pair is not None
        began = perf_counter()
        written = self.place - self._reply_start
        try:
            if plan.anew:
                draft.forget()
            scores = draft.read(pair.costs, plan.window, min(SCORED, max(0, written - 1)))
        except DecodeAborted:
            raise
        except Exception as problem:
            self._drop_draft(problem)
            return
        finally:
            seconds = perf_counter() - began
            self.seconds += seconds
            self._depth.spend(seconds)
        self._depth.probed(scores, len(self._tokens), draft.sees_all)

    def _guess(self, plan: Plan, context: int) -> tuple[list[Guessed], Path]:
        draft, pair = self._draft, self._depth.pair
        assert draft is not None
        assert pair is not None
        path = Path()

        def go_on(guess: Guess, seconds: float) -> bool:
            if guess.margin < self._margin:
                return False
            path.add(pair.margins.chance(guess.margin))
            return self._depth.go_on(path, context, plan.depth, seconds)

        try:
            # by text, a guess can become several tokens
            guesses = draft.guess(pair.costs, go_on, plan.depth)[: plan.depth]
        except DecodeAborted:
            raise
        except Exception as problem:
            self._drop_draft(problem)
            return [], Path()
        # by text, guesses come back as other tokens, each with its own chance
        path = Path()
        for guess in guesses:
            if guess.margin < self._margin:
                break
            path.add(pair.margins.chance(guess.margin))
        keep = self._depth.cut(path, context)
        kept = Path()
        for chance in path.chances[:keep]:
            kept.add(chance)
        return guesses[:keep], kept

    def _drop_draft(self, problem: Exception) -> None:
        """The draft failed: say so once, and go on without it. Nothing of it may end a reply."""
        log.warning("the draft failed: %s", problem, exc_info=problem)
        self._draft = None
        self._on_draft_failed(kind_of(problem))

    def _tree(self, plan: Plan, guesses: Sequence[Guessed], path: Path, context: int) -> Tree:
        tree = Tree.chain([guess.token for guess in guesses])
        if plan.source is not Origin.DRAFT or self._leaves < 2:
            return tree
        if self._settings.second_guesses == "never" or self._room_in_context() < len(guesses) + 3:
            return tree
        if self._settings.second_guesses == "always":
            order = sorted(range(len(guesses)), key=lambda index: guesses[index].margin)
            chosen = order[: self._leaves - 1]
        else:
            chosen = self._depth.siblings(path, context, self._leaves - 1)
        for index in chosen:
            if guesses[index].second >= 0:
                tree.add(guesses[index].second, index - 1)
        return tree

    # --- verifying -----------------------------------------------------------------------

    def _verify(
        self,
        pending: int,
        tree: Tree,
        plan: Plan,
        guesses: Sequence[Guessed],
        match: Match | None,
    ) -> Emitted:
        target, context = self._target, len(self._tokens)
        first = [*self._carry, pending]
        count = len(first) + len(tree.tokens)
        if self._checkpoints and count > 1:
            began = perf_counter()
            target.checkpoint()
            self._depth.see_checkpoint(perf_counter() - began)
        if count == 1:
            self._sampler.look_ahead(context + 1)
        began = perf_counter()
        chain = tree.is_chain
        target.forward(
            [*first, *tree.tokens],
            range(len(first) - 1, count),
            parents=None if chain else _below(len(first), tree.parents),
        )
        self._place = context + len(first)
        verdict = verify(tree, self._draw, target.is_end)
        self._settle(first, tree, verdict.path, len(guesses))
        self._depth.target.costs.observe(count, context, perf_counter() - began)
        if tree.tokens:
            self._count(plan, guesses, match, verdict.emitted)
        origins = [plan.source] * len(verdict.path) + [Origin.TARGET]
        return list(zip(verdict.emitted, origins, strict=False))

    def _draw(self, row: int) -> int:
        token = self._sampler.draw(row, self._place)
        self._sampler.accept((token,))
        self._place += 1
        return token

    def _settle(self, first: list[int], tree: Tree, path: Sequence[int], chain: int) -> None:
        """Make the KV state hold what came before the guesses, and the accepted ones of the chain
        (the tree's first `chain` tokens); a winning second candidate is carried."""
        target, tokens = self._target, self._tokens
        kept = [node for node in path if node < chain]
        self._carry = [tree.tokens[node] for node in path[len(kept) :]]
        tokens.extend(first)
        tokens.extend(tree.tokens[node] for node in kept)
        if len(tree.tokens) > chain:
            target.keep([*range(len(first)), *(node + len(first) for node in kept)])
        elif len(kept) < len(tree.tokens):
            left = target.truncate(len(tokens))
            if left < len(tokens):
                self._read_again(left)

    def _read_again(self, kept: int) -> None:
        """Models that cannot be cut go back to a checkpoint, or to nothing: read what is lost."""
        missing = self._tokens[kept:]
        del self._tokens[kept:]
        batch = self._target.facts.batch
        for start in range(0, len(missing), batch):
            part = missing[start : start + batch]
            self._target.forward(part, [])
            self._tokens.extend(part)

    def _count(
        self, plan: Plan, guesses: Sequence[Guessed], match: Match | None, emitted: Sequence[int]
    ) -> None:
        """Learn from each guess that was tested: those up to the first wrong one."""
        pair, lengths = self._depth.pair, self._depth.target.lengths
        tested = accepted = 0
        for index, guess in enumerate(guesses):
            if index >= len(emitted):
                break
            right = guess.token == emitted[index]
            tested += 1
            accepted += right
            if plan.source is Origin.DRAFT and pair is not None:
                sees_all = self._draft is None or self._draft.sees_all
                pair.margins.observe(guess.margin, right, sees_all)
                if not right and guess.second >= 0:
                    pair.margins.observe_second(guess.second == emitted[index])
            elif match is not None:
                lengths.observe(match.length + index, right)
            if not right:
                break
        if match is not None and self._repeats is not None and plan.source is Origin.REPEAT:
            self._repeats.copied(match.position + accepted)
        if plan.source is Origin.DRAFT:
            self._draft_tested += tested
            # a second candidate that was right is a guess that was right
            self._draft_accepted += max(accepted, len(emitted) - 1)
        else:
            self._repeat_tested += tested
            self._repeat_accepted += accepted


def _below(count: int, parents: Sequence[int]) -> list[int]:
    """The parents of a chain of `count` tokens and of a tree that hangs on its last one."""
    return [*range(-1, count - 1), *(parent + count for parent in parents)]
