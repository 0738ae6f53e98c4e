"""The model of a chat: which one answers, and choosing another. On the event loop's thread."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from pathlib import Path

from headstart.chat.answering.preload import Preload
from headstart.chat.branches import Branches
from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import ModelState, SmallerContext
from headstart.chat.choices import Choices
from headstart.chat.library.installed import Installed
from headstart.chat.models import ModelList, Models
from headstart.chat.servers import Servers
from headstart.core.chats.values import Chat
from headstart.core.errors import EnvironmentProblem
from headstart.core.models.ref import AnyModel
from headstart.core.settings.sampling import SamplingChoice
from headstart.core.settings.schema import Thinking


class ChatModels:
    def __init__(
        self,
        branches: Branches,
        choices: Choices,
        models: Models,
        preload: Preload,
        broadcast: Broadcast,
    ) -> None:
        self._branches = branches
        self._choices = choices
        self._models = models
        self._preload = preload
        self._broadcast = broadcast

    async def find(self, chat_id: str) -> tuple[AnyModel | None, str]:
        """The model that answers in a chat, and its name; None if it is missing, or for a chat
        that does not exist."""
        chat = await self._branches.chat(chat_id)
        model = None if chat is None else await self._of(chat)
        if model is not None:
            return model, model.name
        return None, self.name_of((chat.model if chat is not None else "") or "")

    async def choose(self, chat: Chat, model: AnyModel) -> None:
        """Make it the model of a chat and load it. A file that cannot be used is told, and the
        chat keeps the model that it had.

        Raises ConsentNeeded for a server that text may not be sent to yet.
        """
        before = await self._of(chat)
        # a server may have been allowed since the menu was opened
        model = self._models.renewed(model)
        await self._choices.set_model(chat.id, model)
        trouble = await self._preload.load(chat.id, asked=True)
        now = await self._branches.chat(chat.id)
        chosen = now is not None and now.model == model.key
        if trouble and before is not None and before != model and chosen:
            await self._choices.set_model(chat.id, before)
            self._broadcast.tell(ModelState("", 0.0, trouble))

    async def open_file(self, chat: Chat, path: Path) -> None:
        """List a file or folder from now on, and choose it. Raises ModelProblem, ConsentNeeded."""
        await self.choose(chat, await self._models.open_file(path))

    async def use_smaller(self, chat: Chat, fits: SmallerContext) -> None:
        """Load a model with the settings that fit into memory, from now on."""
        self._models.use_smaller(fits.context, fits.kv_type)
        await self.choose(chat, fits.model)

    async def reload(self) -> None:
        """Load the loaded model again, with the current engine settings."""
        await self._preload.reload()

    async def advice(self, model: AnyModel) -> tuple[SamplingChoice, str]:
        """Sampling that its makers advise, and its name if it is known not to see images."""
        return await self._models.advice(model), await self._models.blind(model)

    def thinking(self, key: str) -> tuple[Thinking, ...]:
        """Efforts of thinking that a model understands; none before it was loaded once."""
        return self._preload.thinking(key)

    def name_of(self, key: str) -> str:
        """The name of a model; "" for no key."""
        return self._models.name_of(key) if key else ""

    async def _of(self, chat: Chat) -> AnyModel | None:
        with contextlib.suppress(EnvironmentProblem):
            return await self._models.of_chat(chat)
        return None


class ModelListing:
    """The models that a chat can choose."""

    def __init__(self, installed: Installed, servers: Servers, models: ChatModels) -> None:
        self._installed = installed
        self._servers = servers
        self._models = models

    async def lists(self, chat_id: str, ask: bool = True) -> AsyncIterator[ModelList]:
        """The list at once, with the servers' models as last heard; with `ask` a second list when
        the servers have answered."""
        local = [model for model in await self._installed.look() if not model.about.no_chat]
        yield ModelList(local, self._servers.known(), await self._key(chat_id))
        if ask and self._servers.connections:
            offered = await self._servers.offers()
            yield ModelList(local, offered, await self._key(chat_id))

    async def _key(self, chat_id: str) -> str:
        model, _name = await self._models.find(chat_id)
        return "" if model is None else model.key
