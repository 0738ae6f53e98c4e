"""The loaded models in order of use; loads further ones. Engine thread.

Invariants: a model is in the list exactly while its decoder is open; the most recently used comes
last; no two have the same model ref.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterator

from msgspec.structs import replace

from headstart.core.errors import ModelProblem, WeightsLost
from headstart.core.events import (
    Emit,
    InMemory,
    Loaded,
    Notice,
    NoticeKind,
    ResidentModel,
    Unloaded,
)
from headstart.core.models.fit import Pair
from headstart.core.models.ref import ModelRef
from headstart.core.requests import LoadRequest
from headstart.core.told import told
from headstart.engine.backends import select
from headstart.engine.loaded_model import LoadedModel
from headstart.engine.loading.check import check, shapes
from headstart.engine.loading.draft import load_draft
from headstart.engine.loading.open import open_projector, open_target
from headstart.engine.loading.plan import (
    Computer,
    LoadPlan,
    Refused,
    plan_draft,
    plan_target,
)
from headstart.engine.loading.progress import LoadProgress
from headstart.engine.memory import memory
from headstart.engine.resources import Resources
from headstart.engine.stop import StopSignal

# problem codes from llama.cpp when a graphics card has no room
NO_ROOM = ("llama-cannot-open", "no-memory-to-open", "context-cannot-be-made")
# a request for another model waits this long for saving the state of an evicted one
SWITCH_SECONDS = 0.03
# saving prefilled state may take this long when the user unloads a model
RELEASE_SECONDS = 2.0

Measure = Callable[[LoadRequest], Computer]


def measure(wanted: LoadRequest) -> Computer:
    """This computer's present memory, for a model of this format with these settings."""
    return Computer(memory(), select.card_memory(wanted.model.format, wanted.engine))


class LoadedModels:
    def __init__(self, resources: Resources, measure: Measure = measure) -> None:
        self._resources = resources
        self._measure = measure
        # the least recently used first
        self._models: list[LoadedModel] = []

    @property
    def all(self) -> tuple[LoadedModel, ...]:
        """All loaded models, the most recently used last."""
        return tuple(self._models)

    @property
    def snapshot(self) -> InMemory:
        return InMemory(
            tuple(
                ResidentModel(
                    one.wanted,
                    one.speculation.draft is not None,
                    one.need.total,
                    one.decoder.facts.context_length,
                )
                for one in self._models
            )
        )

    def find(self, wanted: LoadRequest) -> LoadedModel | None:
        return next((one for one in self._models if one.fits(wanted)), None)

    def get(self, wanted: LoadRequest, emit: Emit, stop: StopSignal) -> LoadedModel:
        """The target of a request, loaded if necessary and moved to the end of the list. Raises
        ModelProblem, DecodeAborted."""
        loaded = self.find(wanted)
        if loaded is not None and loaded.changed:
            emit(Notice(NoticeKind.MODEL, told("model-file-changed", name=wanted.model.name)))
            self._drop(loaded)
            loaded = None
        if loaded is None:
            self._models.append(self._load(wanted, emit, stop))
            return self._models[-1]
        if loaded is not self._models[-1]:
            self._models.remove(loaded)
            self._models.append(loaded)
            size, efforts = loaded.decoder.facts.context_length, loaded.template.efforts
            emit(Loaded(wanted.model, size, 0.0, efforts))
        return loaded

    def load_draft(
        self, loaded: LoadedModel, draft: ModelRef | None, emit: Emit, stop: StopSignal
    ) -> None:
        """Load a draft beside its target; None keeps the present one. Raises DecodeAborted."""

        def plan(wanted: LoadRequest, pair: Pair) -> LoadPlan:
            context = loaded.decoder.facts.context_length
            while True:
                others = [one for one in self._models if one is not loaded]
                found = plan_draft(wanted, pair, context, self._measure(wanted), others)
                if isinstance(found, Refused):
                    raise found.problem
                if not found.evict:
                    return found
                self._evict(found.evict, wanted.model, emit, stop)

        load_draft(loaded, draft, plan, emit, stop)

    def open_projector(
        self, loaded: LoadedModel, wanted: LoadRequest, emit: Emit, stop: StopSignal
    ) -> None:
        """Open the request's projector, if it has one."""
        if wanted.projector is not None:
            open_projector(loaded, wanted, self._measure(wanted), emit, stop)

    def release(self, keys: Collection[str], stop: StopSignal) -> None:
        """Unload models by key, or all without a key, and save their prefilled state."""
        for loaded in [one for one in self._models if one.wanted.model.key in keys or not keys]:
            loaded.close_chat(stop.within(RELEASE_SECONDS))
            self._drop(loaded)

    def close(self) -> None:
        """Free every model at once; unsaved state is lost."""
        while self._models:
            self._models.pop().close()

    @contextlib.contextmanager
    def forgetting_lost(self, emit: Emit) -> Iterator[None]:
        """Close all models when weights were lost inside; neither they nor their KV state are used
        again."""
        try:
            yield
        except WeightsLost:
            self.close()
            emit(self.snapshot)
            raise

    # --- loading ---------------------------------------------------------------------------

    def _load(self, wanted: LoadRequest, emit: Emit, stop: StopSignal) -> LoadedModel:
        """Do the plan's first step, and plan again, until the model is open."""
        progress = LoadProgress(wanted.model, emit, stop)
        pair, run = shapes(self._resources.checked, wanted), wanted
        checked, most_layers = None, None
        while True:
            plan = plan_target(run, pair, self._measure(run), self._models, most_layers)
            if isinstance(plan, Refused):
                raise plan.problem
            if checked is None:
                layers = plan.trial_layers
                checked = check(
                    self._resources, wanted.model, wanted.engine, progress, stop, layers
                )
                run = replace(wanted, engine=checked.applied(wanted.engine))
            elif plan.evict:
                self._evict(plan.evict, wanted.model, emit, stop)
            else:
                try:
                    return open_target(self._resources, wanted, plan, checked.lacking, progress)
                except ModelProblem as problem:
                    chosen = not wanted.engine.automatic_layers
                    if chosen or plan.run.gpu_layers <= 0 or problem.told.code not in NO_ROOM:
                        raise
                    most_layers = plan.fewer_layers

    def _evict(
        self, models: Collection[ModelRef], wanted: ModelRef, emit: Emit, stop: StopSignal
    ) -> None:
        for loaded in [one for one in self._models if one.wanted.model in models]:
            # its KV state is restored when it is loaded again
            loaded.close_chat(stop.within(SWITCH_SECONDS))
            self._drop(loaded)
            if loaded.wanted.model != wanted:
                emit(Unloaded(loaded.wanted.model, wanted))

    def _drop(self, loaded: LoadedModel) -> None:
        self._models.remove(loaded)
        loaded.close()
