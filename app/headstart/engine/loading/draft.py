"""Opens the draft of a loaded model: a smaller model, a head, or layers of its own file. Engine
thread.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct
from msgspec.structs import replace

from headstart.core.errors import EnvironmentProblem, ModelProblem
from headstart.core.events import Emit
from headstart.core.models.fit import Pair, of_draft
from headstart.core.models.heads import HeadFacts, HeadKind
from headstart.core.models.profiles import ProfileKind
from headstart.core.models.ref import ModelRef
from headstart.core.requests import LoadRequest
from headstart.core.running import Doing, noted
from headstart.core.settings.schema import EngineSettings
from headstart.engine.backends import select
from headstart.engine.decoder import Decoder
from headstart.engine.loaded_model import LoadedModel
from headstart.engine.loading.check import check, head_of, shapes, works_together
from headstart.engine.loading.plan import LoadPlan
from headstart.engine.prefix.fingerprint import fingerprint
from headstart.engine.stop import StopSignal
from headstart.engine.weights import Weights

# plans a draft beside its target, after evicting other models for it; raises ModelProblem
PlanDraft = Callable[[LoadRequest, Pair], LoadPlan]


def load_draft(
    loaded: LoadedModel, draft: ModelRef | None, plan: PlanDraft, emit: Emit, stop: StopSignal
) -> None:
    """Load this draft beside its target; None keeps the present one. Raises DecodeAborted; every
    other problem is a notice."""
    context = loaded.decoder.facts.context_length
    opening = _Opening(loaded, plan, stop)
    if loaded.wanted.draft != draft and opening.empties_target(draft):
        loaded.prefiller.save_tail(stop)
    if draft != loaded.wanted.draft or loaded.draft_weights is None:
        loaded.draft_weights = None if draft is None else Weights(draft)
    doing = Doing("loading", "" if draft is None else draft.name)
    engine = of_draft(replace(loaded.wanted.engine, context_length=context))
    try:
        with stop.patiently(), noted(loaded.resources.running, doing):
            loaded.speculation.load_draft(draft, engine, opening.open, emit, stop)
    finally:
        del loaded.resident.tokens[loaded.decoder.n_past() :]
    if draft is None:
        return
    loaded.wanted = replace(loaded.wanted, draft=draft)
    pair = shapes(loaded.resources.checked, loaded.wanted)
    loaded.need = pair.need(context, loaded.wanted.engine)
    curve = loaded.speculation.curve(0)
    if curve is not None:
        emit(curve)


class _Opening(Struct, frozen=True):
    loaded: LoadedModel
    plan: PlanDraft
    stop: StopSignal

    def open(
        self, draft: ModelRef, settings: EngineSettings, progress: Callable[[float], bool]
    ) -> Decoder:
        """Raises EnvironmentProblem, DecodeAborted."""
        target, resources = self.loaded.wanted, self.loaded.resources
        head = head_of(resources.checked, draft, target.model)
        wanted = LoadRequest(target.model, target.engine, draft)
        plan = self.plan(wanted, shapes(resources.checked, wanted))
        settings = replace(settings, gpu_layers=plan.run.gpu_layers)
        if head is not None:
            return self._open_head(draft, head, settings, progress)
        if draft.path == target.model.path:
            raise EnvironmentProblem("no-own-layers")
        checked = check(resources, draft, settings, progress, self.stop)
        run = checked.applied(settings).as_run
        return select.open_decoder(draft, run, progress, checked.lacking, clamp=True)

    def empties_target(self, draft: ModelRef | None) -> bool:
        """True if opening the draft empties the target: a draft that shares the target's memory
        recreates it."""
        if draft is None:
            return False
        try:
            head = head_of(self.loaded.resources.checked, draft, self.loaded.wanted.model)
        except EnvironmentProblem:
            return False
        return head is not None and head.kind is HeadKind.ASSISTANT

    def _open_head(
        self,
        draft: ModelRef,
        head: HeadFacts,
        settings: EngineSettings,
        progress: Callable[[float], bool],
    ) -> Decoder:
        decoder = self.loaded.decoder
        facts = decoder.facts
        fits = head.width in (0, facts.width)
        if not fits or head.vocabulary not in (0, facts.vocabulary_size):
            raise ModelProblem("head-for-another-model", name=draft.name)
        if not facts.flash:
            # as the target actually runs, whatever the settings say
            settings = replace(settings, flash_attention="off")
        run, opened = settings.as_run, None
        if head.kind is HeadKind.MEDUSA:
            # cannot end the process, and reports its own problems; the trial tests the target's
            # states
            opened = select.open_head(draft, head.kind, run, decoder, progress)
        if not self._works(draft, head.kind, run):
            if opened is not None:
                opened.close()
            raise ModelProblem("head-does-not-work", name=draft.name)
        return opened or select.open_head(draft, head.kind, run, decoder, progress)

    def _works(self, draft: ModelRef, kind: HeadKind, run: EngineSettings) -> bool:
        target, state = self.loaded.wanted.model, self.loaded.decoder.facts.state
        return works_together(
            self.loaded.resources.profiles,
            target,
            ProfileKind.HEAD,
            f"{fingerprint(draft.path).hex()}, {kind.value}, {run.flash_attention}, {state}",
            lambda: select.check_head(target, draft, kind, run, self.stop),
        )
