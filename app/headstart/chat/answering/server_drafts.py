"""Local drafts for servers' replies: finds the model and has the engine write with it.

Made on the event loop's thread; drafts are requested on the session's thread, whose loop gets the
engine's events.
"""

from __future__ import annotations

import asyncio
import functools
import logging
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from headstart.chat.answering.loading import Loader
from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import DraftState
from headstart.chat.models import Models
from headstart.chat.preferences import Preferences
from headstart.chat.requests import Asked
from headstart.core.audiences import of_chat
from headstart.core.chats.parts import PartKind
from headstart.core.errors import EnvironmentProblem, ModelProblem
from headstart.core.events import (
    Failed,
    Finished,
    GenerationEvent,
    InMemory,
    Loaded,
    Loading,
    TextAdded,
    Unloaded,
)
from headstart.core.models.heads import AUTOMATIC, OWN_LAYERS
from headstart.core.models.ref import ModelRef
from headstart.core.requests import GenerationRequest, LoadRequest, RemoteRequest, WrittenSoFar
from headstart.core.retention import decide
from headstart.core.settings.schema import Sampling, Speculation
from headstart.engine.remote.draft import Draft, drafts_possible
from headstart.engine.runner import Runner
from headstart.engine.stream import Stream

if TYPE_CHECKING:
    from headstart.engine.template import ChatTemplate
    from headstart.hub.chat_templates import TemplateFacts

log = logging.getLogger(__name__)


class Engine(NamedTuple):
    """The engine's side of a draft. `follow` takes model events, from any thread. `busy`: True if
    this computer is writing a reply, which a draft must not delay. `streams`: running drafts."""

    runner: Runner
    follow: Callable[[GenerationEvent], None]
    busy: Callable[[], bool]
    streams: set[Stream]


class ServerDraft:
    """A `RemoteDraft`: a model on this computer that continues one reply."""

    def __init__(self, engine: Engine, request: GenerationRequest, prompt: str | None) -> None:
        self._engine = engine
        self._request = request
        self._prompt = prompt
        self._left: set[asyncio.Task[None]] = set()

    @property
    def key(self) -> str:
        return self._request.load.model.key

    @property
    def prompt(self) -> str | None:
        return self._prompt

    async def write(self, reply: str, tokens: int) -> Draft:
        """See `RemoteDraft`. Writes nothing while this computer is writing a reply."""
        if self._engine.busy():
            return Draft("", 0)
        request = replace(
            self._request,
            reply_so_far=WrittenSoFar(text=reply, closed=bool(reply)),
            sampling=Sampling(temperature=0, max_tokens=tokens),
        )
        stream, text, count = self._engine.runner.stream(request), "", 0
        self._engine.streams.add(stream)
        over = False
        try:
            async for event in stream:
                match event:
                    case TextAdded():
                        pieces = (one for one in event.pieces if one.kind is PartKind.TEXT)
                        text += "".join(one.text for one in pieces)
                    case Finished(stats):
                        over, count = True, stats.generated_tokens
                    case Failed():
                        over = True
                        raise EnvironmentProblem(event.told.code, quotes=False, **event.told.facts)
                    case Loading() | Loaded() | Unloaded() | InMemory():
                        self._engine.follow(event)
        finally:
            self._engine.streams.discard(stream)
            if not over:
                stream.cancel()
                self._left.add(left := asyncio.ensure_future(self._follow_to_end(stream)))
                left.add_done_callback(self._left.discard)
        return Draft(text, count)

    async def _follow_to_end(self, stream: Stream) -> None:
        """Follow the engine's events after a cancel."""
        async for event in stream:
            if isinstance(event, Loading | Loaded | Unloaded | InMemory):
                self._engine.follow(event)


class ServerDrafts:
    """Finds the draft of each reply."""

    def __init__(
        self,
        runner: Runner,
        loader: Loader,
        models: Models,
        preferences: Preferences,
        broadcast: Broadcast,
    ) -> None:
        self._runner = runner
        self._loader = loader
        self._models = models
        self._preferences = preferences
        self._broadcast = broadcast
        # changed on the session's thread
        self._streams: set[Stream] = set()
        loader.on_request(self._make_way)

    def _make_way(self) -> None:
        """Cancel all drafts: this computer is about to write a reply."""
        for stream in list(self._streams):
            stream.cancel()

    async def of_reply(self, asked: Asked, request: RemoteRequest) -> ServerDraft | None:
        """The draft for a reply; None if drafting is off or impossible."""
        wanted = request.speculation.draft
        # no local model is loaded for a server unless the user chose it
        if wanted in ("", OWN_LAYERS, AUTOMATIC) or not request.model.checks_drafts:
            return None
        if not drafts_possible(request):
            return None
        model = await asyncio.to_thread(self._find, wanted)
        if model is None:
            return None
        settings = self._preferences.current
        load = LoadRequest(model, settings.engine)
        # images become text, as for every model without vision
        messages = tuple(replace(one, images=()) for one in request.messages)
        drafting = GenerationRequest(
            load,
            messages,
            Sampling(temperature=0),
            chat_id=asked.chat.id,
            thinking="off",
            speculation=Speculation(enabled=False),
            retention=decide(settings, asked.chat),
            audience=of_chat(asked.chat),
        )
        prompt = None
        if request.model.checks_text:
            prompt = await asyncio.to_thread(draft_prompt, model, request)
        engine = Engine(
            self._runner, self._follower(load), lambda: self._loader.writing, self._streams
        )
        return ServerDraft(engine, drafting, prompt)

    def _find(self, key: str) -> ModelRef | None:
        try:
            return self._models.find(key)
        except ModelProblem:
            # the panel reports it
            return None

    def _follower(self, load: LoadRequest) -> Callable[[GenerationEvent], None]:
        loop = asyncio.get_running_loop()

        def follow(event: GenerationEvent) -> None:
            self._loader.follow(event, load)
            if isinstance(event, InMemory) and self._loader.has_loaded(load.model):
                # loaded as a target, it drafts for the server's model
                self._broadcast.tell(DraftState(load.model.name, True))

        def post(event: GenerationEvent) -> None:
            try:
                loop.call_soon_threadsafe(follow, event)
            except RuntimeError:
                log.debug("nobody listens any more")

        return post


def draft_prompt(model: ModelRef, request: RemoteRequest) -> str | None:
    """The chat rendered with the draft's template, for a server that takes plain text; None if the
    draft has no usable template."""
    # templates are slow to import, and few servers need them
    from headstart.engine.template import TemplateError

    try:
        status = model.path.stat()
        facts, template = _template(model, status.st_size, status.st_mtime_ns)
        if template.fallback is not None:
            return None
        prompt = template.render(request.messages)
    except (ModelProblem, OSError, TemplateError):
        return None
    # the server's tokenizer adds it
    return prompt.removeprefix(facts.begin) if facts.begins and facts.begin else prompt


@functools.lru_cache(maxsize=8)
def _template(model: ModelRef, _size: int, _changed: int) -> tuple[TemplateFacts, ChatTemplate]:
    from headstart.engine.template import choose
    from headstart.hub.chat_templates import read_template

    facts = read_template(model)
    return facts, choose(facts.source, facts.begin, facts.end, frozenset())
