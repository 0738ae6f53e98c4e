"""Loading a model ahead of its first request, and telling how far it is.

On the event loop's thread; the loading itself is the engine thread's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from headstart.chat.changes import Change, DraftState, Measured, ModelState
from headstart.core.events import (
    Failed,
    GenerationEvent,
    Loaded,
    Loading,
    Notice,
    SpeedCurve,
    TextAdded,
)
from headstart.core.settings import EngineSettings
from headstart.core.values import ModelRef
from headstart.engine.runner import Runner, Stream

# of what is loaded: nothing; something with these engine settings; with those from before
LoadedState = Literal["nothing", "same", "other"]
Wanted = tuple[ModelRef, EngineSettings, ModelRef | None]


class Warmer:
    """Knows what is loaded, and what is being loaded without a request."""

    def __init__(self, runner: Runner, tell: Callable[[Change], None]) -> None:
        self._runner = runner
        self._tell = tell
        self._stream: Stream | None = None
        self._loading: Wanted | None = None
        self._loaded: Wanted | None = None

    async def warm(
        self, model: ModelRef, engine: EngineSettings, draft: ModelRef | None
    ) -> str | None:
        """Load unless it is loaded or under way; returns what went wrong, if so."""
        wanted = (model, engine, draft)
        if self._loaded == wanted or (self._stream is not None and self._loading == wanted):
            return None
        self.cancel()
        stream = self._stream = self._runner.warm(model, engine, draft)
        self._loading = wanted
        trouble = None
        async for event in stream:
            self.follow(event, model, engine, draft)
            if isinstance(event, Failed):
                trouble = f"{event.message} {event.remedy}".strip()
                self._tell(ModelState(model.name, 0.0, trouble))
        if self._stream is stream:
            self._stream = None
        return trouble

    @property
    def loaded(self) -> Wanted | None:
        """What is loaded, with its settings and draft."""
        return self._loaded

    @property
    def idle(self) -> bool:
        """Nothing is loaded, and nothing is on its way."""
        return self._loaded is None and self._stream is None

    def has_loaded(self, model: ModelRef, engine: EngineSettings) -> bool:
        return self._loaded is not None and self._loaded[:2] == (model, engine)

    def state(self, engine: EngineSettings) -> LoadedState:
        """Whether what is loaded has these settings."""
        if self._loaded is None:
            return "nothing"
        return "same" if self._loaded[1] == engine else "other"

    def cancel(self, unless: Wanted | None = None) -> None:
        if self._stream is not None and (unless is None or self._loading != unless):
            self._stream.cancel()

    def follow(
        self,
        event: GenerationEvent,
        model: ModelRef,
        engine: EngineSettings,
        draft: ModelRef | None,
    ) -> None:
        """Keep track of the models through any stream of events, a reply's too."""
        if isinstance(event, SpeedCurve) and event.total == 1:
            self._tell(Measured(event))
        elif isinstance(event, Loading) and event.draft:
            self._tell(DraftState(event.model.name, event.fraction >= 1))
        elif isinstance(event, Notice) and event.kind == "draft":
            self._tell(DraftState("", False))
        elif isinstance(event, Loading):
            if event.fraction == 0:
                # the draft goes with the model that it guessed for
                self._tell(DraftState("", False))
            self._loaded = None
            self._tell(ModelState(model.name, event.fraction))
        elif isinstance(event, Loaded):
            self._loaded = (model, engine, draft)
            self._tell(ModelState(model.name, 1.0))
        elif isinstance(event, TextAdded) and self._loaded is not None:
            self._loaded = (model, engine, draft)
