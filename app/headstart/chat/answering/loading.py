"""Models loaded on this computer, and loading ahead of the first request.

On the event loop's thread; the engine thread does the loading itself.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Literal

from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import (
    Calibrated,
    DraftState,
    ModelsLoaded,
    ModelState,
    ModelUnloaded,
    SmallerContext,
)
from headstart.chat.preferences import Preferences
from headstart.chat.requests import Asked
from headstart.core.events import (
    Failed,
    GenerationEvent,
    InMemory,
    Loaded,
    Loading,
    Notice,
    ResidentModel,
    SpeedCurve,
    TextAdded,
    Unloaded,
)
from headstart.core.models.fit import KV_BYTES
from headstart.core.models.ref import ModelRef
from headstart.core.requests import LoadRequest
from headstart.core.settings.schema import Thinking
from headstart.core.told import Told
from headstart.engine.runner import Runner
from headstart.engine.stream import Stream

# no model is loaded; one is, with the current engine settings; with other engine settings
LoadedState = Literal["nothing", "same", "other"]


class Loader:
    """Tracks the loaded models, the model being loaded ahead, and the replies being written."""

    def __init__(self, runner: Runner, preferences: Preferences, broadcast: Broadcast) -> None:
        self._runner = runner
        self._preferences = preferences
        self._broadcast = broadcast
        self._stream: Stream | None = None
        self._loading: LoadRequest | None = None
        # the engine's last snapshot; the most recently used model comes last
        self._memory: tuple[ResidentModel, ...] = ()
        self._writing: dict[str, Asked] = {}
        # keys of other programs' replies
        self.served: set[str] = set()
        self._thinking: dict[str, tuple[Thinking, ...]] = {}
        self._make_way: list[Callable[[], None]] = []
        self._closing = False
        # safe mode, or a crash in the last run while loading or prefilling: wait for a good reply
        self._held_back = False

    # --- state ---------------------------------------------------------------------------

    @property
    def loaded(self) -> LoadRequest | None:
        """The request that loaded the most recently used model."""
        return self._memory[-1].load if self._memory else None

    @property
    def idle(self) -> bool:
        """True if no model is loaded or being loaded ahead."""
        return not self._memory and self._stream is None

    @property
    def loading(self) -> bool:
        """True if a model is being loaded ahead of a request."""
        return self._stream is not None

    @property
    def held_back(self) -> bool:
        """True if no model may be loaded until the user asks for it."""
        return self._held_back

    @property
    def writing(self) -> bool:
        """True if this computer is writing a reply, or the app is closing."""
        return bool(self._writing) or self._closing

    @property
    def busy(self) -> bool:
        """True if no work can be done ahead now."""
        return self.writing or bool(self.served) or (self._held_back and self.idle)

    @property
    def contexts(self) -> dict[str, int]:
        """Tokens of context of each loaded model, by key."""
        return {one.model.key: one.context for one in self._memory}

    def thinking(self, key: str) -> tuple[Thinking, ...]:
        """Thinking modes the model understands; empty until it was loaded once."""
        return self._thinking.get(key, ())

    def has_loaded(self, model: ModelRef) -> bool:
        engine = self._preferences.current.engine
        return any((one.model, one.load.engine) == (model, engine) for one in self._memory)

    def load_of(self, model: ModelRef) -> LoadRequest | None:
        """The request that loaded a model; None while it is not loaded."""
        return next((one.load for one in self._memory if one.model == model), None)

    def state(self) -> LoadedState:
        """Compare the loaded model's engine settings with the current ones."""
        loaded = self.loaded
        if loaded is None:
            return "nothing"
        return "same" if loaded.engine == self._preferences.current.engine else "other"

    def hold_back(self) -> None:
        """Load and prefill nothing unasked until a reply succeeds."""
        self._held_back = True

    # --- loading -------------------------------------------------------------------------

    async def load(self, wanted: LoadRequest) -> str | None:
        """Load the models unless they are loaded or loading; return the error text, if any."""
        loaded = self.loaded
        if loaded is not None and (loaded.engine, loaded.pair) == (wanted.engine, wanted.pair):
            return None
        if self._stream is not None and self._loading == wanted:
            return None
        self.cancel()
        stream = self._stream = self._runner.preload(wanted)
        self._loading = wanted
        trouble = None
        async for event in stream:
            if isinstance(event, Failed):
                trouble = event.told.text
                self._broadcast.tell(ModelState(wanted.model.name, 0.0, trouble))
            self.follow(event, wanted)
        if self._stream is stream:
            self._stream = None
        return trouble

    async def unload(self, keys: Collection[str] = ()) -> None:
        """Free the memory of these models, or of all if no key is given; chats load them again."""
        if self._loading is not None and (not keys or self._loading.model.key in keys):
            self.cancel()
        async for event in self._runner.release(keys):
            if isinstance(event, InMemory):
                self.follow_memory(event)

    def cancel(self, unless: LoadRequest | None = None) -> None:
        if self._stream is not None and (unless is None or self._loading != unless):
            self._stream.cancel()

    def close(self) -> None:
        self._closing = True
        self.cancel()

    # --- replies -------------------------------------------------------------------------

    def on_request(self, listener: Callable[[], None]) -> None:
        """Have `listener` called before each reply begins, to end work done ahead."""
        self._make_way.append(listener)

    def begin_reply(self, asked: Asked, wanted: LoadRequest) -> None:
        """Make way for a reply: end work done ahead, except loading the wanted model."""
        self.cancel(unless=wanted)
        for listener in self._make_way:
            listener()
        self._writing[asked.chat.id] = asked

    def begin_served(self, key: str, wanted: LoadRequest) -> None:
        """Make way for another program's request in the same way."""
        self.cancel(unless=wanted)
        self.served.add(key)
        for listener in self._make_way:
            listener()

    def end_reply(self, chat_id: str) -> Asked | None:
        """Forget a stored reply; return its request if this computer wrote it."""
        return self._writing.pop(chat_id, None)

    def follow(self, event: GenerationEvent, wanted: LoadRequest) -> None:
        """Pass on the model events of any stream, including a reply's."""
        tell = self._broadcast.tell
        if isinstance(event, SpeedCurve) and event.total == 1:
            tell(Calibrated(wanted.pair, event))
        elif isinstance(event, Loading) and event.draft:
            tell(DraftState(event.model.name, event.fraction >= 1))
        elif isinstance(event, Notice) and event.kind == "draft":
            tell(DraftState("", False))
        elif isinstance(event, Loading):
            if event.fraction == 0:
                # the draft is unloaded with its target
                tell(DraftState("", False))
            tell(ModelState(wanted.model.name, event.fraction))
        elif isinstance(event, Loaded):
            self._thinking[wanted.model.key] = event.thinking
            tell(ModelState(wanted.model.name, 1.0))
        elif isinstance(event, Unloaded):
            tell(ModelUnloaded(event.model.name, event.other.name))
        elif isinstance(event, InMemory):
            self.follow_memory(event)
        elif isinstance(event, Failed):
            self._offer(event.told, wanted)
        elif isinstance(event, TextAdded):
            self._held_back = False

    def follow_memory(self, event: InMemory) -> None:
        self._memory = event.models
        draft = event.models[-1].draft if event.models else None
        self._broadcast.tell(DraftState("" if draft is None else draft.name, draft is not None))
        self._broadcast.tell(ModelsLoaded(event.models))

    def _offer(self, problem: Told, wanted: LoadRequest) -> None:
        """Offer the smaller context that would fit, if the failure names one."""
        context, kv_type = problem.facts.get("offer_context"), problem.facts.get("offer_kv_type")
        if isinstance(context, int) and context and kv_type in KV_BYTES:
            kind = next(name for name in KV_BYTES if name == kv_type)
            self._broadcast.tell(SmallerContext(wanted.model, context, kind, problem))
