"""Plans loads: the context, the layers on graphics cards, and the models to evict. Pure.

Policy: the target matters more than its draft, which has to fit beside it; the least recently used
model is evicted first; a graphics card holds one target at a time; nothing is evicted for a model
that would not fit alone. The estimates come from `core.models.fit`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from headstart.core.errors import ModelProblem
from headstart.core.events import Notice, NoticeKind
from headstart.core.models import fit
from headstart.core.models.fit import FittingContext, Memory, ModelShape, Need, Pair
from headstart.core.models.ref import ModelRef
from headstart.core.requests import LoadRequest
from headstart.core.settings.schema import LEAST_CONTEXT, EngineSettings
from headstart.core.told import Told, told

# weights and KV state of all loaded models may take this share of the memory; programs need the
# rest
MOST_SHARE = 0.7
_USEFUL_CONTEXT = 8192
# a projector's buffers take as many bytes as its weights, at most this many
_MOST_SEEING = 1 << 30


class Occupant(Protocol):
    """The memory view of a loaded model."""

    @property
    def wanted(self) -> LoadRequest: ...

    @property
    def need(self) -> Need: ...


class Computer(Struct, frozen=True):
    """One measurement of the memory: the computer's, and the graphics cards' (None unless cards
    have their own)."""

    memory: Memory
    cards: Memory | None = None


class LoadPlan(Struct, frozen=True):
    """A load plan. `run`: the settings to open with; `own_layers`: the file declares draft layers.
    `evict` comes first. `trial_layers` fit on the cards now, beside all loaded models."""

    run: EngineSettings
    need: Need
    own_layers: bool = False
    evict: tuple[ModelRef, ...] = ()
    trial_layers: int | None = None
    notices: tuple[Notice, ...] = ()

    @property
    def fewer_layers(self) -> int:
        """The next number to try if these layers do not fit on the cards."""
        return self.run.gpu_layers * 3 // 4


class Refused(Struct, frozen=True):
    """A refused load. `offer`: settings that would fit, if any."""

    reason: Told
    offer: FittingContext | None = None

    @property
    def problem(self) -> ModelProblem:
        facts = dict(self.reason.facts)
        if self.offer is not None:
            facts |= {"offer_context": self.offer.context, "offer_kv_type": self.offer.kv_type}
        return ModelProblem(self.reason.code, quotes=False, **facts)


def plan_target(
    wanted: LoadRequest,
    pair: Pair,
    computer: Computer,
    loaded: Sequence[Occupant],
    most_layers: int | None = None,
) -> LoadPlan | Refused:
    """Plan a target with room for its draft; `most_layers`: the limit on the cards after more have
    failed."""
    engine, target = wanted.engine, pair.target
    evict, then = make_room(wanted, pair, computer, loaded)
    context = engine.context_length or _automatic_context(pair, engine, then)
    layers, on_cards = _on_cards(pair, context, engine, then.cards, most_layers)
    need = pair.need(context, engine)
    # the computer's memory holds the rest, and the buffers of both models
    beside = Need(max(0, need.total - on_cards - need.buffers), 0, need.buffers)
    verdict = fit.judge(beside if on_cards else need, then.memory)
    if verdict == "no" and pair.draft is not None:
        # the user is told of a draft without room when it is opened
        return plan_target(wanted, Pair(target), computer, loaded, most_layers)
    if verdict == "no" and engine.check_memory:
        return _refused(pair, context, wanted, then.memory)
    run = replace(
        engine.as_run,
        context_length=context,
        window_cache="window" if fit.windowed(target, context, engine) else "whole",
        gpu_layers=layers,
    )
    trial_layers = None
    if computer.cards is not None and engine.automatic_layers:
        available = computer.cards.available
        trial_layers = fit.card_layers(target, LEAST_CONTEXT, engine, available)
    notices = []
    if verdict != "fits":
        facts = {"name": wanted.model.name, "need": need.total, "free": then.memory.available}
        notices.append(Notice(NoticeKind.MEMORY, told("memory-tight", **facts)))
    if most_layers is not None:
        said = told("gpu-fewer-layers", name=wanted.model.name, layers=most_layers)
        notices.append(Notice(NoticeKind.GPU, said))
    return LoadPlan(run, need, target.own_layers > 0, evict, trial_layers, tuple(notices))


def plan_draft(
    wanted: LoadRequest, pair: Pair, context: int, computer: Computer, others: Sequence[Occupant]
) -> LoadPlan | Refused:
    """Plan the draft of a target loaded with `context` tokens; `others` are the other loaded
    models."""
    assert pair.draft is not None
    shape, engine = pair.draft, fit.of_draft(wanted.engine)
    evict, then = make_room(wanted, pair, computer, others)
    context = min(context, shape.trained or context)
    need, layers = fit.need(shape, context, engine), engine.gpu_layers
    if then.cards is not None and engine.automatic_layers:
        layers = _draft_layers(shape, context, engine, then.cards)
    elif then.cards is None and engine.check_memory and fit.judge(need, then.memory) == "no":
        free = then.memory.available
        return Refused(told("draft-without-room", need=need.total, free=free))
    run = replace(engine, gpu_layers=layers)
    return LoadPlan(run, need, evict=evict)


def refuse_projector(model: ModelRef, size: int, computer: Computer) -> Refused | None:
    """Refuse a projector of `size` bytes without room beside its model; nothing is evicted for
    it."""
    need, free = size + min(size, _MOST_SEEING), computer.memory.available
    if need <= free:
        return None
    return Refused(told("projector-without-room", model=model.name, need=need, free=free))


def make_room(
    wanted: LoadRequest, pair: Pair, computer: Computer, loaded: Sequence[Occupant]
) -> tuple[tuple[ModelRef, ...], Computer]:
    """Choose the models to evict: those that leave too little memory, all on a computer with cards,
    and the same model with other settings. Returns them, and the computer as expected
    afterwards."""
    memory, cards = computer.memory, computer.cards
    useful = min(_USEFUL_CONTEXT, pair.target.trained or _USEFUL_CONTEXT)
    least = pair.need(wanted.engine.context_length or useful, wanted.engine)
    count = crowded_out([one.need for one in loaded], least, memory)
    evicted = [
        one
        for index, one in enumerate(loaded)
        if cards is not None or index < count or one.wanted.model == wanted.model
    ]
    if not evicted:
        return (), computer
    freed = sum(one.need.beside for one in evicted)
    then = Computer(
        Memory(memory.total, memory.available + freed),
        None if cards is None else Memory(cards.total, cards.total),
    )
    return tuple(one.wanted.model for one in evicted), then


def crowded_out(oldest_first: Sequence[Need], wanted: Need, memory: Memory) -> int:
    """Count the loaded models to evict for another one.

    Weights are mapped files, whose memory counts as available while loaded: the total memory bounds
    them, and the available memory bounds the rest.
    """
    loaded, available = sum(need.total for need in oldest_first), memory.available
    for count, need in enumerate(oldest_first):
        if loaded + wanted.total <= MOST_SHARE * memory.total and wanted.beside <= available:
            return count
        loaded -= need.total
        available += need.beside
    return len(oldest_first)


def _automatic_context(pair: Pair, engine: EngineSettings, computer: Computer) -> int:
    """The longest context that fits on the cards with every layer; else the longest in the
    computer's memory, up to _USEFUL_CONTEXT, so that more layers fit on the cards."""
    cards, memory = computer.cards, computer.memory
    if cards is None or engine.gpu_layers == 0:
        return fit.automatic_context(pair, engine, memory)
    on_cards = fit.automatic_context(pair, engine, cards)
    if fit.judge(pair.need(on_cards, engine), cards) == "fits":
        return on_cards
    return min(_USEFUL_CONTEXT, fit.automatic_context(pair, engine, memory))


def _on_cards(
    pair: Pair, context: int, engine: EngineSettings, cards: Memory | None, most: int | None
) -> tuple[int, int]:
    """The number of the target's layers on the cards, and the bytes of both models on them; the
    draft comes first."""
    if cards is None or engine.gpu_layers == 0:
        return engine.gpu_layers, 0
    of_draft = 0
    if pair.draft is not None:
        drafts = _draft_layers(pair.draft, context, engine, cards)
        of_draft = fit.on_card(pair.draft, drafts, context, fit.of_draft(engine))
    layers = engine.gpu_layers
    if engine.automatic_layers:
        layers = fit.card_layers(pair.target, context, engine, cards.available - of_draft)
        layers = layers if most is None else min(layers, most)
    return layers, of_draft + fit.on_card(pair.target, layers, context, engine)


def _draft_layers(shape: ModelShape, context: int, engine: EngineSettings, cards: Memory) -> int:
    """All layers of a draft or none: it runs most often, and half of it on the card would be no
    faster."""
    every, run = shape.layers + 1, fit.of_draft(engine)
    size = fit.on_card(shape, every, min(context, shape.trained or context), run)
    return every if 0 < size <= cards.available else 0


def _refused(pair: Pair, context: int, wanted: LoadRequest, memory: Memory) -> Refused:
    engine, need = wanted.engine, pair.need(context, wanted.engine)
    offer = fit.offer(pair, context, engine, memory)
    code = "does-not-fit"
    if offer.context:
        code = "does-not-fit-kv" if offer.kv_type != engine.kv_type else "does-not-fit-context"
    facts = {
        "name": wanted.model.name,
        "need": need.total,
        "weights": need.weights,
        "kv": need.kv,
        "context": context,
        "free": memory.available,
        "total": memory.total,
    }
    return Refused(told(code, **facts), offer)
