"""Answering: takes a model and a request, returns a stream of events, wherever the model runs.

On the event loop's thread. The only module that tells the kinds of models apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeVar

from msgspec.structs import replace

from headstart.chat.agent.stream import AgentStream, ToolDesk
from headstart.chat.knowledge.asking import PassageFinder
from headstart.chat.knowledge.survey import Surveying
from headstart.chat.knowledge.survey_stream import SurveyStream
from headstart.chat.models import Models
from headstart.chat.reply import Preceded, ReplyStream
from headstart.chat.requests import Asked
from headstart.core.chats.values import Chat
from headstart.core.events import Notice, NoticeKind
from headstart.core.knowledge.pinned import DocumentText
from headstart.core.knowledge.survey import SurveyDocument
from headstart.core.models.ref import AnyModel, ModelRef
from headstart.core.servers import ServerModel
from headstart.core.told import told

M = TypeVar("M", contravariant=True)


class Answerer(Protocol[M]):
    """Writes replies with models of one kind."""

    def check(self, model: M) -> None:
        """Raise EnvironmentProblem if the model may not be asked."""
        ...

    async def answer(self, model: M, asked: Asked) -> ReplyStream:
        """Begin a reply; return once the request is on its way."""
        ...

    async def count(self, model: M, texts: Sequence[str], /) -> Sequence[int] | None:
        """Tokens of texts; None where nobody can count them now."""
        ...


class AnswerFiles(Protocol):
    """The user's files, as replies need them."""

    @property
    def passages(self) -> PassageFinder: ...

    @property
    def surveying(self) -> Surveying: ...

    async def documents(self, chat: Chat, /) -> tuple[DocumentText, ...]:
        """The whole documents that stand first in a chat's prompts."""
        ...

    def lost(self, chat: Chat, documents: Sequence[DocumentText], /) -> Sequence[str]:
        """The names of a chat's documents whose text is gone."""
        ...

    async def name_state(
        self, chat: Chat, documents: Sequence[DocumentText], model: AnyModel, /
    ) -> None:
        """Name the owners of what the model computes for the documents."""
        ...


class Answering:
    """The answerers for all kinds of models."""

    def __init__(
        self,
        models: Models,
        local: Answerer[ModelRef],
        servers: Answerer[ServerModel],
        desk: ToolDesk,
        files: AnswerFiles,
    ) -> None:
        self.passages, self.surveying = files.passages, files.surveying
        self._files = files
        self._models = models
        self._desk = desk
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
        answerer, lending = self._answerers[type(model)], self._desk.lending
        missing = await lending.begin(asked.chat, model.key)
        lent, documents = (
            await lending.specs(asked.chat, model.key),
            await self._files.documents(asked.chat),
        )
        await self._files.name_state(asked.chat, documents, model)
        asked = replace(asked, lent=lent, documents=documents)
        first = None if missing else await answerer.answer(model, asked)
        stream: ReplyStream
        if first is not None and not asked.tools:
            stream = first
        else:
            stream = AgentStream(asked, first, _One(answerer, model), self._desk, missing)
        lost = [
            Notice(NoticeKind.FILES, told("document-lost", name=name))
            for name in self._files.lost(asked.chat, documents)
        ]
        return Preceded(lost, stream) if lost else stream

    def survey(
        self, model: AnyModel, asked: Asked, documents: Sequence[SurveyDocument]
    ) -> ReplyStream:
        """Begin a reply over notes on whole documents, each read for the question."""
        one = _One(self._answerers[type(model)], model)
        asks = one.answer, lambda now: self.answer(model, now)
        return SurveyStream(self.surveying, asked, model, documents, asks)


class _One:
    """One model, as a reply that calls tools asks it."""

    def __init__(self, answerer: Answerer[Any], model: AnyModel) -> None:
        self._answerer = answerer
        self._model = model

    @property
    def key(self) -> str:
        return self._model.key

    async def answer(self, asked: Asked) -> ReplyStream:
        return await self._answerer.answer(self._model, asked)

    async def count(self, texts: Sequence[str]) -> Sequence[int] | None:
        return await self._answerer.count(self._model, texts)
