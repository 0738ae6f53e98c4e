"""Learning what drafts cost and gain while nobody waits. Engine thread; called when it is idle.

In small pieces, each at most one forward of the target: forwards of several sizes after the
text that is in the context, the draft's steps and its reading, and how often the draft is right,
first on a short text that the target writes for that, then on each reply. Any request cuts it;
what was learned until then is kept, in the profiles that replies and “Calibrate” use too.
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

# rows of a verification, those first that say most about the others
SIZES = (2, 4, 8, 16, 3, 6, 12, 5, 7, 10, 14, 9, 11, 13, 15, 17)
# single forwards of target and draft, and a draft's batch, as reading has them
_TARGET_STEPS, _DRAFT_STEPS, _DRAFT_ROWS = 3, 6, 32
# the target writes so many tokens where nothing is known of a pair
WRITTEN = 48
# tokens of a reply that a draft is scored on, and read at most by one that did not pay so far
_SCORED, _LOSER_PREFILL = 192, 384
# room for all sizes after the text at hand
_ROOM = 20
SPARE = 1

# done, total
Progress = Callable[[int, int], None]


def calibrate(target: Decoder, state: SpeculationState, tell: Progress) -> Iterator[None]:
    """Measure the unknown facts of the loaded pair, piece by piece; the caller stops between them.

    Each piece may raise DecodeAborted: the target's live sequence is then to be cut to what it
    held, which is also so after each piece that ended.
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
    # a first sample of a size may have met a slow moment
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
    # its state gives way to the text that it is scored on
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
    """Score the draft on the target's own tokens of the last reply, in one batch where they fit;
    it has read the text then. Returns whether anything was read. Raises DecodeAborted."""
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
            # a draft that sees only the end of a text is worse than it is
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
    """Calibrates a draft that only drafts what comes next: scored while a text is written."""

    def __init__(self, draft: HiddenStateDraft) -> None:
        self._draft = draft
        # by the place that they are for
        self._made: list[tuple[int, Prediction]] = []

    def next(self, tokens: Sequence[int]) -> None:
        """The last of `tokens` was drawn, and is not decoded yet."""
        at, rows = len(tokens) - 2, self._draft.rows
        if rows.has(at, at + 1):
            drafted = self._draft.predict_next(rows.get(at, at + 1), tokens[-1], SPARE)
            self._made.append((len(tokens), drafted))

    def learn(self, pair: PairProfile, tokens: Sequence[int]) -> None:
        for place, drafted in self._made:
            if place < len(tokens):
                pair.margins.observe(drafted.margin, drafted.token == tokens[place])


def time_forward(target: Decoder, tokens: list[int], costs: Costs, seq: int = 0) -> None:
    """Time a forward of `tokens` whose rows are all looked at; the sequence stays as it was."""
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
    """The target begins a reply to `prompt` on the spare sequence; then the draft is scored."""
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
            # of another text than the chat's
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
                    # a forward for a few of them
                    yield
        yield
    except ContextFull:
        # a chat that fills the context: its own replies will tell
        return
    finally:
        sampler.close()
        target.truncate(0, SPARE)
        if rows is not None:
            rows.clear()
