"""The local generator: requests for the models on this computer. Engine thread.

Models load with the first request that names them and stay while memory lasts; the least recently
used is unloaded first (`loading.models`).
"""

from __future__ import annotations

import contextlib
from collections import OrderedDict
from collections.abc import Collection, Iterator

from headstart.core.errors import WeightsLost
from headstart.core.events import Emit, Finished, GenerationEvent, Notice, NoticeKind
from headstart.core.requests import (
    AheadRequest,
    CountRequest,
    EmbedRequest,
    GenerationRequest,
    LoadRequest,
)
from headstart.core.told import told
from headstart.engine.decoder import DecodeAborted
from headstart.engine.embedding import Embedding
from headstart.engine.generator import GaveWay, LoadCancelled
from headstart.engine.loaded_model import LoadedModel
from headstart.engine.loading.models import LoadedModels, Measure, measure
from headstart.engine.memory import give_back
from headstart.engine.resources import Resources
from headstart.engine.speculation.full_calibration import calibrate
from headstart.engine.stop import StopSignal
from headstart.engine.turn_account import PausedTurn, TurnPaused

# seconds at exit for exporting unsaved state; writing it may take as long again
QUIT_SECONDS = 0.8
MOST_PAUSED = 64


class LocalGenerator:
    """A `Generator`. The objects in `resources` may be shared; they are called on this thread."""

    def __init__(self, resources: Resources, measure: Measure = measure) -> None:
        self._models = LoadedModels(resources, measure)
        # true if a reply was written since memory was last given back
        self._worked = False
        self._embedding = Embedding()
        # turns that gave way, by the key of their reply
        self._paused: OrderedDict[str, PausedTurn] = OrderedDict()

    @property
    def loaded(self) -> LoadedModel:
        """The most recently used model; RuntimeError when none is loaded."""
        if not self._models.all:
            raise RuntimeError("no model is loaded")
        return self._models.all[-1]

    @property
    def all_loaded(self) -> tuple[LoadedModel, ...]:
        """All loaded models, the most recently used last."""
        return self._models.all

    def generate(self, request: GenerationRequest, emit: Emit, stop: StopSignal) -> None:
        self._worked = True
        with self._models.forgetting_lost(emit):
            try:
                with self._loading(emit):
                    loaded = self._models.get(request.load, emit, stop)
                    request = loaded.exactly(request, emit)
                    self._models.load_draft(loaded, request.load.draft, emit, stop)
            except LoadCancelled:
                if stop.gives_way and not stop.stopped:
                    # it loads again when it goes on
                    raise GaveWay from None
                raise
            self._models.open_projector(loaded, request.load, emit, stop)
            paused = self._paused.pop(request.reply_key, None) if request.served else None
            try:
                loaded.write(request, _with_doubts(loaded, emit), stop, paused)
            except TurnPaused as way:
                self._paused[request.reply_key] = way.paused
                while len(self._paused) > MOST_PAUSED:
                    # of requests that were cancelled meanwhile
                    self._paused.popitem(last=False)
                raise

    def ahead(self, request: AheadRequest, emit: Emit, stop: StopSignal) -> None:
        loaded = self._models.find(request.load)
        if loaded is not None and not loaded.changed:
            with self._models.forgetting_lost(emit):
                self._models.open_projector(loaded, request.load, lambda _event: None, stop)
                loaded.prefill_ahead(request, emit, stop)

    def count(self, request: CountRequest, emit: Emit) -> None:
        loaded = self._models.find(request.load)
        if loaded is not None:
            emit(loaded.count(request))

    def embed(self, request: EmbedRequest, emit: Emit, stop: StopSignal) -> None:
        self._embedding.embed(request, emit, stop)

    def save_when_idle(self, stop: StopSignal) -> float | None:
        waits = []
        for loaded in reversed(self._models.all):
            wait = loaded.save_when_idle(stop)
            if wait == 0.0:
                return 0.0
            if wait is not None:
                waits.append(wait)
        return min(waits, default=None)

    def learn_when_idle(self, stop: StopSignal, emit: Emit) -> bool:
        with contextlib.suppress(WeightsLost), self._models.forgetting_lost(emit):
            last = self._models.all[-1:]
            if last and not last[0].changed and last[0].learn(emit, stop):
                return True
        if self._worked and not stop.stopped:
            self._worked = False
            give_back()
        return False

    def preload(self, wanted: LoadRequest, emit: Emit, stop: StopSignal) -> None:
        with self._models.forgetting_lost(emit):
            with self._loading(emit):
                loaded = self._models.get(wanted, emit, stop)
                self._models.load_draft(loaded, wanted.draft, emit, stop)
            loaded.warm_up(stop)

    def calibrate(self, wanted: LoadRequest, emit: Emit, stop: StopSignal) -> None:
        for one in self._models.all:
            one.speculation.let_go.clear()
        self.preload(wanted, emit, stop)
        with self._models.forgetting_lost(emit), self._loading(emit):
            calibrate(self.loaded.decoder, self.loaded.speculation, emit, stop)

    def release(self, keys: Collection[str], emit: Emit, stop: StopSignal) -> None:
        self._models.release(keys, stop)
        if not keys:
            self._embedding.close()
        give_back()
        emit(self._models.snapshot)

    def unload(self) -> None:
        """Free every model at once; unsaved state is lost."""
        self._embedding.close()
        self._models.close()

    def close(self) -> None:
        """Save unsaved state within QUIT_SECONDS, and free everything."""
        stop = StopSignal(QUIT_SECONDS)
        for loaded in reversed(self._models.all):
            loaded.close_chat(stop)
        self.unload()

    @contextlib.contextmanager
    def _loading(self, emit: Emit) -> Iterator[None]:
        """Load and unload models inside; the snapshot is emitted afterwards, also when loading
        failed."""
        try:
            yield
        except DecodeAborted as error:
            raise LoadCancelled from error
        finally:
            emit(self._models.snapshot)


def _with_doubts(loaded: LoadedModel, emit: Emit) -> Emit:
    """`emit` with a notice before the end of a reply whose weights were overwritten meanwhile."""

    def posted(event: GenerationEvent) -> None:
        if isinstance(event, Finished) and loaded.written_over:
            emit(
                Notice(
                    NoticeKind.MODEL, told("model-file-written-over", name=loaded.wanted.model.name)
                )
            )
        emit(event)

    return posted
