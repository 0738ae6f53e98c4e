"""The room for a chat's next message: an estimate before the model has counted, and ways to make
room that are possible on this computer. Event loop's thread; files are read on worker threads."""

from __future__ import annotations

import asyncio

from headstart.chat.answering.local import Documents
from headstart.chat.answering.local_models import LocalModels
from headstart.chat.branches import Branches
from headstart.chat.models import Models
from headstart.chat.preferences import Preferences
from headstart.chat.requests import system_prompt
from headstart.core.chats.attachments import about_tokens
from headstart.core.chats.prompt_words import prompt_text
from headstart.core.chats.values import Chat, Message
from headstart.core.errors import EnvironmentProblem
from headstart.core.knowledge.pinned import with_documents
from headstart.core.models.fit import Memory, Pair, automatic_context, largest_context
from headstart.core.models.ref import AnyModel, ModelRef
from headstart.core.models.room import Room, Ways, larger_context, prompt_limit
from headstart.core.settings.inheritance import effective
from headstart.core.settings.schema import EngineSettings, changed
from headstart.engine.memory import memory
from headstart.hub.cards import read_card


class Rooms:
    def __init__(
        self,
        local: LocalModels,
        models: Models,
        branches: Branches,
        documents: Documents,
        preferences: Preferences,
    ) -> None:
        self._local = local
        self._models = models
        self._branches = branches
        self._documents = documents
        self._preferences = preferences

    async def estimate(self, chat_id: str) -> Room | None:
        """The room of a chat for a message without text; None if nothing is known of its model's
        context."""
        chat = await self._branches.chat(chat_id)
        model = None if chat is None else await self._model(chat)
        size = 0 if model is None else await self._size(model)
        if chat is None or model is None or not size:
            return None
        branch = await self._branches.whole(chat_id)
        chosen = effective(self._preferences.current, chat.options, model.key, above=chat.above)
        first = with_documents(await self._documents(chat), system_prompt(chat, chosen))
        alone, before = await asyncio.to_thread(_about, first, branch)
        limit = prompt_limit(size)
        return Room(alone + before, alone, limit, size, chosen.when_full != "stop")

    async def ways(self, chat_id: str, room: Room) -> Ways:
        """The ways to make room for the next message."""
        chat = await self._branches.chat(chat_id)
        model = None if chat is None else await self._model(chat)
        context = 0
        if isinstance(model, ModelRef):
            loaded = self._local.loader.contexts.get(model.key, 0)
            engine = self._preferences.current.engine
            most = await asyncio.to_thread(_largest, model, engine, loaded)
            found = larger_context(room.needed, most)
            context = found if found > room.size else 0
        drop = not room.drops and room.alone <= room.limit < room.tokens
        files = self._preferences.current.model_files
        installed = await asyncio.to_thread(self._models.shelf.look, files)
        other = any(
            one.why_not is None
            and not one.about.no_chat
            and (model is None or one.ref.key != model.key)
            and prompt_limit(one.about.context) >= room.needed
            for one in installed
        )
        return Ways(context, drop, other)

    async def use_context(self, chat_id: str, context: int) -> None:
        """Load the chat's model with a larger context, from now on for all models."""
        engine = self._preferences.current.engine
        self._preferences.update(engine=changed(engine, context_length=context))
        await self._local.preload.load(chat_id, asked=True)
        await self._local.ahead.prefill(chat_id)

    async def _model(self, chat: Chat) -> AnyModel | None:
        try:
            return await self._models.of_chat(chat)
        except EnvironmentProblem:
            return None

    async def _size(self, model: AnyModel) -> int:
        """Tokens of context; 0 if unknown."""
        if not isinstance(model, ModelRef):
            return model.context_length
        loaded = self._local.loader.contexts.get(model.key, 0)
        engine = self._preferences.current.engine
        return loaded or await asyncio.to_thread(_usual, model, engine)


def _about(first: str, branch: list[Message]) -> tuple[int, int]:
    """Estimated tokens of the system prompt, and of the messages."""
    return about_tokens(first), sum(about_tokens(prompt_text(one.parts)) for one in branch)


def _usual(model: ModelRef, engine: EngineSettings) -> int:
    """The context that a model would be loaded with; 0 if its file cannot be read."""
    try:
        shape = read_card(model).shape
    except (EnvironmentProblem, OSError):
        return 0
    usual = engine.context_length or automatic_context(Pair(shape), engine, memory())
    return min(usual, shape.trained or usual)


def _largest(model: ModelRef, engine: EngineSettings, loaded: int) -> int:
    """The largest context that a model was trained for and that fits; `loaded`: its tokens now,
    whose memory would be free."""
    try:
        shape = read_card(model).shape
    except (EnvironmentProblem, OSError):
        return 0
    free, pair = memory(), Pair(shape)
    if loaded:
        free = Memory(free.total, free.available + pair.need(loaded, engine).beside)
    return min(shape.trained, largest_context(pair, engine, free))
