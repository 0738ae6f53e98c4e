"""The single async seam: widgets call plain methods, the chat service is awaited here.

Every call becomes a task on the event loop. Environment problems are shown, bugs are logged
with their traceback and shown too; neither closes the window.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from PySide6.QtCore import QObject, Signal

from headstart.chat.changes import (
    AheadState,
    BranchChanged,
    ChatChanged,
    DraftProgress,
    DraftState,
    Measured,
    ModelState,
    PrefixesChanged,
    ReplyEnded,
    ReplyEvent,
    Trouble,
    What,
)
from headstart.chat.servers import ConsentNeeded
from headstart.chat.service import ChatService
from headstart.core.errors import EnvironmentProblem
from headstart.core.events import (
    AnyModel,
    ContextUse,
    Failed,
    Guessing,
    Loading,
    Notice,
    Reading,
    TextAdded,
)
from headstart.core.servers import ServerModel
from headstart.core.settings import ChatOptions
from headstart.core.values import PAGE, BranchPage
from headstart.ui.models.model_menu import ModelList
from headstart.ui.open_chat import OpenChat
from headstart.ui.reply_text import ReplyText
from headstart.ui.tasks import Tasks

# who clicks through chats does not want each of them read
OPENED_SECONDS = 0.4
# how often the list says how fast a reply is being written
LIST_SECONDS = 0.5
# reading fewer tokens than this is over before anyone could read about it
SHOWN_READING = 64


class ChatController(QObject):
    """What the user does, for the chat that is open. Signals say what widgets should show."""

    chats_listed = Signal(list, dict)
    chat_listed = Signal(str, object)  # chat id, ChatSummary or None where it is gone
    chat_shown = Signal(object, object, bool)  # Chat, BranchPage, same chat as before
    earlier_shown = Signal(object)  # BranchPage before what is shown
    message_changed = Signal(object)  # Message
    chat_renamed = Signal(object)  # the open Chat
    reply_text = Signal(str, str, str)  # message id, text, reasoning
    reply_origins = Signal(str, object)  # message id, runs of the text's origins
    reply_progress = Signal(str, str)
    list_status = Signal(str, object)  # chat id, text or None
    writing_changed = Signal(bool)
    context_changed = Signal(int, int)
    noticed = Signal(str, str)  # kind, text
    problem = Signal(str, str)  # what happened, what to do
    model_changed = Signal(str, str)  # name, state
    answering = Signal(object)  # the model that answers in the open chat, or None
    consent_needed = Signal(object, object)  # Connection, what to call if the user allows it
    models_listed = Signal(object)  # ModelList
    drafts_listed = Signal(list)  # of DraftChoice
    draft_changed = Signal(str, bool)  # name of the chat's draft ("" for none), really loaded
    guessing = Signal(object)  # Guessing of the reply that is being written
    guessed = Signal(object)  # TurnFigures of the last reply, or None
    measured = Signal(object)
    draft_activity = Signal(object)  # DraftActivity
    prefixes_listed = Signal(object)  # PrefixUse, or None
    read_ahead = Signal(int)  # tokens of what is being typed that were read
    message_stored = Signal(str)  # the chat that it was written in
    chat_deleted = Signal(str, str)
    exported = Signal(str)

    def __init__(self, service: ChatService, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.service = service
        self.open = OpenChat(service, self)
        self._tasks = Tasks(self.problem.emit)
        self._serial = 0
        self._model_serial = 0
        # the chat that is being opened, or is open
        self._wanted = self.open.id
        self._model_name = ""
        self._shown = ReplyText()
        self._titles: dict[str, str] = {}
        self._contexts: dict[str, tuple[int, int]] = {}
        self._last_status = 0.0
        # how many messages of the open chat are shown, and the first of them if others come before
        self._shown_messages = 0
        self._first_shown: str | None = None
        self.open.opened.connect(self._on_opened)
        self._subscribe()

    @property
    def chat_id(self) -> str | None:
        """The open chat's id; None before its first message."""
        return self.open.id if self.open.stored else None

    @property
    def writing(self) -> bool:
        return self.service.reply_in(self.open.id) is not None

    # --- what the user does --------------------------------------------------------------

    def start(self) -> None:
        """Fill the window for the first time."""
        self._spawn(self._list_chats())
        self.new_chat()

    def new_chat(self, private: bool = False) -> None:
        self._serial += 1
        self.open.begin(private)
        self._wanted = self.open.id
        self.chat_shown.emit(self.open.chat, BranchPage([], 0), False)
        self.guessed.emit(None)
        self._after_show()

    def open_chat(self, chat_id: str) -> None:
        if chat_id != self._wanted:
            self._wanted = chat_id
            self._spawn(self._show(chat_id))

    def send(self, text: str) -> None:
        # a second Enter before the text is stored would be a second message
        if not self.open.sending:
            # as things are now: the next key may open another chat
            chat_id = self.open.id
            self.open.begin_sending(chat_id)
            self._asking(lambda: self._send(chat_id, text))

    def stop(self) -> None:
        self.service.stop(self.open.id)

    def edit(self, message_id: str, text: str) -> None:
        chat_id = self.open.id
        self._asking(lambda: self.service.edit(chat_id, message_id, text))

    def regenerate(self, message_id: str) -> None:
        chat_id = self.open.id
        self._asking(lambda: self.service.regenerate(chat_id, message_id))

    def continue_reply(self, message_id: str) -> None:
        chat_id = self.open.id
        self._asking(lambda: self.service.continue_reply(chat_id, message_id))

    def show_version(self, message_id: str, step: int) -> None:
        if not self.writing:
            self._spawn(self.service.show_version(self.open.id, message_id, step))

    def show_earlier(self) -> None:
        """The reader comes near the first message that is shown."""
        if self._first_shown is not None:
            self._spawn(self._show_earlier())

    def rename(self, chat_id: str, title: str) -> None:
        self._spawn(self._rename(chat_id, title))

    def pin(self, chat_id: str, pinned: bool) -> None:
        self._spawn(self.service.pin(chat_id, pinned))

    def delete(self, chat_id: str) -> None:
        self._spawn(self._delete(chat_id))

    def undo_delete(self, chat_id: str) -> None:
        self._spawn(self._undo_delete(chat_id))

    def set_options(self, chat_id: str, options: ChatOptions) -> None:
        """Keep the options of a chat."""
        if chat_id == self.open.id:
            self.open.set_options(options)
        self._spawn(self._set_options(chat_id, options))

    def export_markdown(self, chat_id: str, path: str) -> None:
        self._spawn(self._export(chat_id, Path(path)))

    def open_model_file(self, path: str) -> None:
        self._spawn(self._open_model(Path(path)))

    def choose_model(self, model: AnyModel) -> None:
        self._asking(lambda: self._choose_model(model))

    def show_model(self) -> None:
        """Who answers here may have changed: a server was moved, removed, or told its kind."""
        self._spawn(self._show_model())

    def reload(self) -> None:
        self._spawn(self.service.local.reload())

    def list_models(self) -> None:
        self._spawn(self._list_models())

    def list_drafts(self) -> None:
        self._spawn(self._list_drafts())

    def measure(self) -> None:
        self._spawn(self.service.local.measure(self.open.id))

    def cancel_measuring(self) -> None:
        self.service.local.cancel_measuring()

    def warm(self) -> None:
        self._spawn(self._warm())

    def typed(self, text: str) -> None:
        """The composer holds this text now: what is settled of it can be read."""
        self._spawn(self.service.ahead.typed(self.open.id, text))

    def list_prefixes(self) -> None:
        self._spawn(self._list_prefixes())

    def clear_prefixes(self, chat_id: str) -> None:
        """Of one chat, or of all ("")."""
        work = self.service.prefixes
        self._spawn(work.forget(chat_id) if chat_id else work.clear())

    # --- tasks ---------------------------------------------------------------------------

    async def _send(self, chat_id: str, text: str) -> None:
        self.open.begin_sending(chat_id)
        self.service.ahead.sent(chat_id)
        stored = False
        try:
            await self.service.send(chat_id, text)
            stored = True
        finally:
            self.open.end_sending(chat_id, stored)
        self.message_stored.emit(chat_id)

    async def _set_options(self, chat_id: str, options: ChatOptions) -> None:
        await self.service.set_options(chat_id, options)
        await self.service.local.draft_chosen(chat_id)

    async def _list_prefixes(self) -> None:
        self.prefixes_listed.emit(await self.service.prefixes.use())

    async def _opened(self, chat_id: str) -> None:
        """A chat that is looked at for a moment is restored or read."""
        await asyncio.sleep(OPENED_SECONDS)
        if chat_id == self._wanted and not self.writing:
            await self.service.local.opened(chat_id)

    async def _warm(self) -> None:
        await self.service.local.warm(self.open.id)

    async def _show(self, chat_id: str) -> None:
        """Read a chat and show it, unless the user wants another one by then."""
        self._serial += 1
        serial = self._serial
        chat = await self.service.chat(chat_id)
        # what is shown stays shown
        count = max(PAGE, self._shown_messages + 2) if chat_id == self.open.id else PAGE
        page = await self.service.page(chat_id, count=count)
        if serial != self._serial or chat is None or chat_id != self._wanted:
            return
        same_chat = chat_id == self.open.id
        self.open.open(chat)
        self._shown_messages = len(page.messages)
        self._first_shown = page.messages[0].id if page.earlier else None
        self.chat_shown.emit(chat, page, same_chat)
        figures = [message.figures for message in page.messages if message.figures is not None]
        if not same_chat or not self.writing:
            self.guessed.emit(figures[-1] if figures else None)
        self._after_show(same_chat)
        if not same_chat and page.messages:
            self._spawn(self._opened(chat_id))

    def _refresh(self, chat_id: str) -> None:
        """The open chat changed in the database."""
        if chat_id == self._wanted == self.open.id:
            self._spawn(self._show(chat_id))

    def _after_show(self, same_chat: bool = False) -> None:
        reply = self.service.reply_in(self.open.id)
        self._shown = ReplyText(() if reply is None else reply.parts)
        if reply is not None:
            self._emit_reply(reply.message_id)
            if not same_chat:
                for notice in reply.notices:
                    self.noticed.emit(notice.kind, notice.text)
            if reply.last is not None:
                self._show_event(reply.message_id, reply.last)
        self.writing_changed.emit(reply is not None)
        self.context_changed.emit(*self._contexts.get(self.open.id, (0, 0)))
        self._spawn(self._show_model())
        self._spawn(self._list_drafts())
        self._spawn(self._list_prefixes())

    async def _show_model(self) -> None:
        self._model_serial += 1
        chat, serial, model_serial = self.open.chat, self._serial, self._model_serial
        model: AnyModel | None = None
        with contextlib.suppress(EnvironmentProblem):
            model = await self.service.models.of_chat(chat)
        if (serial, model_serial) != (self._serial, self._model_serial) or chat != self.open.chat:
            # another chat is open by now, or another model chosen: a later look tells
            return
        if model is None:
            name = self.service.models.name_of(chat.model or "")
            self._model_name = name
            self.answering.emit(None)
            self.model_changed.emit(name, "is missing" if name else "")
        else:
            self._model_name = model.name
            self.answering.emit(model)
            self.model_changed.emit(model.name, "")

    async def _list_chats(self) -> None:
        summaries = await self.service.summaries()
        self._titles = {chat.id: chat.title for chat in summaries}
        writing = dict.fromkeys(self.service.writing_chats(), "Writing…")
        self.chats_listed.emit(summaries, writing)

    async def _list_chat(self, chat_id: str) -> None:
        """One line of the list."""
        summary = await self.service.summary(chat_id)
        if summary is not None:
            self._titles[chat_id] = summary.title
        writing = self.service.reply_in(chat_id) is not None
        self.chat_listed.emit(chat_id, summary)
        self.list_status.emit(chat_id, "Writing…" if writing else None)

    async def _show_earlier(self) -> None:
        chat_id, before = self.open.id, self._first_shown
        if before is None:
            return
        self._first_shown = None
        page = await self.service.page(chat_id, before)
        if chat_id == self.open.id and page.messages:
            self._first_shown = page.messages[0].id if page.earlier else None
            self._shown_messages += len(page.messages)
            self.earlier_shown.emit(page)

    async def _reply_ended(self, chat_id: str, message_id: str) -> None:
        """One message is other than it was."""
        message = await self.service.message(chat_id, message_id)
        if message is None or chat_id != self.open.id:
            return
        self.message_changed.emit(message)
        self._shown = ReplyText()
        self.writing_changed.emit(self.writing)
        if not self.writing:
            self.guessed.emit(message.figures)
        self._spawn(self._show_model())
        self._spawn(self._list_drafts())
        self._spawn(self._list_prefixes())

    async def _rename(self, chat_id: str, title: str) -> None:
        await self.service.rename(chat_id, title)

    async def _delete(self, chat_id: str) -> None:
        title = self._titles.get(chat_id, "")
        await self.service.delete(chat_id)
        if chat_id == self._wanted:
            self.new_chat()
        self.chat_deleted.emit(chat_id, title)

    async def _undo_delete(self, chat_id: str) -> None:
        await self.service.undo_delete(chat_id)
        self._wanted = chat_id
        await self._show(chat_id)

    async def _export(self, chat_id: str, path: Path) -> None:
        await self.service.export_markdown(chat_id, path)
        self.exported.emit(str(path))

    async def _open_model(self, path: Path) -> None:
        model = await self.service.models.open_file(path)
        await self._choose_model(model)

    async def _choose_model(self, model: AnyModel) -> None:
        chat_id, before = self.open.id, await self._current_model()
        if isinstance(model, ServerModel):
            # as it is now: it may have been allowed since the menu was opened
            model = self.service.servers.find(model.key) or model
        await self._set_model(chat_id, model)
        trouble = await self.service.local.warm(chat_id, asked=True)
        if trouble and before is not None and before != model:
            # a file that cannot be used is not left as the model of this chat and of new ones
            await self._set_model(chat_id, before)
            self.problem.emit(trouble, "")

    async def _current_model(self) -> AnyModel | None:
        try:
            return await self.service.models.of_chat(self.open.chat)
        except EnvironmentProblem:
            return None

    async def _set_model(self, chat_id: str, model: AnyModel) -> None:
        await self.service.set_model(chat_id, model)
        chat = await self.service.chat(chat_id)
        if chat is not None and chat_id == self.open.id:
            self.open.open(chat)
        await self._show_model()
        # nobody looks at the list now: servers are not asked for it
        await self._list_models(ask=False)
        await self._list_drafts()

    async def _list_drafts(self) -> None:
        chat = self.open.chat
        try:
            choices = await self.service.local.drafts(chat.id)
        except EnvironmentProblem:
            choices = []
        if chat == self.open.chat:
            self.drafts_listed.emit(choices)

    async def _list_models(self, ask: bool = True) -> None:
        """What is here at once, and what servers offer when they have answered."""
        models, servers = self.service.models, self.service.servers
        local = [(model, models.cannot_run(model)) for model in await models.installed()]
        self.models_listed.emit(ModelList(local, servers.known(), await self._current_key()))
        if ask and servers.connections:
            offered = await servers.offers()
            self.models_listed.emit(ModelList(local, offered, await self._current_key()))

    async def _current_key(self) -> str:
        model = await self._current_model()
        return "" if model is None else model.key

    def _asking(self, verb: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Do what sends words; if the user was not asked yet whether they may go there, ask."""

        async def work() -> None:
            try:
                await verb()
            except ConsentNeeded as needed:
                connection = needed.connection

                def allowed() -> None:
                    self.service.servers.allow(connection.id)
                    self._spawn(verb())

                self.consent_needed.emit(connection, allowed)

        self._spawn(work())

    # --- what happens --------------------------------------------------------------------

    def _on_opened(self) -> None:
        self.service.ahead.show(self.open.id, self.open.unsent)

    def _subscribe(self) -> None:
        on = self.service.changes.on
        on(ChatChanged, self._on_chat_changed)
        on(BranchChanged, self._on_branch_changed)
        on(ReplyEvent, self._on_reply_event)
        on(ReplyEnded, self._on_reply_ended)
        on(Trouble, lambda trouble: self.problem.emit(trouble.message, trouble.remedy))
        on(DraftState, lambda draft: self.draft_changed.emit(draft.name, draft.loaded))
        on(Measured, self.measured.emit)
        on(DraftProgress, lambda progress: self.draft_activity.emit(progress.activity))
        on(AheadState, self._on_ahead)
        on(PrefixesChanged, lambda _change: self._spawn(self._list_prefixes()))
        on(ModelState, self._on_model_state)

    def _on_chat_changed(self, change: ChatChanged) -> None:
        self._spawn(self._list_chat(change.chat_id))
        if change.what in (What.TITLE, What.PINNED) and change.chat_id == self.open.id:
            self._spawn(self._take_over(change.chat_id))

    async def _take_over(self, chat_id: str) -> None:
        """The open chat's own row changed."""
        chat = await self.service.chat(chat_id)
        if chat is not None and chat_id == self.open.id:
            self.open.open(chat)
            self.chat_renamed.emit(chat)

    def _on_branch_changed(self, change: BranchChanged) -> None:
        self._spawn(self._list_chat(change.chat_id))
        self._refresh(change.chat_id)

    def _on_reply_ended(self, change: ReplyEnded) -> None:
        self._spawn(self._list_chat(change.chat_id))
        if change.chat_id == self.open.id:
            self._spawn(self._reply_ended(change.chat_id, change.message_id))

    def _on_ahead(self, change: AheadState) -> None:
        if change.chat_id == self.open.id:
            self.read_ahead.emit(change.typed)

    def _on_reply_event(self, change: ReplyEvent) -> None:
        chat_id, message_id, event = change.chat_id, change.message_id, change.event
        if isinstance(event, ContextUse):
            self._contexts[chat_id] = (event.used, event.size)
        if isinstance(event, TextAdded):
            self._tell_list(chat_id, event)
        if chat_id == self.open.id:
            self._show_event(message_id, event, fresh=True)

    def _show_event(self, message_id: str, event: object, fresh: bool = False) -> None:
        match event:
            case TextAdded(pieces=pieces) if fresh:
                for piece in pieces:
                    self._shown.add(piece)
                self._emit_reply(message_id)
            case Loading(model=model, fraction=fraction, draft=draft):
                what = f"the draft {model.name}" if draft else model.name
                text = f"Loading {what}… {fraction:.0%}"
                self.reply_progress.emit(message_id, text)
            case Reading(done=done, total=total, reused=reused):
                if total - reused >= SHOWN_READING:
                    self.reply_progress.emit(message_id, f"Reading {done:,} of {total:,} tokens…")
                else:
                    self.reply_progress.emit(message_id, "Reading…")
            case Guessing():
                self.guessing.emit(event)
            case ContextUse(used=used, size=size):
                self.context_changed.emit(used, size)
            case Notice(kind=kind, text=text):
                self.noticed.emit(kind, text)
            case Failed(message=message, remedy=remedy) if fresh:
                self.problem.emit(message, remedy)

    def _emit_reply(self, message_id: str) -> None:
        shown = self._shown
        self.reply_origins.emit(message_id, tuple(shown.origins))
        self.reply_text.emit(message_id, shown.text, shown.reasoning)

    def _tell_list(self, chat_id: str, event: TextAdded) -> None:
        now = time.monotonic()
        if now - self._last_status < LIST_SECONDS or event.tokens < 2 or event.seconds <= 0:
            return
        self._last_status = now
        speed = (event.tokens - 1) / event.seconds
        self.list_status.emit(chat_id, f"Writing… {speed:.0f} tok/s")

    def _on_model_state(self, change: ModelState) -> None:
        name, fraction, problem = change.name, change.fraction, change.problem
        if problem is not None:
            self.problem.emit(problem, "")
        state = f"· loading {fraction:.0%}" if not problem and fraction < 1 else ""
        if name == self._model_name:
            self.model_changed.emit(name, state)

    # --- the seam ------------------------------------------------------------------------

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        self._tasks.spawn(work)

    async def settle(self, seconds: float = 30) -> None:
        """Wait for what has been asked for so far, but not for ever; at the end, and in tests."""
        await self._tasks.settle(seconds)
