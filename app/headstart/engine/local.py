"""The local generator: keeps one model loaded and runs turns over its decoder.

Lives on the engine thread. Loads lazily: a request names its model, and the one that is loaded
stays until another is asked for.
"""

from __future__ import annotations

import dataclasses
import logging
import time
from collections.abc import Callable
from typing import Protocol

import msgspec

from headstart.core.errors import EnvironmentProblem, ModelProblem
from headstart.core.events import Emit, Loaded, Loading, Notice
from headstart.core.model_ref import ModelRef
from headstart.core.prefixes import Traces
from headstart.core.profiles import Profiles
from headstart.core.requests import AheadRequest, GenerationRequest, LoadRequest, PromptMessage
from headstart.core.running import Doing, NotNoted, Running, noted
from headstart.core.settings import EngineSettings
from headstart.core.values import Role
from headstart.engine import exactness, template
from headstart.engine.ahead import read_ahead
from headstart.engine.backends import select
from headstart.engine.decoder import DecodeAborted, Decoder
from headstart.engine.exactness import Exactness
from headstart.engine.generator import LoadCancelled
from headstart.engine.prefix import fingerprint, keys, speeds
from headstart.engine.prefix.keeper import Keeper
from headstart.engine.prefix.speeds import PrefixSpeeds
from headstart.engine.prefix.store import PrefixStore
from headstart.engine.prefix.tracer import Tracer
from headstart.engine.prompt import PromptEncoder
from headstart.engine.reading import Reader, Resident
from headstart.engine.speculation.calibration import QUESTION
from headstart.engine.speculation.measure import measure
from headstart.engine.speculation.state import SpeculationState
from headstart.engine.stop import StopSignal
from headstart.engine.turn import Turn

log = logging.getLogger(__name__)

# a chat that has rested for so long has its tail on disk
REST_SECONDS = 60.0
# what quitting may take to fetch what is missing; writing it may take as long again
QUIT_SECONDS = 0.8
# what a request for another model may wait for it
SWITCH_SECONDS = 0.03


class CheckedModels(Protocol):
    """Remembers which files were opened without harm; see `backends.probe`."""

    def is_checked(self, model: ModelRef) -> bool: ...

    def add(self, model: ModelRef) -> None: ...


class LocalGenerator:
    """A `Generator` over one decoder. `checked` may be shared; it is called on this thread."""

    def __init__(
        self,
        checked: CheckedModels,
        profiles: Profiles | None = None,
        store: PrefixStore | None = None,
        traces: Traces | None = None,
        running: Running | None = None,
    ) -> None:
        self._checked = checked
        self._profiles = profiles
        self._store = store
        self._running: Running = running or NotNoted()
        self._tracer = Tracer(traces)
        self._wanted: tuple[ModelRef, EngineSettings] | None = None
        self._decoder: Decoder | None = None
        self._encoder: PromptEncoder | None = None
        self._template: template.ChatTemplate | None = None
        self._reader: Reader | None = None
        self._speeds = PrefixSpeeds()
        self._speed_key = ("", "")
        self._speculation: SpeculationState | None = None
        # of the loaded model, where the settings ask for it
        self._exactness: Exactness | None = None

    @property
    def resident(self) -> Resident:
        """What the loaded model's context holds; RuntimeError when none is loaded."""
        if self._reader is None:
            raise RuntimeError("no model is loaded")
        return self._reader.resident

    def generate(self, request: GenerationRequest, emit: Emit, stop: StopSignal) -> None:
        model = request.load.model
        try:
            decoder = self._load(model, request.load.engine, emit, stop)
            request = self._exactly(request, emit)
            self._load_draft(request.load.draft, request.load.engine, emit, stop)
        except DecodeAborted as error:
            raise LoadCancelled from error
        assert self._encoder is not None
        assert self._reader is not None
        assert self._template is not None
        assert self._speculation is not None
        if self._template.fallback:
            emit(Notice("template", f"{request.load.model.name}: {self._template.fallback}."))
        turn = Turn(
            decoder,
            self._encoder,
            self._reader,
            self._tracer if self._reader.keeper is not None else None,
            request,
            emit,
            stop,
            self._template.stop,
            self._speculation,
        )
        try:
            if self._store is not None:
                # files wait until the reply is written
                self._store.pause()
            if self._reader.keeper is not None:
                self._tracer.spellings.load(request.chat_id)
            with noted(self._running, Doing("reading", model.name)):
                turn.run(self._running.end)
        except template.TemplateError as error:
            raise EnvironmentProblem(
                f"The chat template of {request.load.model.name} refuses this chat: {error}.",
                "Try without a system prompt, or with another model.",
                quotes=True,
            ) from error
        finally:
            if self._store is not None:
                self._store.resume()

    def ahead(self, request: AheadRequest, emit: Emit, stop: StopSignal) -> None:
        decoder, reader, speculation = self._decoder, self._reader, self._speculation
        if decoder is None or self._wanted != (request.load.model, request.load.engine):
            return
        assert self._encoder is not None
        assert reader is not None
        assert speculation is not None

        def abort() -> None:
            decoder.abort()
            speculation.abort()

        if reader.keeper is not None:
            self._tracer.spellings.load(request.chat_id)
        if reader.resident.chat_id != request.chat_id:
            # nobody waits: all of the chat before is kept first
            if not reader.keep(stop):
                return
            if not reader.keep(stop, leave=True):
                return
        stop.set_abort(abort)
        try:
            with noted(self._running, Doing("reading", request.load.model.name)):
                tokens = read_ahead(
                    request,
                    self._encoder,
                    reader,
                    decoder.facts.context_length,
                    emit,
                    stop,
                )
                if tokens and request.load.draft is not None:
                    speculation.read_ahead(request, tokens, stop)
        except DecodeAborted:
            pass
        except template.TemplateError as error:
            # the request itself will say so
            log.info("nothing is read ahead: %s", error)
        finally:
            stop.set_abort(None)
            decoder.clear_abort()
            speculation.clear_abort()
            reader.synchronize()

    def rest(self, stop: StopSignal) -> float | None:
        reader = self._reader
        if reader is None or reader.keeper is None:
            return None
        resident = reader.resident
        if resident.unsaved:
            if not reader.keep(stop):
                return 0.0
            speeds.save(self._profiles, *self._speed_key, self._speeds)
        if not resident.tail_unsaved:
            return None
        wait = resident.rested_since + REST_SECONDS - time.monotonic()
        if wait > 0:
            return wait
        return None if reader.keep(stop, leave=True) else 0.0

    def idle(self, stop: StopSignal, emit: Emit) -> bool:
        decoder, reader, speculation = self._decoder, self._reader, self._speculation
        if decoder is None or reader is None or speculation is None:
            return False
        speculation.complete_index()
        if speculation.draft is None:
            return False

        def abort() -> None:
            decoder.abort()
            speculation.abort()

        resident, has_read = reader.resident, False
        stop.set_abort(abort)
        try:
            with noted(self._running, Doing("reading", self._speed_key[0].partition(":")[0])):
                has_read = speculation.idle(resident, emit, stop)
        except DecodeAborted:
            pass
        finally:
            stop.set_abort(None)
            decoder.clear_abort()
            speculation.clear_abort()
            # a forward that was cut may have left a part of itself
            del resident.tokens[decoder.truncate(len(resident.tokens)) :]
            reader.synchronize()
        if has_read:
            # what the draft has read is kept beside what the target has
            resident.unsaved = resident.tail_unsaved = True
        return has_read

    def preload(self, wanted: LoadRequest, emit: Emit, stop: StopSignal) -> None:
        try:
            self._load(wanted.model, wanted.engine, emit, stop)
            self._load_draft(wanted.draft, wanted.engine, emit, stop)
        except DecodeAborted as error:
            raise LoadCancelled from error

    def measure(self, wanted: LoadRequest, emit: Emit, stop: StopSignal) -> None:
        self.preload(wanted, emit, stop)
        assert self._decoder is not None
        assert self._speculation is not None
        try:
            measure(self._decoder, self._speculation, emit, stop)
        except DecodeAborted as error:
            raise LoadCancelled from error

    def close(self) -> None:
        """Save what is missing if that is soon done, and free everything."""
        self._leave(StopSignal(QUIT_SECONDS))
        self._unload()

    def _leave(self, stop: StopSignal) -> None:
        """Have everything of the resident chat kept, unless `stop` says so."""
        if self._reader is not None:
            self._reader.keep(stop, leave=True)

    def _load(
        self, model: ModelRef, engine: EngineSettings, emit: Emit, stop: StopSignal
    ) -> Decoder:
        if self._decoder is not None and self._wanted == (model, engine):
            return self._decoder
        # another model: what this one has read comes back with it
        self._leave(stop.within(SWITCH_SECONDS))
        self._unload()
        began = time.perf_counter()
        emit(Loading(model, 0.0))
        try:
            there = model.path.exists()
        except OSError:
            there = False
        if not there:
            raise ModelProblem(
                f"The model {model.path} is not there.",
                "Was it moved or deleted? Choose another model.",
            )
        self._check(model, engine, stop)
        shown = 0.0

        def on_progress(fraction: float) -> bool:
            nonlocal shown
            if fraction - shown >= 0.02:
                shown = fraction
                emit(Loading(model, fraction))
            return not stop.stopped

        with noted(self._running, Doing("loading", model.name)):
            decoder = select.open_decoder(model, engine.as_run, on_progress)
        self._decoder = decoder
        facts = decoder.facts
        self._template = template.choose(
            facts.chat_template,
            facts.begin_text,
            facts.end_text,
            frozenset(token.text for token in facts.special_tokens),
        )
        self._encoder = PromptEncoder(decoder, self._template)
        self._speed_key = (model.signature, facts.device)
        self._speeds = speeds.load(self._profiles, *self._speed_key)
        keeper = self._make_keeper(model, decoder)
        self._reader = Reader(decoder, Resident(), keeper, self._speeds)
        if keeper is not None:
            self._tracer.use(
                keeper.family,
                model.name,
                self._encoder,
                cannot_cut=keeper.needs_snapshots,
                reads_clock=self._template.reads_clock,
            )
        self._speculation = SpeculationState(
            model, decoder, self._profiles, self._make_keeper if keeper is not None else None
        )
        self._reader.draft = self._speculation
        self._speculation.sample_prompt = self._sample_prompt(self._encoder)
        self._exactness = self._check_exactness(model, engine, emit, stop)
        self._wanted = (model, engine)
        emit(Loaded(model, facts.context_length, time.perf_counter() - began))
        return decoder

    def _check_exactness(
        self, model: ModelRef, engine: EngineSettings, emit: Emit, stop: StopSignal
    ) -> Exactness | None:
        """Whether the loaded model is exact, tried once and remembered. Raises DecodeAborted."""
        if not engine.exact or self._decoder is None:
            return None
        decoder, device = (
            self._decoder,
            f"{self._decoder.facts.device}, {self._decoder.facts.state}",
        )
        known = exactness.load(self._profiles, model.signature, device)
        if known is None:
            emit(Loading(model, 0.99))
            stop.set_abort(decoder.abort)
            try:
                known = exactness.measure(decoder, stop)
            finally:
                stop.set_abort(None)
                decoder.clear_abort()
            exactness.save(self._profiles, model.signature, device, known)
        return known

    def _exactly(self, request: GenerationRequest, emit: Emit) -> GenerationRequest:
        """The request without drafts, where they could change a word and must not."""
        if self._exactness is None or self._exactness.exact:
            return request
        emit(
            Notice(
                "exact",
                f"{request.load.model.name} is not exact on this computer: numbers differ "
                f"by up to {self._exactness.gap:.2g} when several are computed at once. Nothing is "
                "drafted for it while “Exact” is on.",
            )
        )
        off = msgspec.structs.replace(request.speculation, enabled=False)
        return dataclasses.replace(
            request, speculation=off, load=dataclasses.replace(request.load, draft=None)
        )

    @staticmethod
    def _sample_prompt(encoder: PromptEncoder) -> list[int]:
        """A question as this model's chats have it; without a template's help where it refuses."""
        messages = [PromptMessage(Role.USER, QUESTION, "")]
        try:
            return encoder.encode(encoder.render(messages))
        except template.TemplateError:
            return encoder.encode(QUESTION)

    def _check(self, model: ModelRef, engine: EngineSettings, stop: StopSignal) -> None:
        """Raises ModelProblem for what cannot run here, or cannot be opened."""
        reason = select.cannot_run(model.format, engine.backend)
        if reason:
            raise ModelProblem(f"{model.name} cannot run here: {reason.why}.", reason.remedy)
        if not self._checked.is_checked(model):
            select.check_unknown(model, stop)
            self._checked.add(model)

    def _make_keeper(self, model: ModelRef, decoder: Decoder) -> Keeper | None:
        """What keeps a decoder's prefixes; None without a store, or for a file that is gone."""
        if self._store is None:
            return None
        try:
            weights = fingerprint.fingerprint(model.path)
        except OSError as error:
            log.warning("prefixes of %s are not kept: %s", model.name, error)
            return None
        self._store.wait_until_ready()
        family = keys.family(weights, decoder.facts.state, decoder.facts.chunk)
        self._store.prepare(family)
        return Keeper(decoder, self._store, family, self._speeds)

    def _load_draft(
        self, draft: ModelRef | None, engine: EngineSettings, emit: Emit, stop: StopSignal
    ) -> None:
        assert self._decoder is not None
        assert self._speculation is not None
        context = self._decoder.facts.context_length
        engine = msgspec.structs.replace(engine, context_length=context)

        def open_draft(
            model: ModelRef, settings: EngineSettings, progress: Callable[[float], bool]
        ) -> Decoder:
            self._check(model, settings, stop)
            return select.open_decoder(model, settings.as_run, progress, clamp=True)

        with noted(self._running, Doing("loading", draft.name if draft is not None else "")):
            self._speculation.load_draft(draft, engine, open_draft, emit, stop)
        curve = self._speculation.curve(0) if draft is not None else None
        if curve is not None:
            emit(curve)

    def _unload(self) -> None:
        if self._speculation is not None:
            self._speculation.close()
        if self._decoder is not None:
            self._decoder.close()
        self._decoder = self._encoder = self._template = self._wanted = None
        self._exactness = None
        self._speculation = self._reader = None
