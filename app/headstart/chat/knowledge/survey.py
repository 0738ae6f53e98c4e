"""A question asked of every document of a chat: each is read whole, then one reply answers over the
notes. On the event loop's thread.

A document's prompt begins with it and nothing else, so its computed state serves all questions; the
notes become parts of the question's message, as found passages do.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import TypeVar

from msgspec import Struct

from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import BranchChanged
from headstart.chat.databases import Databases
from headstart.chat.knowledge.asking import PassageFinder, question_of, tokens_of
from headstart.chat.knowledge.costs import PinCost, PromptCosts
from headstart.chat.knowledge.pinning import Pinning
from headstart.chat.knowledge.searching import KnowledgeSearching
from headstart.chat.preferences import Preferences
from headstart.chat.prefixes import Prefixes
from headstart.chat.requests import Asked, new_question
from headstart.core.audiences import of_chat
from headstart.core.chats.attachments import about_tokens
from headstart.core.chats.parts import CoveragePart, Part, PassagePart, SearchPart
from headstart.core.chats.prompt_words import prompt_text
from headstart.core.chats.values import Chat, Message, new_id, now_ms
from headstart.core.errors import EnvironmentProblem
from headstart.core.knowledge.pinned import DocumentText
from headstart.core.knowledge.survey import (
    INSTRUCTIONS,
    Stretch,
    SurveyDocument,
    begin_of,
    document_begin,
    document_owner,
    is_document,
    room_for_notes,
    shared_texts,
    whole_owner,
)
from headstart.core.models.ref import AnyModel, ModelRef
from headstart.core.retention import Retention, decide
from headstart.core.servers import ServerModel
from headstart.core.settings.inheritance import effective
from headstart.core.settings.schema import ChatOptions, SamplingChoice

log = logging.getLogger(__name__)

P = TypeVar("P", bound=Part)


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
        # without the numbers of parts
        owners = {whole_owner(one) for one in await self._prefixes.owners()}
        kept = frozenset(
            one.digest for one in documents if document_owner(one.digest, key) in owners
        )
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
        kept = {document_begin(one) for one in await self._searching.digests()}
        gone = [one for one in owners if begin_of(one) not in kept]
        for owner in gone:
            await self._prefixes.forget(owner)
        if gone:
            await storage.run(lambda store: store.sessions.forget(gone))

    async def text(self, chat: Chat, document: SurveyDocument) -> str | None:
        """The text of a document; None if it is gone, or its folder was removed meanwhile."""
        pinned = any(one.digest == document.digest for one in self._pinning.documents(chat))
        if not pinned and document.source not in self._preferences.current.knowledge.sources:
            return None
        return await self._pinning.text(document.pinned)

    def context(self, model: AnyModel) -> int:
        """Tokens of a model's context, 0 if unknown."""
        if isinstance(model, ServerModel):
            return model.context_length
        return self._contexts().get(model.key, 0)

    def room(self, asked: Asked, model: AnyModel, documents: Sequence[SurveyDocument]) -> int:
        """Tokens for all notes of a question, the last message of `asked`."""
        *before, question = asked.branch
        used = tokens_of(before) + about_tokens(prompt_text(without_files(question.parts)))
        if not any(one.stats is not None for one in before):
            # nothing has counted what stands before the first question
            pinned = {one.digest for one in self._pinning.documents(asked.chat)}
            used += sum(one.tokens for one in documents if one.digest in pinned)
            chosen = effective(
                self._preferences.current, asked.chat.options, model.key, above=asked.chat.above
            )
            used += about_tokens(chosen.system_prompt)
        return room_for_notes(self.context(model), used)

    async def store(self, chat: Chat, question: Message) -> None:
        """Store the notes so far with the question, and show them."""
        await self._databases.run(
            chat.id, lambda store: store.messages.set_parts(question.id, question.parts)
        )
        self._broadcast.tell(BranchChanged(chat.id))

    async def request(
        self, asked: Asked, model: AnyModel, document: SurveyDocument, stretch: Stretch, most: int
    ) -> Asked:
        """The question of `asked` to one document, as a chat of its own that is never stored.
        `most`: tokens of the answer."""
        question = asked.branch[-1]
        # the user may have switched the disk off meanwhile
        chat = await self._databases.chat(asked.chat.id) or asked.chat
        settings = self._preferences.current
        chosen = effective(settings, chat.options, model.key, above=chat.above)
        options = ChatOptions(
            system_prompt=INSTRUCTIONS,
            sampling=SamplingChoice(temperature=0.0, max_tokens=most, stop=(), bias=(), schema=""),
            when_full="stop",
            thinking="off",
            speculation=chosen.speculation,
            tools_from=(),
            files_from=(),
            keep_on_disk=chat.options.keep_on_disk,
        )
        now, name = now_ms(), stretch.named(document.name)
        stored = decide(settings, chat) is Retention.DISK
        alone = "" if stored else chat.id
        owner = document_owner(document.digest, model.key, stretch, alone)
        own = Chat(owner, name, now, now, model=chat.model, options=options, private=chat.private)
        if stored and isinstance(model, ModelRef):
            names = {owner: f"{name} · {model.name}"}
            await self._databases.on_disk.run(lambda store: store.sessions.use_all(names))
        words = question_of(asked.branch[:-1], question.text)
        return Asked(
            own,
            (new_question(owner, None, words),),
            new_id(),
            documents=(DocumentText(name, stretch.text),),
            beside=True,
            # of a private chat: gone with it
            audience=of_chat(chat),
        )


def without_files(parts: Sequence[P]) -> tuple[P, ...]:
    """The parts of a question without those that its files gave."""
    return tuple(
        one for one in parts if not isinstance(one, PassagePart | CoveragePart | SearchPart)
    )
