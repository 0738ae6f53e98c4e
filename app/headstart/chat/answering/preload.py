"""Loading ahead of a request: while the user types, chooses a model, or views a chat.

On the event loop's thread; loaded models live on the engine thread.
"""

from __future__ import annotations

from msgspec.structs import replace

from headstart.chat.answering.drafts import Drafts
from headstart.chat.answering.loading import LoadedState, Loader
from headstart.chat.answering.prefill_ahead import PrefillAhead
from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import ModelState
from headstart.chat.preferences import Preferences
from headstart.core.errors import ModelProblem
from headstart.core.settings.schema import Thinking
from headstart.core.told import Told


class Preload:
    def __init__(
        self,
        loader: Loader,
        drafts: Drafts,
        ahead: PrefillAhead,
        preferences: Preferences,
        broadcast: Broadcast,
    ) -> None:
        self._loader = loader
        self._drafts = drafts
        self._ahead = ahead
        self._preferences = preferences
        self._broadcast = broadcast

    async def load(self, chat_id: str, asked: bool = False) -> str | None:
        """Load the chat's models ahead, while the user types; return the error text, if any.

        `asked`: the user chose the model.
        """
        if self._loader.held_back and not asked:
            return None
        try:
            wanted = await self._drafts.pair(chat_id)
        except ModelProblem as problem:
            self._broadcast.tell(ModelState("", 0.0, str(problem)))
            return str(problem)
        if wanted is None or self._loader.writing:
            return None
        trouble = await self._loader.load(wanted)
        if not trouble:
            # the user may be viewing another chat by now
            await self._ahead.prefill_shown()
        return trouble

    async def draft_chosen(self, chat_id: str) -> None:
        """After a change of the chat's options, load a newly chosen draft, so that the idle engine
        can measure its cost and gain."""
        try:
            wanted = await self._drafts.pair(chat_id)
        except ModelProblem:
            # reported when the chat is opened, and with its next message
            return
        loaded = self._loader.loaded
        known = None if loaded is None else loaded.draft
        if wanted is not None and wanted.draft not in (None, known):
            await self.load(chat_id)

    async def reload(self) -> None:
        """Reload the loaded models with the current engine settings."""
        loaded = self._loader.loaded
        if loaded is None or self._loader.busy:
            return
        await self._loader.load(replace(loaded, engine=self._preferences.current.engine))
        await self._ahead.prefill_shown()

    async def opened(self, chat_id: str) -> None:
        """Restore a viewed chat from the prefix cache; load its model if no model is loaded.
        Another loaded model stays until the user types."""
        if not await self._ahead.allowed() or self._ahead.shown != chat_id:
            return
        if self._loader.idle:
            await self.load(chat_id)
        else:
            await self._ahead.prefill(chat_id)

    def thinking(self, key: str) -> tuple[Thinking, ...]:
        """Efforts of thinking that a model understands; none before it was loaded once."""
        return self._loader.thinking(key)

    def hold_back(self) -> None:
        """Load nothing unasked: safe mode, or the last run crashed while loading or prefilling."""
        self._loader.hold_back()

    @property
    def state(self) -> LoadedState:
        """Compare the loaded model's engine settings with the current ones."""
        return self._loader.state()

    @staticmethod
    def explain_engine() -> dict[str, Told]:
        """Values of the automatic engine settings on this computer; call on a worker thread."""
        from headstart.engine.backends import automatic

        return automatic.explain()
