"""Admission of other programs' requests: the draft and the settings with which a model answers.

On the event loop's thread of the window; the stream of an admitted request belongs to the loop that
begins it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from headstart.chat.answering.judging import DraftChoice
from headstart.chat.answering.local_models import LocalModels
from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import ServedEnded
from headstart.chat.models import Models
from headstart.chat.preferences import Preferences
from headstart.chat.serving.log import ServingLog
from headstart.chat.serving.offering import Offering
from headstart.core.audiences import Audience, of_key
from headstart.core.chats.values import Chat, new_id, now_ms
from headstart.core.errors import EnvironmentProblem
from headstart.core.events import (
    Counted,
    Embedded,
    Failed,
    GenerationEvent,
    InMemory,
    Loaded,
    Loading,
    Notice,
    SpeedCurve,
    Unloaded,
)
from headstart.core.models.draft_choice import Works
from headstart.core.models.ref import ModelRef
from headstart.core.requests import CountRequest, EmbedRequest, GenerationRequest
from headstart.core.retention import Retention
from headstart.core.serving.length import check_length
from headstart.core.serving.line import LineState
from headstart.core.serving.request import ServedRequest
from headstart.core.serving.session import session_id
from headstart.core.settings.inheritance import effective
from headstart.core.settings.schema import ChatOptions
from headstart.engine.runner import Runner
from headstart.engine.stream import Stream
from headstart.hub.projectors import projector_of
from headstart.storage.worker import Storage

# a request without tools of fewer characters runs beside a session: a title, a summary of a line
_SIDE_CHARACTERS = 6_000
# events that say which models are loaded
_OF_MODELS = (InMemory, Loaded, Loading, Notice, SpeedCurve, Unloaded, Failed)


class Admitted(Struct, frozen=True):
    """A request that the engine may run. `model` is the short name of the model that answers."""

    request: GenerationRequest
    model: str
    session: str
    side: bool
    runner: Runner
    follow: Callable[[GenerationEvent], None]

    def begin(self) -> Stream:
        """Ask the engine; the events come to the running loop."""
        return self.runner.stream(self.request, self.side)


class Embeddings(Struct, frozen=True):
    """Vectors as float32 bytes, by the model with this short name; tokens of all texts."""

    model: str
    vectors: tuple[bytes, ...]
    tokens: int


class Admission:
    def __init__(
        self,
        runner: Runner,
        models: tuple[Models, LocalModels],
        storage: Storage,
        preferences: Preferences,
        broadcast: Broadcast,
    ) -> None:
        self._broadcast = broadcast
        self._runner = runner
        self._models, self._local = models
        self._storage = storage
        self._preferences = preferences
        self._loop = asyncio.get_running_loop()
        self.log = ServingLog()
        # the key that programs send
        self._key = ""
        self.offering = Offering(
            self._models, lambda: self._local.loader.contexts, preferences, broadcast
        )

    def use_key(self, key: str) -> None:
        """Admit the requests of programs with this key from now on."""
        self._key = key

    @property
    def _audience(self) -> Audience:
        """Those who may reuse what a request computes."""
        return of_key(self._key, self._preferences.current.server.share_window)

    async def embed(self, texts: Sequence[str], name: str, program: str) -> Embeddings:
        """Vectors of texts; raises EnvironmentProblem."""
        model = await self.offering.meant_embedder(name)
        engine = self._preferences.current.engine
        stream = self._runner.embed(EmbedRequest(model.ref, tuple(texts), new_id(), engine))
        line = self.log.begin(program, model.id, stream.cancel)
        state, found = LineState.GONE, Embedded((), 0)
        try:
            async for event in stream:
                if isinstance(event, Failed):
                    state = LineState.FAILED
                    raise EnvironmentProblem.of(event.told)
                if isinstance(event, Embedded):
                    found, state = event, LineState.DONE
        finally:
            stream.cancel()
            self.log.end(line, state=state, prompt=found.tokens, done=found.tokens)
        return Embeddings(model.id, found.vectors, found.tokens)

    async def drafts(self) -> list[DraftChoice]:
        """Drafts that the model which answers by itself can use; none without such a model."""
        first = (await self.offering.look()).first
        found = [] if first is None else await self._local.drafts.of(first.ref)
        return [one for one in found if one.verdict.works is not Works.NO]

    async def admit(self, served: ServedRequest, program: str, agent: str = "") -> Admitted:
        """An engine's request for a program's; raises EnvironmentProblem."""
        model = await self.offering.meant(served.model)
        check_length(served, model)
        session = session_id(program, served, agent, self._audience.name)
        request = await self._request(served, model.ref, session)
        if request.owner is not None:
            await self._storage.run(lambda store: store.sessions.use(session, program))
        side = not served.tools.specs and served.size < _SIDE_CHARACTERS
        loader = self._local.loader
        loader.begin_served(request.reply_key, request.load)

        def follow(event: GenerationEvent) -> None:
            """From the server's thread: what the window knows of models."""
            if isinstance(event, _OF_MODELS):
                self._later(lambda: loader.follow(event, request.load))

        return Admitted(request, model.id, session, side, self._runner, follow)

    def ended(self, admitted: Admitted) -> None:
        """From any thread: the request is over."""

        def end() -> None:
            self._local.loader.served.discard(admitted.request.reply_key)
            self._broadcast.tell(ServedEnded())

        self._later(end)

    async def count(self, served: ServedRequest) -> int:
        """Tokens of a prompt; loads the model if need be. Raises EnvironmentProblem."""
        model = await self.offering.meant(served.model)
        check_length(served, model)
        request = await self._request(served, model.ref, "")
        loader = self._local.loader
        if not loader.has_loaded(model.ref):
            async for event in self._runner.preload(request.load):
                loader.follow(event, request.load)
                if isinstance(event, Failed):
                    raise EnvironmentProblem.of(event.told)
        load = loader.load_of(model.ref) or request.load
        async for event in self._runner.count(CountRequest(load, prompt=request), hurried=True):
            if isinstance(event, Counted):
                return event.prompt
            if isinstance(event, Failed):
                raise EnvironmentProblem.of(event.told)
        raise EnvironmentProblem("no-model-yet")

    async def _request(
        self, served: ServedRequest, model: ModelRef, session: str
    ) -> GenerationRequest:
        settings = self._preferences.current
        speculation = replace(settings.speculation, draft=settings.server.draft)
        options = ChatOptions(sampling=served.sampling, speculation=speculation)
        now = now_ms()
        chat = Chat(session, "", now, now, options=options)
        load = await self._local.drafts.pair_of(chat, model)
        if any(message.images for message in served.messages):
            projector = await asyncio.to_thread(projector_of, model)
            if projector is None:
                raise EnvironmentProblem("images-not-seen", name=model.name)
            load = load.seeing(projector)
        advice = await self._models.advice(model)
        chosen = effective(settings, options, model.key, advice)
        kept = settings.prefix.on_disk and settings.server.keep_prompts
        return GenerationRequest(
            load=load,
            messages=served.messages,
            sampling=chosen.sampling,
            chat_id=session or None,
            reply_so_far=served.so_far,
            thinking=served.thinking or chosen.thinking,
            speculation=chosen.speculation,
            reply_key=new_id(),
            retention=Retention.DISK if kept else Retention.MEMORY,
            audience=self._audience,
            tools=served.tools,
            served=True,
            plain=served.plain,
        )

    def _later(self, act: Callable[[], object]) -> None:
        try:
            self._loop.call_soon_threadsafe(act)
        except RuntimeError:
            # the window is closed
            return
