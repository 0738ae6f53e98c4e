"""Work of the idle engine for the loaded pair: scores the draft on the last reply, measures unknown
costs, and prefills the resident text into the draft. Engine thread; any request interrupts it."""

from __future__ import annotations

from typing import Protocol

from headstart.core.events import DraftActivity, DraftStage, Emit
from headstart.core.settings.schema import Sampling
from headstart.engine.decoder import DecodeAborted
from headstart.engine.speculation.calibration import calibrate, learn_from_reply
from headstart.engine.speculation.depth.catch_up import LIVE_LAG
from headstart.engine.speculation.state import SpeculationState, WrittenReply
from headstart.engine.stop import StopSignal


class ResidentText(Protocol):
    """Tokens of the target's live sequence, and their chat; see `prefill.Resident`."""

    tokens: list[int]
    chat_id: str | None

    @property
    def owner(self) -> str | None: ...


def learn_when_idle(
    state: SpeculationState, resident: ResidentText, emit: Emit, stop: StopSignal
) -> bool:
    """Measure the unknown facts of the pair; returns True if the draft has prefilled the resident
    text. Raises DecodeAborted; the caller then cuts the live sequence to its earlier length."""
    if state.draft is None or state.pair is None:
        return False
    state.follow_paces()
    told = has_prefilled = False

    def tell(done: int, total: int) -> None:
        nonlocal told
        told = True
        emit(DraftActivity(DraftStage.CALIBRATING, done=done, total=total))

    try:
        if state.rows is not None and not _is_resident(state.last_reply, resident):
            # the states of its tokens are gone
            state.last_reply = None
        if state.last_reply is not None:
            learned = _learn(state, state.last_reply, stop)
            # another chat may have become resident
            has_prefilled = learned and state.draft_chat == (resident.chat_id,)
        for _ in calibrate(state.target, state, tell):
            if stop.stopped:
                raise DecodeAborted
        has_prefilled = _follow_resident(state, resident, stop) or has_prefilled
    finally:
        if told or has_prefilled:
            state.save()
            emit(state.activity())
            curve = state.curve(state.target.n_past())
            if curve is not None:
                emit(curve)
    return has_prefilled


def _is_resident(reply: WrittenReply | None, resident: ResidentText) -> bool:
    """True if the target holds the decoded text of this reply."""
    if reply is None:
        return False
    decoded = reply.tokens[:-1]
    return tuple(resident.tokens[: len(decoded)]) == decoded


def _learn(state: SpeculationState, reply: WrittenReply, stop: StopSignal) -> bool:
    """Score the draft on a reply. Returns True if it prefilled the reply's chat for that."""
    assert state.draft is not None
    state.free_draft()
    state.draft.persist = reply.persist
    try:
        has_prefilled = learn_from_reply(state, stop)
    except DecodeAborted:
        raise
    except Exception:
        # a failure would repeat each time
        state.last_reply = None
        raise
    state.last_reply = None
    if has_prefilled:
        state.draft_chat = (reply.chat_id,)
    return has_prefilled


def _follow_resident(state: SpeculationState, resident: ResidentText, stop: StopSignal) -> bool:
    """Prefill the resident text into a draft that pays, so that no reply waits for it."""
    draft, pair, depth = state.draft, state.pair, state.depth
    assert draft is not None
    assert pair is not None
    assert depth is not None
    tokens = resident.tokens
    if not tokens or state.draft_chat == (resident.chat_id,):
        return False
    if depth.worth.known_to_lose(len(tokens)):
        return False
    state.free_draft()
    draft.begin(tokens, Sampling(temperature=0), 0, stop)
    try:
        if draft.ready and draft.lag > LIVE_LAG:
            draft.persist = resident.owner is not None
            draft.restore()
            draft.prefill(pair.costs)
        state.draft_chat = (resident.chat_id,)
    finally:
        draft.end()
    return True
