"""Decides whether a head can draft for a model, with reasons. Pure: works on their files' headers.

A head is made for one model: its width, vocabulary and layers have to match that model's. Its
drafts are verified like all others, so the head of a sibling model is slow at worst.
"""

from __future__ import annotations

from headstart.core.models import fit
from headstart.core.models.described import ModelCard
from headstart.core.models.draft_choice import Works
from headstart.core.models.fit import Memory, ModelShape
from headstart.core.models.heads import (
    BLOCKS,
    LAYER_INPUTS,
    LAYER_OUTPUT,
    MLX_LAYERS,
    NEXTN,
    NO_LAST,
    OWN_GRAPHS,
    HeadFacts,
    HeadKind,
)
from headstart.core.models.ref import ModelFormat
from headstart.core.settings.schema import EngineSettings
from headstart.core.told import Told, told
from headstart.engine.speculation.compatibility import PairVerdict

# kinds of heads that each backend runs
_RUN: dict[ModelFormat, frozenset[HeadKind]] = {
    "gguf": frozenset(
        (HeadKind.OWN, HeadKind.LAYERS, HeadKind.EAGLE3, HeadKind.ASSISTANT, *BLOCKS)
    ),
    "mlx": frozenset((HeadKind.EAGLE3, HeadKind.MEDUSA, HeadKind.LAYERS, *BLOCKS)),
}
# architectures with the states that each kind drafts from
_STATES = {
    HeadKind.EAGLE3: LAYER_INPUTS,
    HeadKind.ASSISTANT: NEXTN,
    **dict.fromkeys(BLOCKS, LAYER_INPUTS),
}


def judge_head(
    target: ModelCard,
    head: HeadFacts,
    shape: ModelShape,
    context: int,
    engine: EngineSettings,
    memory: Memory,
) -> PairVerdict:
    """The verdict on a head for `target`; `shape`: of its file, or of the target's own draft
    layers."""
    why = _why_not(target, head)
    if why is not None:
        return PairVerdict(Works.NO, (why,))
    need = fit.need(shape, context, fit.of_draft(engine))
    if fit.judge(need, memory) == "no":
        short = told("draft-needs-memory", need=need.total, free=memory.available)
        return PairVerdict(Works.NO, (short,))
    made = told("head-own-layers") if head.kind is HeadKind.OWN else told("head-for-this-model")
    return PairVerdict(Works.YES, (made, told("draft-fits", need=need.total)))


def _why_not(target: ModelCard, head: HeadFacts) -> Told | None:
    form = target.model.format
    if form == "gguf" and head.kind is HeadKind.MEDUSA:
        # runs in numpy, for any architecture
        fits = head.width in (0, target.shape.width)
        wide = told("head-other-width", made=head.width, this=target.shape.width)
        if target.architecture in NO_LAST:
            return told("head-without-states", name=target.architecture)
        return None if fits else wide
    if head.form != form or head.kind not in _RUN[form]:
        return told("head-not-run-here")
    # the text part of a folder's settings has a suffixed name
    if head.architecture not in ("", target.architecture.removesuffix("_text")):
        return told("head-other-architecture", made=head.architecture, this=target.architecture)
    if head.width not in (0, target.shape.width):
        return told("head-other-width", made=head.width, this=target.shape.width)
    if head.vocabulary not in (0, target.vocabulary_size):
        return told("head-other-vocabulary", made=head.vocabulary, this=target.vocabulary_size)
    layers = target.shape.layers + (target.architecture in LAYER_OUTPUT)
    if head.taps and max(head.taps) >= layers:
        return told("head-other-layers", made=max(head.taps), this=target.shape.layers)
    if form == "mlx":
        run = head.kind is not HeadKind.LAYERS or head.architecture in MLX_LAYERS
        return None if run else told("head-not-run-here")
    if target.architecture not in _STATES.get(head.kind, NEXTN & OWN_GRAPHS):
        return told("head-without-states", name=target.architecture)
    return None


def why_no_own_layers(there: int, announced: int) -> PairVerdict | None:
    """The reason why declared draft layers cannot be used; None if a file declares none."""
    if not announced:
        return None
    code = "own-layers-missing" if there != announced else "own-layers-not-run"
    return PairVerdict(Works.NO, (told(code, layers=announced),))
