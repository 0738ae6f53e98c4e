"""The models on this computer around a reply: loading ahead, drafts, measuring, reading ahead.

On the event loop's thread; what is loaded lives on the engine thread.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from headstart.chat.changes import Change, DraftProgress, Measured, ModelState
from headstart.chat.drafts import DraftChoice, Drafts
from headstart.chat.measuring import Measuring
from headstart.chat.models import Models
from headstart.chat.preferences import Preferences
from headstart.chat.prefixes import Prefixes
from headstart.chat.reading_ahead import ReadingAhead
from headstart.chat.upcoming import Upcoming
from headstart.chat.warming import LoadedState, Warmer
from headstart.core.errors import EnvironmentProblem, ModelProblem
from headstart.core.events import (
    AnyModel,
    DraftActivity,
    GenerationEvent,
    SpeedCurve,
    TextAdded,
)
from headstart.core.settings import EngineSettings, Speculation, effective_speculation
from headstart.core.values import Chat, Message, ModelRef
from headstart.engine.runner import Runner


class LocalModels:
    """`chat` fetches a chat, `read` its branch too. `writing`: this computer writes a reply."""

    def __init__(
        self,
        runner: Runner,
        preferences: Preferences,
        models: Models,
        prefixes: Prefixes,
        chat: Callable[[str], Awaitable[Chat | None]],
        read: Callable[[str], Awaitable[tuple[Chat, list[Message]] | None]],
        writing: Callable[[], bool],
        tell: Callable[[Change], None],
    ) -> None:
        self._preferences = preferences
        self._models = models
        self._fetch = chat
        self._writing = writing
        self._closing = False
        # nothing is loaded or read by itself until a reply has shown that it can be
        self._held_back = False
        self._tell = tell
        self._warmer = Warmer(runner, tell)
        self._drafts = Drafts(models)
        self._measuring = Measuring(runner, self._warmer, tell)
        self.upcoming = Upcoming(
            read, self._busy, models, self._drafts, self._warmer, prefixes, preferences
        )
        self.ahead = ReadingAhead(runner, preferences, self.upcoming.request, tell)
        runner.on_idle(self._on_idle)

    def hold_back(self) -> None:
        """The last start died while it loaded or read: wait for the user to ask for it."""
        self._held_back = True

    # --- loading -------------------------------------------------------------------------

    async def warm(self, chat_id: str, asked: bool = False) -> str | None:
        """Load the chat's models ahead, while the user types; returns what went wrong, if so.

        `asked`: the user chose the model.
        """
        if self._held_back and not asked:
            return None
        chat = await self._fetch(chat_id)
        if chat is None:
            return None
        try:
            model = await self._models.of_chat(chat)
        except ModelProblem as problem:
            self._tell(ModelState("", 0.0, str(problem)))
            return str(problem)
        if self._writing() or self._closing or not isinstance(model, ModelRef):
            return None
        settings = self._preferences.current
        draft = await self._drafts.of(self._speculation_of(chat), model)
        trouble = await self._warmer.warm(model, settings.engine, draft)
        if not trouble:
            # the user may look at another chat by now
            await self.ahead.read_shown()
        return trouble

    async def draft_chosen(self, chat_id: str) -> None:
        """The options of a chat changed: a draft that is new to it is loaded, so that the idle
        engine can learn what it costs and gains."""
        chat = await self._fetch(chat_id)
        if chat is None:
            return
        wanted = self._speculation_of(chat)
        loaded = self._warmer.loaded
        known = None if loaded is None or loaded[2] is None else loaded[2].key
        if wanted.enabled and wanted.draft and wanted.draft != known:
            await self.warm(chat_id)

    async def reload(self) -> None:
        """Load what is loaded again, with the engine settings as they are now."""
        loaded = self._warmer.loaded
        if loaded is None or self._busy():
            return
        model, _, draft = loaded
        await self._warmer.warm(model, self._preferences.current.engine, draft)
        await self.ahead.read_shown()

    async def opened(self, chat_id: str) -> None:
        """The user looks at a chat: have it restored or read, if its model is or can be there.

        Another model that is loaded stays until something is typed.
        """
        if not await self.ahead.allowed() or self.ahead.shown != chat_id:
            return
        if self._warmer.idle:
            await self.warm(chat_id)
        else:
            await self.ahead.read(chat_id)

    @property
    def state(self) -> LoadedState:
        """Whether the loaded model has the engine settings as they are now."""
        return self._warmer.state(self._preferences.current.engine)

    @staticmethod
    def explain_engine() -> dict[str, str]:
        """What each engine setting becomes by itself here; on a worker thread."""
        from headstart.engine.backends import automatic

        return automatic.explain()

    # --- drafts --------------------------------------------------------------------------

    async def draft_of(self, wanted: Speculation, target: ModelRef) -> ModelRef | None:
        """The draft to load for a reply of `target`."""
        return await self._drafts.of(wanted, target)

    async def drafts(self, chat_id: str) -> list[DraftChoice]:
        """Every installed model with its verdict as a draft for the chat's model."""
        chat = await self._fetch(chat_id)
        model = None if chat is None else await self._models.of_chat(chat)
        if not isinstance(model, ModelRef):
            return []
        return await self._drafts.choices(model, self._preferences.current.engine.context_length)

    async def measure(self, chat_id: str) -> None:
        """Measure the speed of every draft depth for the chat's models; tells `Measured`."""
        if self._measuring.running or self._closing:
            return
        chat = await self._fetch(chat_id)
        if chat is None:
            return
        model: AnyModel = await self._models.of_chat(chat)
        if not isinstance(model, ModelRef):
            raise EnvironmentProblem("A server decides itself how it guesses ahead.", "")
        draft = await self._drafts.of(self._speculation_of(chat), model)
        if draft is None:
            raise EnvironmentProblem(
                "There is no draft model to measure.", "Choose one under “Draft from” first."
            )
        await self._measuring.run(model, self._preferences.current.engine, draft)

    def cancel_measuring(self) -> None:
        self._measuring.cancel()

    # --- around a reply ------------------------------------------------------------------

    def make_way(self, model: ModelRef, engine: EngineSettings, draft: ModelRef | None) -> None:
        """A request comes: it does not wait for another model that is being loaded ahead, nor for
        a measurement, which can be made again; what waits to be read ahead would cut the reply."""
        self._warmer.cancel(unless=(model, engine, draft))
        self.cancel_measuring()
        self.ahead.cancel()

    def follow(
        self,
        event: GenerationEvent,
        model: ModelRef,
        engine: EngineSettings,
        draft: ModelRef | None,
    ) -> None:
        """Keep track of what is loaded through a reply's events."""
        if isinstance(event, TextAdded):
            self._held_back = False
        self._warmer.follow(event, model, engine, draft)

    def cancel(self) -> None:
        """All is closing."""
        self._closing = True
        self._warmer.cancel()
        self.ahead.cancel()
        self.cancel_measuring()

    # --- inside --------------------------------------------------------------------------

    def _busy(self) -> bool:
        return self._writing() or self._closing or (self._held_back and self._warmer.idle)

    def _on_idle(self, event: GenerationEvent) -> None:
        """What the engine learned while nobody asked for anything."""
        if isinstance(event, DraftActivity):
            self._tell(DraftProgress(event))
        elif isinstance(event, SpeedCurve):
            self._tell(Measured(event))

    def _speculation_of(self, chat: Chat) -> Speculation:
        return effective_speculation(self._preferences.current, chat.options)
