"""Answering: takes a model and a request, returns a stream of events, wherever the model runs.

On the event loop's thread. The only module that tells the kinds of models apart.
"""

from __future__ import annotations

from functools import partial
from typing import Any, Protocol, TypeVar

from headstart.chat.agent.permissions import Permissions
from headstart.chat.agent.stream import AgentStream
from headstart.chat.agent.toolbox import Toolbox
from headstart.chat.models import Models
from headstart.chat.reply import ReplyStream
from headstart.chat.requests import Asked
from headstart.core.chats.values import Chat
from headstart.core.models.ref import AnyModel, ModelRef
from headstart.core.servers import ServerModel

M = TypeVar("M", contravariant=True)


class Answerer(Protocol[M]):
    """Writes replies with models of one kind."""

    def check(self, model: M) -> None:
        """Raise EnvironmentProblem if the model may not be asked."""
        ...

    async def answer(self, model: M, asked: Asked) -> ReplyStream:
        """Begin a reply; return once the request is on its way."""
        ...


class Answering:
    """The answerers for all kinds of models."""

    def __init__(
        self,
        models: Models,
        local: Answerer[ModelRef],
        servers: Answerer[ServerModel],
        toolbox: Toolbox,
        permissions: Permissions,
    ) -> None:
        self._models = models
        self._toolbox, self._permissions = toolbox, permissions
        self._answerers: dict[type, Answerer[Any]] = {ModelRef: local, ServerModel: servers}

    async def model_of(self, chat: Chat) -> AnyModel:
        """The model that answers in this chat; raises ConsentNeeded, ModelProblem."""
        model = await self._models.of_chat(chat)
        self.check(model)
        return model

    def check(self, model: AnyModel) -> None:
        """Raise ConsentNeeded for a server the user has not yet allowed to receive text."""
        self._answerers[type(model)].check(model)

    async def answer(self, model: AnyModel, asked: Asked) -> ReplyStream:
        """Begin a reply; one with tools goes on until the model calls none."""
        answerer = self._answerers[type(model)]
        first = await answerer.answer(model, asked)
        if not asked.tools:
            return first
        return AgentStream(
            asked, first, partial(answerer.answer, model), self._toolbox, self._permissions
        )
