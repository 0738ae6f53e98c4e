"""Verbs on chats. The window calls these, listens to `changes`, and knows nothing below.

On the event loop's thread. Words are in the database before a token exists; whatever the engine
does afterwards, they stay.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from dataclasses import replace
from pathlib import Path
from typing import Any

from headstart.chat.assemble import new_question, open_reply, prompt_messages, reply_so_far
from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import (
    BranchChanged,
    ChatChanged,
    ReplyEnded,
    ReplyEvent,
    Trouble,
    What,
)
from headstart.chat.databases import Databases
from headstart.chat.exchange.markdown import to_markdown, write_file
from headstart.chat.local_models import LocalModels
from headstart.chat.models import Models
from headstart.chat.preferences import Preferences
from headstart.chat.prefixes import Prefixes
from headstart.chat.reply import Reply
from headstart.chat.servers import Servers
from headstart.chat.titles import NEW_CHAT, title_from
from headstart.core.errors import EnvironmentProblem
from headstart.core.events import AnyModel, GenerationEvent, GenerationRequest
from headstart.core.settings import (
    ChatOptions,
    effective_sampling,
    effective_speculation,
    effective_system_prompt,
    effective_when_full,
)
from headstart.core.values import (
    PAGE,
    BranchPage,
    Chat,
    ChatDraft,
    ChatSummary,
    Message,
    MessageStatus,
    ModelRef,
    Part,
)
from headstart.engine.prefix.store import PrefixStore
from headstart.engine.runner import Runner
from headstart.storage.keychain import Keychain
from headstart.storage.worker import Storage, Store

log = logging.getLogger(__name__)


# what a client takes to put a request together and send it, with nobody else computing
REQUEST_SECONDS = 0.004


# how long a deleted chat can be brought back; the window offers it a little shorter
UNDO_SECONDS = 10.0


class ChatService:
    def __init__(
        self,
        storage: Storage,
        runner: Runner,
        preferences: Preferences,
        prefix_store: PrefixStore | None = None,
        make_remote: Callable[[], Runner] | None = None,
        keychain: Keychain | None = None,
    ) -> None:
        """`runner` has the models on this computer, those of `make_remote` one server each."""
        self._databases = Databases(storage)
        self._runner = runner
        self._make_remote = make_remote
        # by connection: a server that is slow keeps no other one waiting
        self._remotes: dict[str, Runner] = {}
        self._preferences = preferences
        self.servers = Servers(preferences, keychain or Keychain())
        self.models = Models(preferences, self.servers)
        self.changes = Broadcast()
        self._tell = self.changes.tell
        self._replies: dict[str, Reply] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        # replies that could not be stored, by message id: shown as they are, journaled so far
        self._unsaved: dict[str, Message] = {}
        self._closing = False
        # deleted chats that can still be brought back
        self._undo: dict[str, asyncio.TimerHandle] = {}
        # a second Enter waits here and then sees that a reply is being written
        self._starting = asyncio.Lock()
        self.prefixes = Prefixes(prefix_store, preferences, self._tell)
        self.local = LocalModels(
            runner,
            preferences,
            self.models,
            self.prefixes,
            self.chat,
            self._chat_and_branch,
            self._writing_here,
            self._tell,
        )
        self.upcoming, self.ahead = self.local.upcoming, self.local.ahead
        for kind in (ChatChanged, BranchChanged):
            self.changes.on(kind, lambda _change: self.upcoming.forget())

    # --- reading -------------------------------------------------------------------------

    async def summaries(self) -> list[ChatSummary]:
        return await self._databases.summaries()

    async def chat(self, chat_id: str) -> Chat | None:
        """A stored chat, or one that was begun."""
        return await self._databases.chat(chat_id)

    def is_begun(self, chat_id: str) -> bool:
        """Whether the chat has no message yet, and is not stored."""
        return self._databases.begun(chat_id) is not None

    async def summary(self, chat_id: str) -> ChatSummary | None:
        """A chat's line in the list; None where it is in no list."""
        return await self._databases.summary(chat_id)

    async def branch(self, chat_id: str) -> list[Message]:
        """The active messages, from the first on."""
        return (await self.page(chat_id, count=0)).messages

    async def page(self, chat_id: str, before: str | None = None, count: int = PAGE) -> BranchPage:
        """The last `count` of the active messages, or of those before one of them; 0: all."""
        if self.is_begun(chat_id):
            return BranchPage([], 0)

        def read(store: Store) -> tuple[BranchPage, list[str]]:
            page = store.messages.page(chat_id, before, count)
            return page, store.messages.take_repaired()

        page, repaired = await self._databases.run(chat_id, read)
        if repaired:
            self._tell(
                Trouble(
                    "The order of this chat's messages was damaged and has been repaired.",
                    "Nothing was removed; versions may be in other places than before.",
                )
            )
        shown = [self._unsaved.get(message.id, message) for message in page.messages]
        return BranchPage(shown, page.earlier)

    async def message(self, chat_id: str, message_id: str) -> Message | None:
        """One message as it is now."""
        if message_id in self._unsaved:
            return self._unsaved[message_id]
        return await self._databases.run(chat_id, lambda store: store.messages.get(message_id))

    def reply_in(self, chat_id: str) -> Reply | None:
        """The reply being written in this chat."""
        return self._replies.get(chat_id)

    def writing_chats(self) -> frozenset[str]:
        return frozenset(self._replies)

    # --- writing -------------------------------------------------------------------------

    def begin(self, private: bool = False) -> ChatDraft:
        """A new chat, stored with its first message; of a private one nothing is ever on disk."""
        return self._databases.begin(private)

    def abandon(self, chat_id: str) -> None:
        """Nobody wants the chat that was begun any more."""
        self._databases.end_begun(chat_id)

    async def send(self, chat_id: str, text: str) -> None:
        """Add a user message at the end of the chat and answer it.

        Raises ModelProblem before anything is stored.
        """
        async with self._starting:
            self._check_free(chat_id)
            chat = await self.chat(chat_id)
            if chat is None:
                raise EnvironmentProblem("This chat is not there any more.", "Start a new one.")
            model = await self._answering(chat)
            draft = self._databases.begun(chat_id)
            if draft is not None:
                chat = draft.chat(title_from(text), model.key)
            await self._ask(chat, await self.branch(chat_id), text, model, fresh=draft is not None)

    async def edit(self, chat_id: str, message_id: str, text: str) -> None:
        """A new version of a user message beside the old one, and an answer to it."""
        async with self._starting:
            chat, branch, _ = await self._find(chat_id, message_id)
            model = await self._answering(chat)
            await self._ask(chat, _before(branch, message_id), text, model)
        if branch[0].id == message_id:
            await self._retitle(chat, text)

    async def regenerate(self, chat_id: str, message_id: str) -> None:
        """A new version of a reply beside the old one."""
        async with self._starting:
            chat, branch, message = await self._find(chat_id, message_id)
            model = await self._answering(chat)
            answer = open_reply(chat.id, message.parent_id, model)
            await self._databases.run(chat_id, lambda store: store.messages.add([answer]))
            await self._start(chat, _before(branch, message_id), answer, model)

    async def continue_reply(self, chat_id: str, message_id: str) -> None:
        """Go on writing a reply that was stopped or interrupted, word for word."""
        async with self._starting:
            chat, branch, message = await self._find(chat_id, message_id)
            model = await self._answering(chat)
            await self._databases.run(chat_id, lambda store: store.messages.reopen(message_id))
            self._unsaved.pop(message_id, None)
            await self._start(chat, _before(branch, message_id), message, model, message.parts)

    async def show_version(self, chat_id: str, message_id: str, step: int) -> None:
        async with self._starting:
            if chat_id in self._replies:
                return
            await self._databases.run(
                chat_id, lambda store: store.messages.show_version(message_id, step)
            )
        self._tell(BranchChanged(chat_id))
        await self.ahead.read(chat_id)

    def stop(self, chat_id: str) -> None:
        reply = self._replies.get(chat_id)
        if reply is not None:
            reply.stop()

    # --- the list ------------------------------------------------------------------------

    async def rename(self, chat_id: str, title: str) -> None:
        title = " ".join(title.split()) or NEW_CHAT
        await self._change(
            chat_id, What.TITLE, lambda store: store.chats.rename(chat_id, title, by_user=True)
        )

    async def pin(self, chat_id: str, pinned: bool) -> None:
        await self._change(chat_id, What.PINNED, lambda store: store.chats.pin(chat_id, pinned))

    async def delete(self, chat_id: str) -> None:
        """Hide the chat; `undo_delete` brings it back within `UNDO_SECONDS`, then it is gone."""
        async with self._starting:
            self.stop(chat_id)
            await self._change(chat_id, What.DELETED, lambda store: store.chats.delete(chat_id))
        self._end_undo(chat_id)
        self._undo[chat_id] = asyncio.get_running_loop().call_later(
            UNDO_SECONDS, lambda: self._keep(self._purge(chat_id))
        )

    async def undo_delete(self, chat_id: str) -> None:
        self._end_undo(chat_id)
        await self._change(chat_id, What.RESTORED, lambda store: store.chats.restore(chat_id))

    def _end_undo(self, chat_id: str) -> None:
        timer = self._undo.pop(chat_id, None)
        if timer is not None:
            timer.cancel()

    async def _purge(self, chat_id: str) -> None:
        """The undo is over: nothing of the chat stays."""
        if self._undo.pop(chat_id, None) is None:
            return
        try:
            await self.prefixes.forget(chat_id)
            await self._databases.of(chat_id).purge(chat_id)
        except EnvironmentProblem as problem:
            log.warning("a deleted chat is removed at the next start: %s", problem)

    async def set_options(self, chat_id: str, options: ChatOptions) -> None:
        draft = self._databases.begun(chat_id)
        if draft is not None:
            self._databases.change_begun(replace(draft, options=options))
            self.upcoming.forget()
            return
        await self._databases.run(chat_id, lambda store: store.chats.set_options(chat_id, options))
        self.upcoming.forget()
        if not self._databases.is_private(chat_id):
            await self.prefixes.allow(chat_id, options.keep_on_disk)

    async def set_model(self, chat_id: str, model: AnyModel) -> None:
        """The model of this chat and of new ones; a private chat's choice is not kept.

        Raises ConsentNeeded for a server that words may not be sent to yet.
        """
        self.servers.check_allowed(model)
        if not self._databases.is_private(chat_id):
            self._preferences.update(model=model.key)
        draft = self._databases.begun(chat_id)
        if draft is not None:
            self._databases.change_begun(replace(draft, model=model.key))
            self.upcoming.forget()
        else:
            await self._change(
                chat_id, What.MODEL, lambda store: store.chats.set_model(chat_id, model.key)
            )

    async def export_markdown(self, chat_id: str, path: Path) -> None:
        """Write the active branch to `path`; the file is complete or not there."""
        chat = await self.chat(chat_id)
        if chat is None:
            raise EnvironmentProblem("This chat is not there any more.", "")
        branch = await self.branch(chat_id)
        reply = self._replies.get(chat_id)
        if reply is not None:
            branch = [
                replace(message, parts=reply.parts) if message.id == reply.message_id else message
                for message in branch
            ]
        system = effective_system_prompt(self._preferences.current, chat.options)
        text = to_markdown(chat, branch, system)
        await asyncio.to_thread(write_file, path, text)

    async def close(self) -> None:
        """Stop every reply, store what it wrote, end the engine."""
        self._closing = True
        self.local.cancel()
        for chat_id in list(self._undo):
            self._undo[chat_id].cancel()
            await self._purge(chat_id)
        async with self._starting:
            for reply in list(self._replies.values()):
                reply.stop()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=3)
        for task in list(self._tasks):
            task.cancel()
        for result in await asyncio.gather(*self._tasks, return_exceptions=True):
            if isinstance(result, Exception):
                log.error("a reply ended badly while closing", exc_info=result)
        await asyncio.to_thread(self._runner.close)
        self.servers.close()
        for remote in self._remotes.values():
            await asyncio.to_thread(remote.close)

    async def close_private(self) -> None:
        """End private chats, when nobody asks for them any more."""
        await self._databases.close()

    # --- inside --------------------------------------------------------------------------

    def _check_free(self, chat_id: str) -> None:
        if chat_id in self._replies:
            raise EnvironmentProblem("A reply is being written here.", "Stop it first.")
        if self._closing:
            raise EnvironmentProblem("Headstart is closing.", "")

    async def _chat_and_branch(self, chat_id: str) -> tuple[Chat, list[Message]] | None:
        chat = await self.chat(chat_id)
        return None if chat is None else (chat, await self.branch(chat_id))

    def _writing_here(self) -> bool:
        """Whether this computer writes a reply."""
        return any(reply.here for reply in self._replies.values())

    async def _answering(self, chat: Chat) -> AnyModel:
        """The model that answers in this chat; raises ConsentNeeded, ModelProblem."""
        model = await self.models.of_chat(chat)
        self.servers.check_allowed(model)
        return model

    async def _find(self, chat_id: str, message_id: str) -> tuple[Chat, list[Message], Message]:
        self._check_free(chat_id)
        chat = await self.chat(chat_id)
        branch = await self.branch(chat_id)
        message = next((item for item in branch if item.id == message_id), None)
        if chat is None or message is None:
            raise EnvironmentProblem("This message is not there any more.", "")
        return chat, branch, message

    async def _ask(
        self, chat: Chat, before: list[Message], text: str, model: AnyModel, fresh: bool = False
    ) -> None:
        """Store a question after `before` (and the chat itself when `fresh`), then answer it."""
        question = new_question(chat.id, before[-1].id if before else None, text)
        answer = open_reply(chat.id, question.id, model)
        created = chat if fresh else None
        await self._databases.run(
            chat.id, lambda store: store.messages.add([question, answer], created)
        )
        self._databases.end_begun(chat.id)
        await self._start(chat, [*before, question], answer, model, fresh=fresh)

    async def _start(
        self,
        chat: Chat,
        before: list[Message],
        answer: Message,
        model: AnyModel,
        written: tuple[Part, ...] = (),
        fresh: bool = False,
    ) -> None:
        settings = self._preferences.current
        speculation = effective_speculation(settings, chat.options)
        here = model if isinstance(model, ModelRef) else None
        draft = await self.local.draft_of(speculation, here) if here is not None else None
        request = GenerationRequest(
            model=model,
            messages=prompt_messages(before, effective_system_prompt(settings, chat.options)),
            sampling=effective_sampling(settings, chat.options),
            engine=settings.engine,
            when_full=effective_when_full(settings, chat.options),
            chat_id=chat.id,
            reply_so_far=reply_so_far(written),
            speculation=speculation,
            draft=draft,
            reply_key=answer.id,
            keep_on_disk=self.prefixes.may_be_on_disk(chat),
        )
        message_id = answer.id

        if here is not None:
            self.local.make_way(here, settings.engine, draft)

        def tell(event: GenerationEvent) -> None:
            if here is not None:
                self.local.follow(event, here, settings.engine, draft)
            self._tell(ReplyEvent(chat.id, message_id, event))

        reply = Reply(
            self._databases.of(chat.id),
            chat.id,
            message_id,
            written,
            self._runner_of(model).stream(request),
            tell,
            here=here is not None,
        )
        self._replies[chat.id] = reply
        self._keep(self._drive(reply, before))
        if here is None:
            # the request is on its way before the window draws what is new
            await asyncio.sleep(REQUEST_SECONDS)
        if fresh:
            self._tell(ChatChanged(chat.id, What.ADDED))
        self._tell(BranchChanged(chat.id))

    def _runner_of(self, model: AnyModel) -> Runner:
        if isinstance(model, ModelRef):
            return self._runner
        assert self._make_remote is not None, "put together without servers"
        if model.connection.id not in self._remotes:
            self._remotes[model.connection.id] = self._make_remote()
        return self._remotes[model.connection.id]

    async def _drive(self, reply: Reply, before: list[Message]) -> None:
        try:
            await reply.run()
        except EnvironmentProblem as problem:
            log.error("a reply could not be stored: %s", problem)
            await self._keep_unsaved(reply, problem)
        finally:
            self._replies.pop(reply.chat_id, None)
            since = self.upcoming.forget()
            self._tell(ReplyEnded(reply.chat_id, reply.message_id))
        if not self._closing:
            # the next prompt begins with what this reply was made of
            chat = await self.chat(reply.chat_id)
            answer = await self.message(reply.chat_id, reply.message_id)
            if chat is not None and answer is not None:
                self.upcoming.know(chat, [*before, answer], since)
        if not self._closing:
            # the tokens that close the reply; then whatever is looked at and typed
            await self.ahead.read(reply.chat_id)
            if self.ahead.shown != reply.chat_id:
                await self.ahead.read_shown()

    async def _keep_unsaved(self, reply: Reply, problem: EnvironmentProblem) -> None:
        """The text stays on the screen and can be copied; the journal has all but the last."""
        self._tell(Trouble(f"This reply could not be saved. {problem.message}", problem.remedy))
        message = await self.message(reply.chat_id, reply.message_id)
        if message is not None:
            self._unsaved[message.id] = replace(
                message,
                parts=reply.parts,
                status=MessageStatus.STOPPED,
                error=f"Not saved yet: {problem.message}",
            )

    async def _retitle(self, chat: Chat, text: str) -> None:
        title = title_from(text)
        await self._change(
            chat.id, What.TITLE, lambda store: store.chats.rename(chat.id, title, by_user=False)
        )

    async def _change(self, chat_id: str, what: What, call: Callable[[Any], object]) -> None:
        await self._databases.run(chat_id, call)
        self._tell(ChatChanged(chat_id, what))

    def _keep(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _before(branch: list[Message], message_id: str) -> list[Message]:
    at = next(index for index, item in enumerate(branch) if item.id == message_id)
    return branch[:at]
