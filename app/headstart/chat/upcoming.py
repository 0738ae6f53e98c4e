"""What a chat's next prompt is going to begin with, for reading ahead. Event loop's thread."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from headstart.chat.assemble import prompt_messages
from headstart.chat.drafts import Drafts
from headstart.chat.models import Models
from headstart.chat.preferences import Preferences
from headstart.chat.prefixes import Prefixes
from headstart.chat.warming import Warmer
from headstart.core.errors import ModelProblem
from headstart.core.events import AheadRequest
from headstart.core.settings import (
    effective_speculation,
    effective_system_prompt,
    effective_when_full,
)
from headstart.core.values import Chat, Message, ModelRef


class Upcoming:
    """`read` fetches a chat and its branch; `busy` says that a reply is written, or soon will be.

    What was fetched is kept until `forget`: it is the same for each word that is typed.
    """

    def __init__(
        self,
        read: Callable[[str], Awaitable[tuple[Chat, list[Message]] | None]],
        busy: Callable[[], bool],
        models: Models,
        drafts: Drafts,
        warmer: Warmer,
        prefixes: Prefixes,
        preferences: Preferences,
    ) -> None:
        self._read = read
        self._busy = busy
        self._models = models
        self._drafts = drafts
        self._warmer = warmer
        self._prefixes = prefixes
        self._preferences = preferences
        self._known: tuple[Chat, list[Message]] | None = None
        self._serial = 0

    def forget(self) -> int:
        """Something of some chat changed; the result is for `know`."""
        self._known, self._serial = None, self._serial + 1
        return self._serial

    def know(self, chat: Chat, branch: list[Message], since: int) -> None:
        """A chat's branch as it was when `forget` returned `since`: it need not be fetched."""
        if since == self._serial:
            self._known = (chat, branch)

    async def request(self, chat_id: str, typed: str) -> AheadRequest | None:
        """None where nothing can be read now: a reply is written, or the model is not loaded."""
        if self._busy():
            return None
        known = await self._fetch(chat_id)
        if known is None:
            return None
        chat, branch = known
        settings, options = self._preferences.current, chat.options
        try:
            model = await self._models.of_chat(chat)
        except ModelProblem:
            return None
        if not isinstance(model, ModelRef):
            # what is typed stays here until it is sent
            return None
        if not self._warmer.has_loaded(model, settings.engine):
            return None
        draft = await self._drafts.of(effective_speculation(settings, options), model)
        if self._busy():
            return None
        return AheadRequest(
            model=model,
            messages=prompt_messages(branch, effective_system_prompt(settings, options)),
            engine=settings.engine,
            chat_id=chat_id,
            typed=typed,
            draft=draft,
            when_full=effective_when_full(settings, options),
            # of a chat that is not stored yet nothing is on disk
            keep_on_disk=bool(branch) and self._prefixes.may_be_on_disk(chat),
        )

    async def _fetch(self, chat_id: str) -> tuple[Chat, list[Message]] | None:
        if self._known is not None and self._known[0].id == chat_id:
            return self._known
        serial = self._serial
        found = await self._read(chat_id)
        if serial == self._serial:
            self._known = found
        return found
