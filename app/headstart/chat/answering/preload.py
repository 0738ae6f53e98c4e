"""Loading ahead of a request: while the user types, chooses, or looks at a chat.

On the event loop's thread; what is loaded lives on the engine thread.
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
        """Load the chat's models ahead, while the user types; returns what went wrong, if so.

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
            # the user may look at another chat by now
            await self._ahead.prefill_shown()
        return trouble

    async def draft_chosen(self, chat_id: str) -> None:
        """The options of a chat changed: a draft that is new to it is loaded, so that the idle
        engine can learn what it costs and gains."""
        try:
            wanted = await self._drafts.pair(chat_id)
        except ModelProblem:
            # told when the chat was opened, and when it is asked something
            return
        loaded = self._loader.loaded
        known = None if loaded is None else loaded.draft
        if wanted is not None and wanted.draft not in (None, known):
            await self.load(chat_id)

    async def reload(self) -> None:
        """Load what is loaded again, with the engine settings as they are now."""
        loaded = self._loader.loaded
        if loaded is None or self._loader.busy:
            return
        await self._loader.load(replace(loaded, engine=self._preferences.current.engine))
        await self._ahead.prefill_shown()

    async def opened(self, chat_id: str) -> None:
        """The user looks at a chat: have what is kept of it restored, if its model is or can be
        loaded. Another model that is loaded stays until something is typed."""
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
        """The last start died while it loaded or prefilled: wait for the user to ask for it."""
        self._loader.hold_back()

    @property
    def state(self) -> LoadedState:
        """Says whether the loaded model has the current engine settings."""
        return self._loader.state()

    @staticmethod
    def explain_engine() -> dict[str, Told]:
        """The value of each automatic engine setting on this computer; on a worker thread."""
        from headstart.engine.backends import automatic

        return automatic.explain()
