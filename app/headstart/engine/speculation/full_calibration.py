"""Full calibration on demand: the costs of forwards and drafting, and the share of right drafts.

Engine thread. The target writes a few plain replies on a spare sequence, the draft is scored on
them, and forwards of every size are timed; the results go into the profiles that replies use. The
chat's KV state is unchanged.
"""

from __future__ import annotations

from collections.abc import Sequence

from headstart.core.errors import EnvironmentProblem
from headstart.core.events import Emit
from headstart.core.settings.schema import Sampling
from headstart.engine.decoder import ContextFull, DecodeAborted, Decoder
from headstart.engine.speculation.calibration import SPARE, time_forward
from headstart.engine.speculation.costs import Costs
from headstart.engine.speculation.depth.cost_table import MAX_DRAFT
from headstart.engine.speculation.hidden_rows import HiddenRows
from headstart.engine.speculation.profile import PairProfile
from headstart.engine.speculation.speed_curve import speed_curve
from headstart.engine.speculation.state import SpeculationState
from headstart.engine.stop import StopSignal

WRITTEN = 32
CONTEXT = 120
BEGINNINGS = (
    "def read_lines(path):\n    lines = []\n",
    "It was late in the evening when the old ship came back to the harbour. ",
    "To sleep better, start with a few simple habits. First,",
)


def calibrate(target: Decoder, state: SpeculationState, emit: Emit, stop: StopSignal) -> None:
    """Fill the profiles of the loaded pair; emits the curve as it becomes more accurate.

    Raises DecodeAborted on a cancel; results so far are kept.
    """
    draft, pair = state.draft, state.pair
    if draft is None or pair is None:
        raise EnvironmentProblem("draft-not-loaded")
    costs = state.target_costs()
    sizes = range(2, MAX_DRAFT + 2)
    total = len(BEGINNINGS) + 3 * len(sizes)

    def abort() -> None:
        target.abort()
        state.abort()

    stop.set_abort(abort)
    try:
        for number, beginning in enumerate(BEGINNINGS, 1):
            written, start = _write(target, beginning, costs, stop, draft.rows)
            state.free_draft()
            # some can only be scored while the text is written, which the idle engine does
            alone = draft.decoder.facts.follows
            scores = () if alone else draft.score(written, start, pair.costs, stop)
            for margin, right in scores:
                pair.margins.observe(margin, right)
            _tell(emit, costs, pair, number, total)
        tokens = target.encode(BEGINNINGS[1] * 8)
        # a realistic context: rows cost more with a longer one
        target.forward(tokens[:CONTEXT], [], SPARE)
        context = target.n_past(SPARE)
        # each size in every pass, so that a slow moment does not affect all samples of one
        for number, size in enumerate((*sizes, *sizes, *sizes), 1):
            # measured against the speed of the same moment
            for count in (1, size):
                if stop.stopped:
                    raise DecodeAborted
                time_forward(target, tokens[:count], costs, SPARE)
                if target.n_past(SPARE) != context:
                    # a cache that cannot be cut: the samples are for a short context
                    target.truncate(0, SPARE)
            _tell(emit, costs, pair, len(BEGINNINGS) + number, total)
    except ContextFull as error:
        raise EnvironmentProblem("no-room-to-calibrate") from error
    finally:
        stop.set_abort(None)
        target.clear_abort()
        state.clear_abort()
        target.truncate(0, SPARE)
        if draft.rows is not None:
            draft.rows.clear()
        state.save()


def _tell(emit: Emit, costs: Costs, pair: PairProfile, done: int, total: int) -> None:
    if costs.known and pair.costs.known:
        emit(speed_curve(costs, pair, WRITTEN, done, total))


def _write(
    target: Decoder, beginning: str, costs: Costs, stop: StopSignal, rows: HiddenRows | None
) -> tuple[Sequence[int], int]:
    """Continue a beginning without draft tokens; returns all tokens, and the start of the written
    ones. `rows`: collects the hidden states for a head."""
    target.truncate(0, SPARE)
    tokens = target.encode(beginning)
    begin = target.facts.begin_token
    if begin is not None:
        tokens.insert(0, begin)
    sampler = target.sampler(Sampling(temperature=0), 0)
    start = len(tokens)
    try:
        target.forward(tokens, [len(tokens) - 1], SPARE)
        if rows is not None:
            rows.clear()
            rows.saw(target, 0, range(len(tokens)))
        while len(tokens) < start + WRITTEN:
            token = sampler.draw(0, len(tokens))
            if target.is_end(token):
                break
            tokens.append(token)
            if stop.stopped:
                raise DecodeAborted
            began = target.seconds()
            target.forward([token], [0], SPARE)
            target.argmax(0)
            costs.observe(1, len(tokens), target.seconds() - began)
            if rows is not None:
                rows.saw(target, len(tokens) - 1, (0,))
    finally:
        sampler.close()
    return tokens, start
