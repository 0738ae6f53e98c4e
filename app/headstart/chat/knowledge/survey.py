"""A question asked of every document of a chat: each is read whole, then one reply answers over the
notes. On the event loop's thread.

A document's prompt begins with it and nothing else, so its computed state serves all questions; the
notes become parts of the question's message, as found passages do.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import TypeVar

from msgspec import Struct
from msgspec.structs import replace

from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import BranchChanged
from headstart.chat.databases import Databases
from headstart.chat.knowledge.asking import PassageFinder, question_of, tokens_of
from headstart.chat.knowledge.costs import PinCost, PromptCosts
from headstart.chat.knowledge.pinning import Pinning
from headstart.chat.knowledge.searching import KnowledgeSearching
from headstart.chat.preferences import Preferences
from headstart.chat.prefixes import Prefixes
from headstart.chat.reply import ReplyStream
from headstart.chat.requests import Asked, new_question
from headstart.core.chats.attachments import about_tokens
from headstart.core.chats.parts import CoveragePart, Part, PartKind, PassagePart
from headstart.core.chats.values import Chat, FinishReason, Message, TurnStats, new_id, now_ms
from headstart.core.errors import EnvironmentProblem
from headstart.core.events import (
    DocumentsRead,
    Failed,
    Finished,
    GenerationEvent,
    Prefilling,
    TextAdded,
)
from headstart.core.knowledge.passages import passages_in
from headstart.core.knowledge.pinned import DocumentText
from headstart.core.knowledge.survey import (
    INSTRUCTIONS,
    NOTE_TOKENS,
    Stretch,
    SurveyDocument,
    document_begin,
    document_owner,
    fitted,
    is_document,
    noted,
    room_for_notes,
    shared_texts,
    smaller_stretch,
    stretch_tokens,
    stretches,
)
from headstart.core.models.ref import AnyModel, ModelRef
from headstart.core.retention import Retention, decide
from headstart.core.servers import ServerModel
from headstart.core.settings.inheritance import effective
from headstart.core.settings.schema import ChatOptions, SamplingChoice

log = logging.getLogger(__name__)

# tokens of a stretch below which a document is given up
_LEAST_STRETCH = 400
# problems of a prompt that one with a smaller stretch may not have
_TOO_LONG = frozenset(("message-too-long", "chat-too-long", "system-prompt-too-long"))

P = TypeVar("P", bound=Part)
Ask = Callable[[Asked], Awaitable[ReplyStream]]


class SurveyPlan(Struct, frozen=True):
    """`kept`: digests of documents whose state is on disk; `tokens`: of the others, estimated."""

    documents: tuple[SurveyDocument, ...] = ()
    kept: frozenset[str] = frozenset()
    tokens: int = 0
    cost: PinCost = PinCost()


class Surveying:
    def __init__(
        self,
        files: tuple[KnowledgeSearching, Pinning, PassageFinder],
        databases: Databases,
        parts: tuple[Preferences, Broadcast],
        contexts: Callable[[], dict[str, int]],
        costs: tuple[PromptCosts, Prefixes],
    ) -> None:
        """`contexts`: tokens of context of each loaded model, by key."""
        self._costs, self._prefixes = costs
        self._searching, self._pinning, self._passages = files
        self._databases = databases
        self._preferences, self._broadcast = parts
        self._contexts = contexts

    async def documents(self, chat: Chat, model_key: str) -> list[SurveyDocument]:
        """The documents that stand first in a chat's prompts, and those of its sources, each once.
        Raises EnvironmentProblem."""
        found: dict[str, SurveyDocument] = {}
        for one in self._pinning.documents(chat):
            text = await self._pinning.text(one) or ""
            paged = one.name.lower().endswith(".pdf")
            found[one.digest] = SurveyDocument(
                one.source, one.path, one.digest, about_tokens(text), paged
            )
        sources = self._passages.sources(chat, model_key)
        for document in await self._searching.documents(sources):
            found.setdefault(document.digest, document)
        return list(found.values())

    async def plan(self, chat: Chat) -> SurveyPlan:
        """The documents that a question would be asked, and the cost. Raises EnvironmentProblem."""
        model = await self._costs.model(chat)
        key = chat.model or "" if model is None else model.key
        documents = await self.documents(chat, key)
        owners = tuple(await self._prefixes.owners())

        def is_kept(document: SurveyDocument) -> bool:
            begins = document_owner(document.digest, key)
            return any(one.startswith(begins) for one in owners)

        kept = frozenset(one.digest for one in documents if is_kept(one))
        new = sum(one.tokens for one in documents if one.digest not in kept)
        return SurveyPlan(tuple(documents), kept, new, await self._costs.cost(chat, new))

    async def name_state(
        self, chat: Chat, documents: Sequence[DocumentText], model: AnyModel
    ) -> None:
        """Name the owners of what a model computes for a chat's documents, if that is stored."""
        if not isinstance(model, ModelRef):
            return
        if decide(self._preferences.current, chat) is not Retention.DISK:
            return
        names = {
            shared.owner: f"{one.name} · {model.name}"
            for shared, one in zip(shared_texts(documents, model.key), documents, strict=False)
        }
        if names:
            await self._databases.on_disk.run(lambda store: store.sessions.use_all(names))

    async def tidy(self) -> None:
        """Forget the state of documents that are in no folder any more: it has their words."""
        try:
            await self._forget_gone()
        except EnvironmentProblem as problem:
            # the program ends, or a disk refuses: the next look tries it
            log.info("the state of documents was not looked at: %s", problem.for_log)

    async def _forget_gone(self) -> None:
        storage = self._databases.on_disk
        named = await storage.run(lambda store: store.sessions.named())
        owners = [one for one in named if is_document(one)]
        if not owners:
            return
        kept = tuple(document_begin(one) for one in await self._searching.digests())
        gone = [one for one in owners if not one.startswith(kept)]
        for owner in gone:
            await self._prefixes.forget(owner)
        if gone:
            await storage.run(lambda store: store.sessions.forget(gone))

    async def text(self, document: SurveyDocument) -> str | None:
        return await self._pinning.text(document.pinned)

    def context(self, model: AnyModel) -> int:
        """Tokens of a model's context, 0 if unknown."""
        if isinstance(model, ServerModel):
            return model.context_length
        return self._contexts().get(model.key, 0)

    async def store(self, chat: Chat, question: Message) -> None:
        """Store the notes so far with the question, and show them."""
        await self._databases.run(
            chat.id, lambda store: store.messages.set_parts(question.id, question.parts)
        )
        self._broadcast.tell(BranchChanged(chat.id))

    async def request(
        self, asked: Asked, model: AnyModel, document: SurveyDocument, stretch: Stretch
    ) -> Asked:
        """The question of `asked` to one document, as a chat of its own that is never stored."""
        chat, question = asked.chat, asked.branch[-1]
        settings = self._preferences.current
        chosen = effective(settings, chat.options, model.key, above=chat.above)
        options = ChatOptions(
            system_prompt=INSTRUCTIONS,
            sampling=SamplingChoice(
                temperature=0.0, max_tokens=NOTE_TOKENS, stop=(), bias=(), schema=""
            ),
            when_full="stop",
            thinking="off",
            speculation=chosen.speculation,
            tools_from=(),
            files_from=(),
            keep_on_disk=chat.options.keep_on_disk,
        )
        now, name = now_ms(), stretch.named(document.name)
        owner = document_owner(document.digest, model.key, stretch)
        own = Chat(owner, name, now, now, model=chat.model, options=options, private=chat.private)
        if decide(settings, own) is Retention.DISK:
            names = {owner: f"{name} · {model.name}"}
            await self._databases.on_disk.run(lambda store: store.sessions.use_all(names))
        words = question_of(asked.branch[:-1], question.text)
        return Asked(
            own,
            (new_question(owner, None, words),),
            new_id(),
            documents=(DocumentText(name, stretch.text),),
            beside=True,
        )

    def stream(
        self,
        asked: Asked,
        model: AnyModel,
        documents: Sequence[SurveyDocument],
        asks: tuple[Ask, Ask],
    ) -> ReplyStream:
        """The reply to a question, the last message of `asked`, over all documents. `asks`: how one
        document is asked, and how the answer over all notes is."""
        return _SurveyStream(self, asked, model, documents, asks)


class _SurveyStream:
    """A `ReplyStream`."""

    def __init__(
        self,
        desk: Surveying,
        asked: Asked,
        model: AnyModel,
        documents: Sequence[SurveyDocument],
        asks: tuple[Ask, Ask],
    ) -> None:
        self._desk = desk
        self._asked = asked
        self._model = model
        self._documents = documents
        self._ask, self._answer = asks
        self._stream: ReplyStream | None = None
        self._cancelled = False
        self._notes: list[PassagePart] = []
        self._read = self._found = 0
        self._unread: list[str] = []
        given = (one for message in asked.branch[:-1] for one in passages_in(message.parts))
        self._number = max((one.number for one in given), default=0) + 1

    def cancel(self) -> None:
        self._cancelled = True
        if self._stream is not None:
            self._stream.cancel()

    async def __aiter__(self) -> AsyncIterator[GenerationEvent]:
        try:
            async for event in self._events():
                yield event
        except EnvironmentProblem as problem:
            yield Failed(problem.told)

    async def _events(self) -> AsyncIterator[GenerationEvent]:
        total = len(self._documents)
        for number, document in enumerate(self._documents):
            yield DocumentsRead(number, total, document.name)
            async for event in self._read_whole(document):
                if isinstance(event, Prefilling):
                    share = event.done / max(1, event.total)
                    yield DocumentsRead(number, total, document.name, share)
                    continue
                yield event
                if isinstance(event, Failed):
                    return
            if self._cancelled:
                break
            await self._store()
        if self._cancelled:
            yield Finished(TurnStats(FinishReason.CANCELLED, 0, 0, 0.0, None, 0, 0.0))
            return
        yield DocumentsRead(total, total)
        await self._store(self._room)
        self._stream = await self._answer(self._asked)
        if self._cancelled:
            # meanwhile
            self._stream.cancel()
        async for event in self._stream:
            yield event

    async def _read_whole(self, document: SurveyDocument) -> AsyncIterator[GenerationEvent]:
        """Read a document, in stretches if it is longer than the context. Its notes count once all
        of it was read."""
        text = await self._desk.text(document)
        if not text:
            self._unread.append(document.name)
            return
        most = stretch_tokens(self._desk.context(self._model))
        while not self._cancelled:
            notes: list[PassagePart] = []
            failed: Failed | None = None
            for stretch in await asyncio.to_thread(stretches, text, most, document.paged):
                pieces: list[str] = []
                async for event in self._read_stretch(document, stretch):
                    if isinstance(event, TextAdded):
                        pieces += [one.text for one in event.pieces if one.kind is PartKind.TEXT]
                    elif isinstance(event, Failed):
                        failed = event
                    elif not isinstance(event, Finished):
                        yield event
                if failed is not None or self._cancelled:
                    break
                at = self._number + len(notes)
                notes += await asyncio.to_thread(
                    noted, document, text, stretch, "".join(pieces), at
                )
            if self._cancelled:
                return
            if failed is None:
                self._keep(notes)
                return
            if failed.told.code not in _TOO_LONG:
                yield failed
                return
            most = smaller_stretch(stretch, failed.told.facts)
            if most < _LEAST_STRETCH:
                self._unread.append(document.name)
                return

    async def _read_stretch(
        self, document: SurveyDocument, stretch: Stretch
    ) -> AsyncIterator[GenerationEvent]:
        asked = await self._desk.request(self._asked, self._model, document, stretch)
        self._stream = await self._ask(asked)
        if self._cancelled:
            # meanwhile
            self._stream.cancel()
        async for event in self._stream:
            yield event

    def _keep(self, notes: Sequence[PassagePart]) -> None:
        self._read += 1
        self._found += bool(notes)
        self._notes += notes
        self._number += len(notes)

    @property
    def _room(self) -> int:
        return room_for_notes(self._desk.context(self._model), tokens_of(self._asked.branch[:-1]))

    async def _store(self, room: int | None = None) -> None:
        """Store the notes so far with the question; at the end those for which there is room."""
        notes, short = (self._notes, 0) if room is None else fitted(self._notes, room)
        coverage = CoveragePart(
            len(self._documents), self._read, self._found, tuple(self._unread), short
        )
        branch = self._asked.branch
        parts: tuple[Part, ...] = (coverage, *notes, *without_files(branch[-1].parts))
        question = replace(branch[-1], parts=parts)
        self._asked = replace(self._asked, branch=(*branch[:-1], question))
        await self._desk.store(self._asked.chat, question)


def without_files(parts: Sequence[P]) -> tuple[P, ...]:
    """The parts of a question without those that its files gave."""
    return tuple(one for one in parts if not isinstance(one, PassagePart | CoveragePart))
