"""The local generator: keeps one model loaded and runs turns over its decoder.

Lives on the engine thread. Loads lazily: a request names its model, and the one that is loaded
stays until another is asked for.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

from headstart.core.errors import EnvironmentProblem, ModelProblem
from headstart.core.events import CancelToken, Emit, GenerationRequest, Loaded, Loading, Notice
from headstart.core.profiles import Profiles
from headstart.core.settings import EngineSettings, changed
from headstart.core.values import ModelRef
from headstart.engine import template
from headstart.engine.backends import select
from headstart.engine.decoder import DecodeAborted, Decoder
from headstart.engine.prompt import PromptEncoder
from headstart.engine.speculation.measure import measure
from headstart.engine.speculation.state import SpeculationState
from headstart.engine.turn import Resident, Turn


class CheckedModels(Protocol):
    """Remembers which files were opened without harm; see `backends.probe`."""

    def is_checked(self, model: ModelRef) -> bool: ...

    def add(self, model: ModelRef) -> None: ...


class LocalGenerator:
    """A `Generator` over one decoder. `checked` may be shared; it is called on this thread."""

    def __init__(self, checked: CheckedModels, profiles: Profiles | None = None) -> None:
        self._checked = checked
        self._profiles = profiles
        self._wanted: tuple[ModelRef, EngineSettings] | None = None
        self._decoder: Decoder | None = None
        self._encoder: PromptEncoder | None = None
        self._template: template.ChatTemplate | None = None
        self._resident = Resident()
        self._speculation: SpeculationState | None = None

    def generate(self, request: GenerationRequest, emit: Emit, cancel: CancelToken) -> None:
        try:
            decoder = self._load(request.model, request.engine, emit, cancel)
            self._load_draft(request.draft, request.engine, emit, cancel)
        except DecodeAborted as error:
            raise LoadCancelled from error
        assert self._encoder is not None
        assert self._template is not None
        assert self._speculation is not None
        if self._template.fallback:
            emit(Notice("template", f"{request.model.name}: {self._template.fallback}."))
        turn = Turn(
            decoder,
            self._encoder,
            self._resident,
            request,
            emit,
            cancel,
            self._template.stop,
            self._speculation,
        )
        try:
            turn.run()
        except template.TemplateError as error:
            raise EnvironmentProblem(
                f"The chat template of {request.model.name} refuses this chat: {error}.",
                "Try without a system prompt, or with another model.",
            ) from error

    def warm(
        self,
        model: ModelRef,
        engine: EngineSettings,
        draft: ModelRef | None,
        emit: Emit,
        cancel: CancelToken,
    ) -> None:
        try:
            self._load(model, engine, emit, cancel)
            self._load_draft(draft, engine, emit, cancel)
        except DecodeAborted as error:
            raise LoadCancelled from error

    def measure(
        self,
        model: ModelRef,
        engine: EngineSettings,
        draft: ModelRef,
        emit: Emit,
        cancel: CancelToken,
    ) -> None:
        self.warm(model, engine, draft, emit, cancel)
        assert self._decoder is not None
        assert self._speculation is not None
        try:
            measure(self._decoder, self._speculation, emit, cancel)
        except DecodeAborted as error:
            raise LoadCancelled from error

    def close(self) -> None:
        self._unload()

    def _load(
        self, model: ModelRef, engine: EngineSettings, emit: Emit, cancel: CancelToken
    ) -> Decoder:
        if self._decoder is not None and self._wanted == (model, engine):
            return self._decoder
        self._unload()
        began = time.perf_counter()
        emit(Loading(model, 0.0))
        try:
            there = model.path.is_file()
        except OSError:
            there = False
        if not there:
            raise ModelProblem(
                f"The model file {model.path} is not there.",
                "Was it moved or deleted? Choose another model.",
            )
        if not self._checked.is_checked(model):
            select.check_unknown(model, cancel)
            self._checked.add(model)
        shown = 0.0

        def on_progress(fraction: float) -> bool:
            nonlocal shown
            if fraction - shown >= 0.02:
                shown = fraction
                emit(Loading(model, fraction))
            return not cancel.cancelled

        decoder = select.open_decoder(model, engine, on_progress)
        self._decoder = decoder
        facts = decoder.facts
        self._template = template.choose(
            facts.chat_template,
            facts.begin_text,
            facts.end_text,
            frozenset(token.text for token in facts.special_tokens),
        )
        self._encoder = PromptEncoder(decoder, self._template)
        self._speculation = SpeculationState(model, decoder, self._profiles)
        self._wanted = (model, engine)
        emit(Loaded(model, facts.context_length, time.perf_counter() - began))
        return decoder

    def _load_draft(
        self, draft: ModelRef | None, engine: EngineSettings, emit: Emit, cancel: CancelToken
    ) -> None:
        assert self._decoder is not None
        assert self._speculation is not None
        context = self._decoder.facts.context_length
        engine = changed(engine, context_length=context)

        def open_draft(
            model: ModelRef, settings: EngineSettings, progress: Callable[[float], bool]
        ) -> Decoder:
            if not self._checked.is_checked(model):
                select.check_unknown(model, cancel)
                self._checked.add(model)
            return select.open_decoder(model, settings, progress, clamp=True)

        self._speculation.load_draft(draft, engine, open_draft, emit, cancel)
        curve = self._speculation.curve(0) if draft is not None else None
        if curve is not None:
            emit(curve)

    def _unload(self) -> None:
        if self._speculation is not None:
            self._speculation.close()
        if self._decoder is not None:
            self._decoder.close()
        self._decoder = self._encoder = self._template = self._wanted = None
        self._speculation = None
        self._resident = Resident()


class LoadCancelled(Exception):
    """The user stopped before the model was loaded, or measured."""
