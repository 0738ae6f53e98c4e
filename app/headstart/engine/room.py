"""What a model is going to be loaded with: its context, and whether there is memory for it.

Engine thread. The estimate is that of `core.fit`; this puts the request and the computer into it.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from headstart.core import fit
from headstart.core.errors import ModelProblem
from headstart.core.fit import Memory, ModelShape, Need, Pair, Verdict
from headstart.core.model_ref import ModelRef
from headstart.core.requests import LoadRequest
from headstart.core.settings import LEAST_CONTEXT, EngineSettings
from headstart.core.told import Told, told

ReadShape = Callable[[ModelRef], ModelShape]

# of a file whose head says nothing: keys, values and buffers in proportion to its weights
_UNKNOWN_SHARE = 0.1
_USEFUL_CONTEXT = 8192
# bytes that a projector computes with, at most
_MOST_SEEING = 1 << 30


class Room(Struct, frozen=True):
    """`context` in tokens, and what a pair takes with it; `windowed` as `fit.windowed`.

    `layers` go to graphics cards, with `on_cards` bytes; None leaves them to the settings.
    """

    context: int
    need: Need
    verdict: Verdict
    windowed: bool
    layers: int | None = None
    on_cards: int = 0


def shapes(read_shape: ReadShape, wanted: LoadRequest) -> Pair:
    """The target and its draft, as far as their files say what they are. Raises ModelProblem for a
    target whose file is no model any more: llama.cpp would say so in words of its own."""
    target, draft = _shape(read_shape, wanted.model), wanted.draft
    if draft is not None and draft.path == wanted.model.path:
        return Pair(target, target.as_own_draft)
    if draft is None:
        return Pair(target)
    try:
        return Pair(target, _shape(read_shape, draft))
    except ModelProblem:
        # it is told when the draft is opened
        return Pair(target, _unknown(draft))


def least(pair: Pair, wanted: LoadRequest) -> Need:
    """What it takes at least: with the context that was chosen, or one that is of use."""
    engine = wanted.engine
    return pair.need(engine.context_length or _useful(pair), engine)


def find_room(pair: Pair, wanted: LoadRequest, memory: Memory, cards: Memory | None = None) -> Room:
    """Raises ModelProblem where there is no memory for it, with what would fit instead.

    `cards`: the memory of graphics cards that have one of their own; the draft comes first there.
    """
    engine = wanted.engine
    context = engine.context_length or _automatic(pair, engine, memory, cards)
    layers, on_cards = _on_cards(pair, context, engine, cards)
    need = pair.need(context, engine)
    # what lies on cards is not the computer's
    beside = Need(max(0, need.total - on_cards - need.buffers), 0, need.buffers)
    verdict = fit.judge(need if not on_cards else beside, memory)
    windowed = fit.windowed(pair.target, context, engine)
    room = Room(context, need, verdict, windowed, layers, on_cards)
    if verdict == "no" and pair.draft is not None:
        # the model matters more: a draft that has no room is told when its turn comes
        return find_room(Pair(pair.target), wanted, memory, cards)
    if verdict == "no" and engine.check_memory:
        raise _does_not_fit(pair, wanted, room, memory)
    return room


def layers_now(shape: ModelShape, engine: EngineSettings, cards: Memory | None) -> int | None:
    """How many layers a trial of a model may put on the cards beside what lies there already; None
    leaves them to the settings."""
    if cards is None or engine.gpu_layers >= 0:
        return None
    return fit.card_layers(shape, LEAST_CONTEXT, engine, cards.available)


def fewer_layers(layers: int) -> int:
    """What to try when so many were too many after all."""
    return layers * 3 // 4


def _automatic(pair: Pair, engine: EngineSettings, memory: Memory, cards: Memory | None) -> int:
    """As long as the cards have room for with all layers there; else as the computer has, but no
    longer than is of use, so that more layers are there."""
    if cards is None or engine.gpu_layers == 0:
        return fit.automatic_context(pair, engine, memory)
    there = fit.automatic_context(pair, engine, cards)
    if fit.judge(pair.need(there, engine), cards) == "fits":
        return there
    return min(_USEFUL_CONTEXT, fit.automatic_context(pair, engine, memory))


def _on_cards(
    pair: Pair, context: int, engine: EngineSettings, cards: Memory | None
) -> tuple[int | None, int]:
    """How many of the target's layers go to the cards, and how many bytes of both models."""
    if cards is None or engine.gpu_layers == 0:
        return None, 0
    drafts = draft_layers(pair.draft, context, engine, cards) if pair.draft is not None else 0
    of_draft = 0
    if pair.draft is not None and drafts:
        of_draft = fit.on_card(pair.draft, drafts, context, fit.of_draft(engine))
    layers = engine.gpu_layers
    if layers < 0:
        layers = fit.card_layers(pair.target, context, engine, cards.available - of_draft)
    return layers, of_draft + fit.on_card(pair.target, layers, context, engine)


def check_projector(projector: Path, model: ModelRef, found: Memory) -> None:
    """Whether there is room for a projector beside a model that is loaded; raises ModelProblem,
    OSError."""
    # its weights, and as much again of what it computes with, within bounds
    size = projector.stat().st_size
    need = size + min(size, _MOST_SEEING)
    if need > found.available:
        raise ModelProblem(
            "projector-without-room", model=model.name, need=need, free=found.available
        )


def draft_layers(shape: ModelShape, context: int, engine: EngineSettings, cards: Memory) -> int:
    """All of a draft, or nothing: it is asked most often, and half of it would be no faster."""
    every, run = shape.layers + 1, fit.of_draft(engine)
    size = fit.on_card(shape, every, min(context, shape.trained or context), run)
    return every if 0 < size <= cards.available else 0


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
    except OSError:
        # it is told when the model is opened
        return _unknown(model)


def _unknown(model: ModelRef) -> ModelShape:
    per_token = _UNKNOWN_SHARE * model.size / (2 * _USEFUL_CONTEXT)
    return ModelShape(model.size, 0, keys=int(per_token / 2), values=int(per_token / 2))
