"""What a model is going to be loaded with: its context, and whether there is memory for it.

Engine thread. The estimate is that of `core.fit`; this puts the request and the computer into it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from headstart.core import fit
from headstart.core.errors import ModelProblem
from headstart.core.fit import Memory, ModelShape, Need, Pair, Verdict
from headstart.core.model_ref import ModelRef
from headstart.core.requests import LoadRequest
from headstart.core.told import Told, told

ReadShape = Callable[[ModelRef], ModelShape]

# of a file whose head says nothing: keys, values and buffers in proportion to its weights
_UNKNOWN_SHARE = 0.1
_USEFUL_CONTEXT = 8192


@dataclass(frozen=True, slots=True)
class Room:
    """`context` in tokens, and what a pair takes with it; `windowed` as `fit.windowed`."""

    context: int
    need: Need
    verdict: Verdict
    windowed: bool


def shapes(read_shape: ReadShape, wanted: LoadRequest) -> Pair:
    """The target and its draft, as far as their files say what they are."""
    target, draft = wanted.model, wanted.draft
    return Pair(_shape(read_shape, target), None if draft is None else _shape(read_shape, draft))


def least(pair: Pair, wanted: LoadRequest) -> Need:
    """What it takes at least: with the context that was chosen, or one that is of use."""
    engine = wanted.engine
    return pair.need(engine.context_length or _useful(pair), engine)


def find_room(pair: Pair, wanted: LoadRequest, memory: Memory, check: bool = True) -> Room:
    """Raises ModelProblem where there is no memory for it, with what would fit instead.

    `check`: whether this is the memory that the model is going to lie in.
    """
    engine = wanted.engine
    context = engine.context_length or fit.automatic_context(pair, engine, memory)
    need = pair.need(context, engine)
    verdict = fit.judge(need, memory)
    room = Room(context, need, verdict, fit.windowed(pair.target, context, engine))
    if verdict == "no" and pair.draft is not None:
        # the model matters more: a draft that has no room is told when its turn comes
        return find_room(Pair(pair.target), wanted, memory, check)
    if verdict == "no" and check and engine.check_memory:
        raise _does_not_fit(pair, wanted, room, memory)
    return room


def tight(model: ModelRef, room: Room, memory: Memory) -> Told | None:
    """What to say where others have to make way for it; None where there is enough."""
    if room.verdict == "fits":
        return None
    return told("memory-tight", name=model.name, need=room.need.total, free=memory.available)


def check_draft(shape: ModelShape, wanted: LoadRequest, memory: Memory, context: int) -> None:
    """Whether a draft has room beside its target; raises ModelProblem."""
    engine = fit.of_draft(wanted.engine)
    need = fit.need(shape, min(context, shape.trained or context), engine)
    if engine.check_memory and fit.judge(need, memory) == "no":
        raise ModelProblem("draft-without-room", need=need.total, free=memory.available)


def _does_not_fit(pair: Pair, wanted: LoadRequest, room: Room, memory: Memory) -> ModelProblem:
    offer = fit.offer(pair, room.context, wanted.engine, memory)
    code = "does-not-fit"
    if offer.context:
        same = offer.kv_type == wanted.engine.kv_type
        code = "does-not-fit-context" if same else "does-not-fit-kv"
    return ModelProblem(
        code,
        name=wanted.model.name,
        need=room.need.total,
        weights=room.need.weights,
        kv=room.need.kv,
        context=room.context,
        free=memory.available,
        total=memory.total,
        offer_context=offer.context,
        offer_kv_type=offer.kv_type,
    )


def _useful(pair: Pair) -> int:
    return min(_USEFUL_CONTEXT, pair.target.trained or _USEFUL_CONTEXT)


def _shape(read_shape: ReadShape, model: ModelRef) -> ModelShape:
    try:
        return read_shape(model)
    except (ModelProblem, OSError):
        # what is wrong with it is said when it is opened
        per_token = _UNKNOWN_SHARE * model.size / (2 * _USEFUL_CONTEXT)
        return ModelShape(model.size, 0, keys=int(per_token / 2), values=int(per_token / 2))
