"""The local generator: which models are loaded, and which one a request is for. Engine thread.

Models load with the first request that names them and stay while there is memory for them; the
one that was used longest ago goes first.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator

from msgspec.structs import replace

from headstart.core.errors import ModelProblem, WeightsLost
from headstart.core.events import (
    Emit,
    Finished,
    GenerationEvent,
    InMemory,
    Loaded,
    Loading,
    Notice,
    ResidentModel,
    Unloaded,
)
from headstart.core.fit import Memory, Pair
from headstart.core.model_ref import ModelRef
from headstart.core.prefixes import Traces
from headstart.core.profiles import Profiles
from headstart.core.replies import EarlierReplies
from headstart.core.requests import AheadRequest, GenerationRequest, LoadRequest
from headstart.core.rgb import DecodeImage
from headstart.core.running import Running
from headstart.core.told import told
from headstart.engine import room
from headstart.engine.backends import select
from headstart.engine.backends.checked import Checked
from headstart.engine.decoder import DecodeAborted
from headstart.engine.generator import LoadCancelled
from headstart.engine.load_progress import LoadProgress
from headstart.engine.loaded_model import LoadedModel, open_model
from headstart.engine.memory import crowded_out, give_back, memory
from headstart.engine.prefix.store import PrefixStore
from headstart.engine.resources import CheckedModels, Resources
from headstart.engine.speculation.full_calibration import calibrate
from headstart.engine.stop import StopSignal

# what quitting may take to fetch what is missing; writing it may take as long again
QUIT_SECONDS = 0.8
# what llama.cpp says where a graphics card has no room
NO_ROOM = ("llama-cannot-open", "no-memory-to-open", "context-cannot-be-made")
# what a request for another model may wait for one that has to go
SWITCH_SECONDS = 0.03
# what keeping what was read may take when a model is unloaded on purpose
RELEASE_SECONDS = 2.0


class LocalGenerator:
    """A `Generator`. `checked` may be shared; it is called on this thread."""

    def __init__(
        self,
        checked: CheckedModels,
        profiles: Profiles | None = None,
        store: PrefixStore | None = None,
        traces: Traces | None = None,
        running: Running | None = None,
    ) -> None:
        self._resources = Resources.of(checked, profiles, store, traces, running)
        # the one that was used longest ago first
        self._models: list[LoadedModel] = []
        # whether there was a reply since memory was given back
        self._worked = False

    def decode_images_with(self, decode: DecodeImage) -> None:
        """What turns image files into pixels; before the first request."""
        self._resources = replace(self._resources, decode_image=decode)

    def use_replies(self, replies: EarlierReplies) -> None:
        """What drafts may be made of; before the first request."""
        self._resources = replace(self._resources, replies=replies)

    @property
    def loaded(self) -> LoadedModel:
        """The model that was used last; RuntimeError when none is loaded."""
        if not self._models:
            raise RuntimeError("no model is loaded")
        return self._models[-1]

    @property
    def all_loaded(self) -> tuple[LoadedModel, ...]:
        """The model that was used last comes last."""
        return tuple(self._models)

    def generate(self, request: GenerationRequest, emit: Emit, stop: StopSignal) -> None:
        self._worked = True
        with self._forgetting(emit):
            try:
                loaded = self._load(request.load, emit, stop)
                request = loaded.exactly(request, emit)
                loaded.load_draft(request.load.draft, emit, stop)
            except DecodeAborted as error:
                raise LoadCancelled from error
            emit(self._in_memory())
            loaded.write(request, _with_doubts(loaded, emit), stop)

    def ahead(self, request: AheadRequest, emit: Emit, stop: StopSignal) -> None:
        loaded = self._find(request.load)
        if loaded is not None and not loaded.changed:
            with self._forgetting(emit):
                loaded.prefill_ahead(request, emit, stop)

    def save_when_idle(self, stop: StopSignal) -> float | None:
        waits = []
        for loaded in reversed(self._models):
            wait = loaded.save_when_idle(stop)
            if wait == 0.0:
                return 0.0
            if wait is not None:
                waits.append(wait)
        return min(waits, default=None)

    def learn_when_idle(self, stop: StopSignal, emit: Emit) -> bool:
        with contextlib.suppress(WeightsLost), self._forgetting(emit):
            if self._models and not self.loaded.changed and self.loaded.learn(emit, stop):
                return True
        if self._worked and not stop.stopped:
            self._worked = False
            give_back()
        return False

    def preload(self, wanted: LoadRequest, emit: Emit, stop: StopSignal) -> None:
        with self._forgetting(emit):
            try:
                loaded = self._load(wanted, emit, stop)
                loaded.load_draft(wanted.draft, emit, stop)
            except DecodeAborted as error:
                raise LoadCancelled from error
            emit(self._in_memory())
            loaded.warm_up(stop)

    def calibrate(self, wanted: LoadRequest, emit: Emit, stop: StopSignal) -> None:
        for one in self._models:
            one.speculation.let_go.clear()
        self.preload(wanted, emit, stop)
        with self._forgetting(emit):
            try:
                calibrate(self.loaded.decoder, self.loaded.speculation, emit, stop)
            except DecodeAborted as error:
                raise LoadCancelled from error

    def release(self, keys: Collection[str], emit: Emit, stop: StopSignal) -> None:
        for loaded in [one for one in self._models if one.wanted.model.key in keys or not keys]:
            loaded.leave(stop.within(RELEASE_SECONDS))
            self._models.remove(loaded)
            loaded.close()
        give_back()
        emit(self._in_memory())

    def unload(self) -> None:
        """Free every model at once, whatever was not kept."""
        while self._models:
            self._models.pop().close()

    def close(self) -> None:
        """Save what is missing if that is soon done, and free everything."""
        stop = StopSignal(QUIT_SECONDS)
        for loaded in reversed(self._models):
            loaded.leave(stop)
        self.unload()

    # --- inside --------------------------------------------------------------------------

    def _in_memory(self) -> InMemory:
        return InMemory(
            tuple(
                ResidentModel(
                    loaded.wanted.model,
                    loaded.wanted.draft if loaded.speculation.draft is not None else None,
                    loaded.need.total,
                    loaded.decoder.facts.context_length,
                )
                for loaded in self._models
            )
        )

    @contextlib.contextmanager
    def _forgetting(self, emit: Emit) -> Iterator[None]:
        """Models whose weights were lost under them are not used again, nor is what they read."""
        try:
            yield
        except WeightsLost:
            while self._models:
                self._models.pop().close()
            emit(self._in_memory())
            raise

    def _find(self, wanted: LoadRequest) -> LoadedModel | None:
        return next((loaded for loaded in self._models if loaded.fits(wanted)), None)

    def _load(self, wanted: LoadRequest, emit: Emit, stop: StopSignal) -> LoadedModel:
        """The model, loaded now or before; it is the one used last then."""
        loaded = self._find(wanted)
        if loaded is not None and loaded.changed:
            emit(Notice("model", told("model-file-changed", name=wanted.model.name)))
            self._models.remove(loaded)
            loaded.close()
            loaded = None
        if loaded is None:
            return self._open(wanted, emit, stop)
        if wanted.draft not in (None, loaded.wanted.draft):
            self._make_room(wanted, self._shapes(wanted), emit, stop, beside=loaded)
        if loaded is not self.loaded:
            self._models.remove(loaded)
            self._models.append(loaded)
            size, efforts = loaded.decoder.facts.context_length, loaded.template.efforts
            emit(Loaded(wanted.model, size, 0.0, efforts))
            if loaded.wanted.draft is not None and loaded.speculation.draft is not None:
                emit(Loading(loaded.wanted.draft, 1.0, draft=True))
        return loaded

    def _open(self, wanted: LoadRequest, emit: Emit, stop: StopSignal) -> LoadedModel:
        progress = LoadProgress(wanted.model, emit, stop)
        _find_model(wanted, progress)
        pair = self._shapes(wanted)
        cards = select.card_memory(wanted.model.format, wanted.engine)
        # what can never be loaded is not tried first, and nothing makes room for it
        free = sum(loaded.need.beside for loaded in self._models)
        now = memory()
        emptied = None if cards is None else Memory(cards.total, cards.total)
        room.find_room(pair, wanted, Memory(now.total, now.available + free), emptied)
        layers = room.layers_now(pair.target, wanted.engine, cards)
        checked = _check_model(self._resources, wanted, layers, progress, stop)
        self._make_room(wanted, pair, emit, stop)
        found, cards = memory(), select.card_memory(wanted.model.format, wanted.engine)
        as_run = replace(wanted, engine=checked.applied(wanted.engine))
        fitted = room.find_room(pair, as_run, found, cards)
        said = room.tight(wanted.model, fitted, found)
        if said is not None:
            emit(Notice("memory", said))
        try:
            loaded = self._open_fitted(wanted, fitted, checked, progress, stop)
        except BaseException:
            # others may have made room for it
            emit(self._in_memory())
            raise
        self._models.append(loaded)
        return loaded

    def _open_fitted(
        self,
        wanted: LoadRequest,
        fitted: room.Room,
        checked: Checked,
        progress: LoadProgress,
        stop: StopSignal,
    ) -> LoadedModel:
        """With fewer layers on the graphics card where as many as there should be room for fail."""
        wished = fitted.layers
        while True:
            try:
                loaded = open_model(self._resources, wanted, fitted, checked, progress, stop)
            except ModelProblem as problem:
                chosen = wanted.engine.gpu_layers >= 0
                if not fitted.layers or chosen or problem.told.code not in NO_ROOM:
                    raise
                fitted = replace(fitted, layers=room.fewer_layers(fitted.layers))
                continue
            if fitted.layers != wished:
                said = told("gpu-fewer-layers", name=wanted.model.name, layers=fitted.layers)
                progress.emit(Notice("gpu", said))
            return loaded

    def _shapes(self, wanted: LoadRequest) -> Pair:
        return room.shapes(self._resources.checked.shape, wanted)

    def _make_room(
        self,
        wanted: LoadRequest,
        pair: Pair,
        emit: Emit,
        stop: StopSignal,
        beside: LoadedModel | None = None,
    ) -> None:
        """Unload what has no room beside what is wanted; `beside` is loaded and lacks its draft."""
        others = [loaded for loaded in self._models if loaded is not beside]
        if select.card_memory(wanted.model.format, wanted.engine) is not None:
            # the layers of one model fill the card
            leaving = others
        else:
            needs = [loaded.need for loaded in others]
            leaving = others[: crowded_out(needs, room.least(pair, wanted), memory())]
        # the same model with other settings
        leaving += [
            loaded
            for loaded in others
            if loaded.wanted.model == wanted.model and loaded not in leaving
        ]
        for loaded in leaving:
            # what it has read comes back with it
            loaded.leave(stop.within(SWITCH_SECONDS))
            self._models.remove(loaded)
            loaded.close()
            if loaded.wanted.model != wanted.model:
                emit(Unloaded(loaded.wanted.model, wanted.model))


def _with_doubts(loaded: LoadedModel, emit: Emit) -> Emit:
    """Says so before the end of a reply where weights were written over while it was computed."""

    def posted(event: GenerationEvent) -> None:
        if isinstance(event, Finished) and loaded.written_over:
            emit(Notice("model", told("model-file-written-over", name=loaded.wanted.model.name)))
        emit(event)

    return posted


def _find_model(wanted: LoadRequest, progress: LoadProgress) -> None:
    """Raise ModelProblem where its file does not exist."""
    progress.begin()
    if not _exists(wanted.model):
        raise ModelProblem("model-gone", path=wanted.model.path)


def _check_model(
    resources: Resources,
    wanted: LoadRequest,
    layers: int | None,
    progress: LoadProgress,
    stop: StopSignal,
) -> Checked:
    """Check a model before others make room for it, with as many layers on graphics cards as there
    is room for now: its missing abilities, and its fastest settings. Raises ModelProblem,
    DecodeAborted."""
    return resources.check(wanted.model, wanted.engine, progress, stop, layers)


def _exists(model: ModelRef) -> bool:
    try:
        return model.path.exists()
    except OSError:
        return False
