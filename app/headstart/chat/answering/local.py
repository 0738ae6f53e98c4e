"""Replies by models on this computer. On the event loop's thread; the engine has its own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import NamedTuple

from headstart.chat.answering.drafts import Drafts
from headstart.chat.answering.images import ChatImages, images_gone
from headstart.chat.answering.loading import Loader
from headstart.chat.models import Models
from headstart.chat.preferences import Preferences
from headstart.chat.reply import ReplyStream
from headstart.chat.requests import Asked, images_in, local_request
from headstart.core.chats.values import Chat, Role
from headstart.core.events import Counted, GenerationEvent, Notice, NoticeKind, Waiting
from headstart.core.knowledge.pinned import DocumentText
from headstart.core.models.ref import ModelRef
from headstart.core.requests import CountRequest, LoadRequest
from headstart.core.told import told
from headstart.core.tools import Tools, ToolSpec
from headstart.engine.runner import Runner

# the tools that servers lend to a chat with a model, by the model's key
Lent = Callable[[Chat, str], Awaitable[tuple[ToolSpec, ...]]]
# the whole documents of a chat
Documents = Callable[[Chat], Awaitable[tuple[DocumentText, ...]]]


class ModelSources(NamedTuple):
    """Sources of facts about models and chats other than the weights."""

    models: Models
    images: ChatImages
    lent: Lent
    documents: Documents


class LocalAnswerer:
    """An `Answerer`."""

    def __init__(
        self,
        runner: Runner,
        loader: Loader,
        drafts: Drafts,
        sources: ModelSources,
        preferences: Preferences,
    ) -> None:
        self._runner = runner
        self._loader = loader
        self._drafts = drafts
        self._models, self._images = sources.models, sources.images
        self._preferences = preferences

    def check(self, model: ModelRef) -> None:
        """Always allowed: no text leaves this computer."""

    async def answer(self, model: ModelRef, asked: Asked) -> ReplyStream:
        wanted = await self._drafts.pair_of(asked.chat, model)
        advice = await self._models.advice(model)
        shown = images_in(asked.branch, asked.written)
        wanted, images = await self._images.for_model(asked.chat.id, shown, wanted)
        request = local_request(asked, wanted, self._preferences.current, advice, images)
        if asked.beside:
            self._loader.begin_served(asked.reply_id, wanted)
            return _Followed(self._runner.stream(request), self._loader, wanted, (), asked.reply_id)
        waits = self._loader.writing
        self._loader.begin_reply(asked, wanted)
        first = _first_events(asked, wanted, waits)
        if wanted.projector is not None and (gone := images_gone(shown, images)):
            first.insert(0, gone)
        return _Followed(self._runner.stream(request), self._loader, wanted, first)

    async def count(self, model: ModelRef, texts: Sequence[str]) -> Sequence[int] | None:
        found = await self._counted(model, texts=tuple(texts))
        return None if found is None else found.texts

    async def tool_tokens(self, model: ModelRef, tools: Sequence[Tools]) -> Sequence[int] | None:
        """Tokens that each set of tools adds to a prompt; None before the model is loaded, and
        while a reply is written."""
        if self._loader.writing:
            return None
        found = await self._counted(model, tools=tuple(tools))
        return None if found is None else found.tools

    async def _counted(
        self, model: ModelRef, texts: tuple[str, ...] = (), tools: tuple[Tools, ...] = ()
    ) -> Counted | None:
        load = self._loader.load_of(model)
        if load is None:
            return None
        found = None
        # a reply waits for the count of texts
        async for event in self._runner.count(CountRequest(load, texts, tools), bool(texts)):
            if isinstance(event, Counted):
                found = event
        return found


def _first_events(asked: Asked, wanted: LoadRequest, waits: bool) -> list[GenerationEvent]:
    """Events known before the engine's first one."""
    events: list[GenerationEvent] = []
    if wanted.projector is None and _has_news_of_images(asked, wanted):
        events.append(Notice(NoticeKind.IMAGES, told("images-not-seen", name=wanted.model.name)))
    if waits:
        events.append(Waiting())
    return events


def _has_news_of_images(asked: Asked, wanted: LoadRequest) -> bool:
    """True if the question has images, or earlier ones are new to this model."""
    written_by = [one.model_key for one in asked.branch if one.role is Role.ASSISTANT]
    other = bool(written_by) and written_by[-1] != wanted.model.key
    return bool(images_in(asked.branch if other else asked.branch[-1:]))


class _Followed:
    """A reply's events, which keep the loader informed of loaded models."""

    def __init__(
        self,
        stream: ReplyStream,
        loader: Loader,
        wanted: LoadRequest,
        first: Sequence[GenerationEvent],
        served: str = "",
    ) -> None:
        """`served`: the key under which the loader knows it; "" for a chat's reply."""
        self._served = served
        self._stream = stream
        self._first = first
        self._loader = loader
        self._wanted = wanted

    def cancel(self) -> None:
        self._stream.cancel()

    async def __aiter__(self) -> AsyncIterator[GenerationEvent]:
        for event in self._first:
            yield event
        try:
            async for event in self._stream:
                self._loader.follow(event, self._wanted)
                yield event
        finally:
            self._loader.served.discard(self._served)
