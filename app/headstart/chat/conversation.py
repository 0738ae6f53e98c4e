"""Actions in a chat: send, edit, regenerate, continue, show another version.

On the event loop's thread. The user's text is stored before the first token exists, and survives
whatever the engine does afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from headstart.chat.answering.answerer import Answering
from headstart.chat.branches import Branches
from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import BranchChanged, ChatChanged, What
from headstart.chat.databases import Databases
from headstart.chat.knowledge.asking import PassageSearch
from headstart.chat.knowledge.survey import without_files
from headstart.chat.replies import Replies
from headstart.chat.requests import Asked, new_question, open_reply
from headstart.chat.titles import title_from, title_of
from headstart.core.chats.parts import CoveragePart, OtherPart, Part
from headstart.core.chats.values import Chat, Message, MessageStatus
from headstart.core.errors import EnvironmentProblem
from headstart.core.knowledge.survey import SurveyDocument
from headstart.core.models.ref import AnyModel
from headstart.core.settings.schema import ChatOptions, SamplingChoice
from headstart.core.told import told


class _Question(Struct, frozen=True):
    """A question to be stored. `every`: each document of the chat is asked; `fresh`: the chat is
    stored with it; `edited`: it was asked before, and its documents may be gone."""

    chat: Chat
    text: str
    others: tuple[OtherPart, ...] = ()
    every: bool = False
    fresh: bool = False
    edited: bool = False


class Conversation:
    """Every action raises ModelProblem, ConsentNeeded or DoubtfulPassages before anything is
    stored."""

    def __init__(
        self,
        databases: Databases,
        branches: Branches,
        replies: Replies,
        answering: Answering,
        broadcast: Broadcast,
    ) -> None:
        self._databases = databases
        self._branches = branches
        self._replies = replies
        self._answering = answering
        self._broadcast = broadcast

    async def send(
        self, chat_id: str, text: str, others: Sequence[OtherPart] = (), every: bool = False
    ) -> None:
        """Append a user message with the attachments `others`, and answer it; `every`: over notes
        on every document of the chat, each read whole."""
        async with self._replies.starting:
            self._replies.check_free(chat_id)
            await self._databases.outbox.try_now()
            chat = await self._branches.chat(chat_id)
            if chat is None:
                raise EnvironmentProblem("chat-gone")
            model = await self._answering.model_of(chat)
            draft = self._databases.begun(chat_id)
            if draft is not None:
                title = title_from(text) if text or not others else title_of(others[0])
                # with the options of its folders
                chat = replace(draft.chat(title, model.key), above=chat.above)
            branch = await self._branches.whole(chat_id)
            asked = _Question(chat, text, tuple(others), every, draft is not None)
            await self._ask(asked, branch, model)

    async def edit(self, chat_id: str, message_id: str, text: str) -> None:
        """Add a new version of a user message beside the old one, and answer it."""
        async with self._replies.starting:
            chat, before, message = await self._find(chat_id, message_id)
            model = await self._answering.model_of(chat)
            others = without_files(message.others)
            every = any(isinstance(one, CoveragePart) for one in message.parts)
            await self._ask(_Question(chat, text, others, every, edited=True), before, model)
        if not before:
            title = title_from(text)
            await self._databases.change(
                chat_id, What.TITLE, lambda store: store.chats.rename(chat_id, title, by_user=False)
            )

    async def search_again(self, chat_id: str, message_id: str) -> None:
        """Add a new version of a question with the passages that its files have now."""
        _, _, message = await self._find(chat_id, message_id)
        await self.edit(chat_id, message_id, message.text)

    async def answer(self, chat_id: str, message_id: str) -> None:
        """Answer a user message that has no answer, or answer it once more."""
        async with self._replies.starting:
            chat, before, message = await self._find(chat_id, message_id)
            model = await self._answering.model_of(chat)
            self._answering.check(model)
            answer = open_reply(chat.id, message.id, model)
            await self._databases.run(chat_id, lambda store: store.messages.add([answer]))
            await self._start(chat, [*before, message], answer, model)

    async def regenerate(
        self,
        chat_id: str,
        message_id: str,
        other: AnyModel | None = None,
        temperature: float | None = None,
    ) -> None:
        """Write a new version of a reply beside the old one, with the model `other` or another
        `temperature` for this one reply."""
        async with self._replies.starting:
            chat, before, message = await self._find(chat_id, message_id)
            if temperature is not None:
                chat = replace(chat, options=_with_temperature(chat.options, temperature))
            model = other or await self._answering.model_of(chat)
            self._answering.check(model)
            answer = open_reply(chat.id, message.parent_id, model)
            await self._databases.run(chat_id, lambda store: store.messages.add([answer]))
            await self._start(chat, before, answer, model)

    async def continue_reply(self, chat_id: str, message_id: str) -> None:
        """Continue a stopped or interrupted reply exactly where it ended."""
        async with self._replies.starting:
            chat, before, message = await self._find(chat_id, message_id)
            model = await self._answering.model_of(chat)
            await self._databases.run(chat_id, lambda store: store.messages.reopen(message_id))
            self._branches.end_unsaved(message_id)
            await self._start(chat, before, message, model, message.parts)

    async def show_version(self, chat_id: str, message_id: str, step: int) -> None:
        """Show another version of a message and its continuation; not while a reply is written."""
        async with self._replies.starting:
            if self._replies.reply_in(chat_id) is not None:
                return
            await self._databases.run(
                chat_id, lambda store: store.messages.show_version(message_id, step)
            )
        self._broadcast.tell(BranchChanged(chat_id))

    # --- inside --------------------------------------------------------------------------

    async def _find(self, chat_id: str, message_id: str) -> tuple[Chat, list[Message], Message]:
        """The chat, the messages before a message of its branch, and the message."""
        self._replies.check_free(chat_id)
        # a reply that waits for the disk comes before what follows it
        await self._databases.outbox.try_now()
        chat = await self._branches.chat(chat_id)
        branch = await self._branches.whole(chat_id)
        at = next((index for index, item in enumerate(branch) if item.id == message_id), None)
        if chat is None or at is None:
            raise EnvironmentProblem("message-gone")
        return chat, branch[:at], branch[at]

    async def _ask(self, asked: _Question, before: list[Message], model: AnyModel) -> None:
        """Store a question after `before` (and the chat itself when `fresh`), then answer it."""
        chat, answering = asked.chat, self._answering
        documents: list[SurveyDocument] = []
        found = PassageSearch()
        if asked.every:
            documents = await answering.surveying.documents(chat, model.key)
            if not documents and not asked.edited:
                raise EnvironmentProblem("survey-without-documents")
        if not documents:
            found = await answering.passages.find(chat, before, asked.text, model)
        parent = before[-1].id if before else None
        # it is known as a question to every document, whatever happens from here on
        files = (CoveragePart(len(documents)),) if documents else found.for_message
        question = new_question(chat.id, parent, asked.text, (*files, *asked.others))
        answer = open_reply(chat.id, question.id, model)
        created = chat if asked.fresh else None
        await self._databases.run(
            chat.id, lambda store: store.messages.add([question, answer], created)
        )
        self._databases.end_begun(chat.id)
        branch = [*before, question]
        if documents:
            # the documents are asked once the reply is followed
            whole = Asked(chat, tuple(branch), answer.id, (), answer.model_key or "")
            self._replies.begin(answer, answering.survey(model, whole, documents))
            self._tell(chat.id, asked.fresh)
        else:
            await self._start(chat, branch, answer, model, fresh=asked.fresh)

    async def _start(
        self,
        chat: Chat,
        before: list[Message],
        answer: Message,
        model: AnyModel,
        written: tuple[Part, ...] = (),
        fresh: bool = False,
    ) -> None:
        asked = Asked(chat, tuple(before), answer.id, written, answer.model_key or "")
        try:
            self._replies.begin(answer, await self._answering.answer(model, asked))
        except Exception as error:
            # the question is stored: its reply must not stay open forever
            why = told("internal-kind", kind=type(error).__name__)
            text = (error.told if isinstance(error, EnvironmentProblem) else why).stored
            await self._databases.run(
                chat.id,
                lambda store: store.messages.finish(
                    answer.id, written, MessageStatus.FAILED, None, text
                ),
            )
            raise
        finally:
            self._tell(chat.id, fresh)

    def _tell(self, chat_id: str, fresh: bool) -> None:
        if fresh:
            self._broadcast.tell(ChatChanged(chat_id, What.ADDED))
        self._broadcast.tell(BranchChanged(chat_id))


def _with_temperature(options: ChatOptions, temperature: float) -> ChatOptions:
    own = options.sampling or SamplingChoice()
    sampling = msgspec.structs.replace(own, temperature=temperature)
    return msgspec.structs.replace(options, sampling=sampling)
