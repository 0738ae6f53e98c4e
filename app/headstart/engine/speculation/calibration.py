"""Measures the costs and gains of drafts while the engine is idle. Engine thread.

In small pieces, each at most one forward of the target: forwards of several sizes after the text in
the context, the draft's steps and its prefill, and the share of right draft tokens, first on a
short text that the target writes for it, then on each reply. Any request interrupts it; results so
far are kept, in the profiles that replies and “Calibrate” use too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from headstart.core.settings.schema import Sampling
from headstart.engine.decoder import ContextFull, Decoder, Prediction
from headstart.engine.speculation.costs import Costs
from headstart.engine.speculation.depth.catch_up import LIVE_LAG
from headstart.engine.speculation.depth.worth import KNOWN_TESTS
from headstart.engine.speculation.draft_model import DraftModel
from headstart.engine.speculation.hidden_draft import HiddenStateDraft
from headstart.engine.speculation.profile import PairProfile
from headstart.engine.speculation.state import QUESTION, SpeculationState
from headstart.engine.stop import NEVER, StopSignal

# rows of a verification, the most informative first
SIZES = (2, 4, 8, 16, 3, 6, 12, 5, 7, 10, 14, 9, 11, 13, 15, 17)
# single forwards of target and draft, and the size of a prefill batch of the draft
_TARGET_STEPS, _DRAFT_STEPS, _DRAFT_ROWS = 3, 6, 32
# tokens that the target writes for an unknown pair
WRITTEN = 48
# tokens of a reply that a draft is scored on, and the most that an unprofitable one prefills
_SCORED, _LOSER_PREFILL = 192, 384
# room for all sizes after the present text
_ROOM = 20
SPARE = 1

# done, total
Progress = Callable[[int, int], None]


def calibrate(target: Decoder, state: SpeculationState, tell: Progress) -> Iterator[None]:
    """Measure the unknown facts of the loaded pair, piece by piece; the caller stops between them.

    Each piece may raise DecodeAborted: the caller must then cut the target's live sequence to its
    earlier length, which each completed piece restores itself.
    """
    draft, pair = state.draft, state.pair
    if draft is None or pair is None:
        return
    costs = state.target_costs()
    pair.use(draft.decoder.pace)
    context = target.n_past()
    if context + _ROOM > target.facts.context_length:
        return
    few = costs.decode_time_samples < _TARGET_STEPS
    write = pair.margins.all_verified < KNOWN_TESTS
    draft_unknown = pair.costs.decode_time_samples < _DRAFT_STEPS
    # the first sample of a size may come from a slow moment
    sizes = [*costs.unmeasured(SIZES[:4], context, 2), *costs.unmeasured(SIZES[:4], context)]
    if not state.timed_again and state.depth is not None and state.depth.worth.doubted(context):
        # once after each reply
        state.timed_again = draft_unknown = True
        sizes += [1, 1, *SIZES[:4], 1, *SIZES[:4]]
    later = [*costs.unmeasured(SIZES[4:], context), *costs.unmeasured(SIZES[4:], context, 2)]
    total = few + len(sizes) + write * WRITTEN + draft_unknown + len(later)
    if not total:
        return
    done = 0
    # scoring replaces the draft's state
    state.free_draft()
    tell(0, total)
    tokens = _some_tokens(target)

    def time_sizes(counts: list[int]) -> Iterator[None]:
        nonlocal done
        for count in counts:
            time_forward(target, tokens[:count], costs)
            done += 1
            tell(done, total)
            yield

    if draft_unknown:
        draft.time_steps(pair.costs, _DRAFT_STEPS, _DRAFT_ROWS)
        done += 1
        yield
    if few:
        for _ in range(_TARGET_STEPS + 1):
            time_forward(target, tokens[:1], costs)
            yield
        done += 1
    yield from time_sizes(sizes)
    if write:
        for _ in _score_on_text(target, draft, pair, costs, state.sample_prompt):
            done += done < total
            tell(done, total)
            yield
    yield from time_sizes(later)
    tell(total, total)


def learn_from_reply(state: SpeculationState, stop: StopSignal) -> bool:
    """Score the draft on the target's own tokens of the last reply, in one batch if they fit; the
    draft then holds the text. Returns True if it prefilled anything. Raises DecodeAborted."""
    draft, pair, reply = state.draft, state.pair, state.last_reply
    if draft is None or pair is None or reply is None:
        return False
    context = len(reply.tokens)
    draft.begin(reply.tokens, reply.sampling, reply.seed, stop)
    try:
        if (
            draft.decoder.facts.follows
            or not draft.ready
            or (draft.sees_all and draft.lag <= LIVE_LAG)
        ):
            return False
        draft.restore()
        if draft.unseen:
            # a draft that sees only the end of a text looks worse than it is
            draft.forget()
        loses = state.depth is not None and state.depth.worth.known_to_lose(context)
        written = max(0, context - reply.start - 1)
        window = _LOSER_PREFILL if loses else None
        scores = draft.prefill(pair.costs, window, min(_SCORED, written))
        if state.depth is not None:
            state.depth.worth.learn(scores, context, draft.sees_all)
        return True
    finally:
        draft.end()


class ScoredAsWritten:
    """Scores a draft that can only draft the next tokens, while a text is written."""

    def __init__(self, draft: HiddenStateDraft) -> None:
        self._draft = draft
        # predictions with their positions
        self._made: list[tuple[int, Prediction]] = []

    def next(self, tokens: Sequence[int]) -> None:
        """Predict the next token; the last of `tokens` is drawn but not yet decoded."""
        at, rows = len(tokens) - 2, self._draft.rows
        if rows.has(at, at + 1):
            drafted = self._draft.predict_next(rows.get(at, at + 1), tokens[-1], SPARE)
            self._made.append((len(tokens), drafted))

    def learn(self, pair: PairProfile, tokens: Sequence[int]) -> None:
        for place, drafted in self._made:
            if place < len(tokens):
                pair.margins.observe(drafted.margin, drafted.token == tokens[place])


def time_forward(target: Decoder, tokens: list[int], costs: Costs, seq: int = 0) -> None:
    """Time a forward of `tokens` and the use of all its rows; the sequence is unchanged."""
    position = target.n_past(seq)
    if seq == 0 and target.facts.rollback == "checkpoint":
        target.checkpoint()
    try:
        began = target.seconds()
        target.forward(tokens, range(len(tokens)), seq)
        for row in range(len(tokens)):
            target.argmax(row)
        costs.observe(len(tokens), position, target.seconds() - began)
    finally:
        target.truncate(position, seq)


def _some_tokens(target: Decoder) -> list[int]:
    tokens = target.encode(QUESTION)
    return (tokens * (1 + max(SIZES) // max(1, len(tokens))))[: max(SIZES)]


def _score_on_text(
    target: Decoder, draft: DraftModel, pair: PairProfile, costs: Costs, prompt: Sequence[int]
) -> Iterator[None]:
    """Have the target begin a reply to `prompt` on the spare sequence, and score the draft on
    it."""
    tokens = list(prompt)
    start = len(tokens)
    sampler = target.sampler(Sampling(temperature=0), 0)
    target.truncate(0, SPARE)
    rows = draft.rows
    live_scores = (
        ScoredAsWritten(draft)
        if isinstance(draft, HiddenStateDraft) and draft.decoder.facts.follows
        else None
    )
    try:
        target.forward(tokens, [len(tokens) - 1], SPARE)
        if rows is not None:
            # rows of another text than the chat's
            rows.clear()
            rows.saw(target, 0, range(len(tokens)))
        yield
        for _ in range(WRITTEN - 2):
            token = sampler.draw(0, len(tokens))
            if target.is_end(token):
                break
            tokens.append(token)
            if live_scores is not None:
                live_scores.next(tokens)
            began = target.seconds()
            target.forward([token], [0], SPARE)
            target.argmax(0)
            costs.observe(1, len(tokens), target.seconds() - began)
            if rows is not None:
                rows.saw(target, len(tokens) - 1, (0,))
            yield
        if live_scores is not None:
            live_scores.learn(pair, tokens)
        else:
            for margin, right in draft.score(tokens, start, pair.costs, NEVER):
                pair.margins.observe(margin, right)
                if draft.decoder.facts.at_once:
                    # one forward per few tokens
                    yield
        yield
    except ContextFull:
        # the chat fills the context: its own replies will provide the samples
        return
    finally:
        sampler.close()
        target.truncate(0, SPARE)
        if rows is not None:
            rows.clear()
