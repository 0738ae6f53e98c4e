"""The reply in progress in the open chat, event by event. Main thread."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from headstart.chat.agent.permissions import Permission
from headstart.chat.agent.tools import ToolWork
from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import ReplyEvent
from headstart.chat.replies import Replies
from headstart.core.chats.sections import ReplySections
from headstart.core.events import (
    ContextUse,
    DocumentsRead,
    Loading,
    Notice,
    NoticeKind,
    Prefilling,
    Speculating,
    TextAdded,
    ToolAsked,
    ToolDone,
    ToolProgressed,
    ToolsStarting,
    ToolStarted,
    Waiting,
)
from headstart.core.text.shown import isolated, shortened
from headstart.ui.open_chat import OpenChat
from headstart.ui.reply_text import ReplyText
from headstart.ui.wording import say

# a prefill of fewer tokens is over before anyone could read its progress
SHOWN_PREFILL = 64
# characters of a document's name
_NAME = 60
WAITING = "controllers.waiting-for-reply-in-another"
READING_SHARE = "controllers.reading-document-share"
LOOKING = "controllers.looking-at-image"


class ReplyController(QObject):
    reply_shown = Signal(str, ReplySections)  # message id, the reply so far
    reply_progress = Signal(str, str)  # message id, text
    writing_changed = Signal(bool)
    context_changed = Signal(int, int)  # tokens used, size
    noticed = Signal(NoticeKind, str)  # kind, text
    speculating = Signal(Speculating)

    def __init__(
        self,
        replies: Replies,
        open_chat: OpenChat,
        broadcast: Broadcast,
        tools: ToolWork,
    ) -> None:
        super().__init__()
        self._replies = replies
        self._permissions, self._running = tools.permissions, tools.running
        self._open = open_chat
        self._shown = ReplyText()
        self._contexts: dict[str, tuple[int, int]] = {}
        broadcast.on(ReplyEvent, self._on_event)

    @property
    def writing(self) -> bool:
        return self._replies.reply_in(self._open.id) is not None

    def show(self, same_chat: bool) -> None:
        """Show the reply in progress, once the open chat's messages are shown."""
        reply = self._replies.reply_in(self._open.id)
        self._shown = ReplyText()
        if reply is not None:
            self._shown = ReplyText(reply.before, reply.written)
            if isinstance(reply.last, ToolAsked | ToolStarted | ToolProgressed):
                self._shown.add(reply.last)
            self._emit(reply.message_id)
            if not same_chat:
                for notice in reply.notices:
                    self.noticed.emit(notice.kind, notice.told.text)
            if reply.last is not None:
                self._show_event(reply.message_id, reply.last)
        self.writing_changed.emit(reply is not None)
        self.context_changed.emit(*self._contexts.get(self._open.id, (0, 0)))

    def end(self) -> None:
        """Drop the live text: the stored reply is shown now."""
        self._shown = ReplyText()
        self.writing_changed.emit(self.writing)

    def answer_call(self, call: int, permission: Permission) -> None:
        """The user's answer to a call of the reply in the open chat, by its number."""
        self._permissions.answer(self._open.id, call, permission)

    def stop_call(self, call: int) -> None:
        """Stop a call that runs; the reply goes on without its result."""
        self._running.stop(self._open.id, call)

    def _on_event(self, change: ReplyEvent) -> None:
        if isinstance(change.event, ContextUse):
            self._contexts[change.chat_id] = (change.event.used, change.event.size)
        if change.chat_id == self._open.id:
            self._show_event(change.message_id, change.event, fresh=True)

    def _show_event(self, message_id: str, event: object, fresh: bool = False) -> None:
        match event:
            case TextAdded(pieces=pieces) if fresh:
                for piece in pieces:
                    self._shown.add(piece)
                self._emit(message_id)
            case ToolsStarting(names=names):
                text = say("controllers.starting-tools", names=list(names))
                self.reply_progress.emit(message_id, text)
            case DocumentsRead(done=done, total=total, name=name, fraction=share):
                code = "controllers.reading-documents"
                if share or not name:
                    code = READING_SHARE if name else "controllers.documents-are-read"
                name = isolated(shortened(name, _NAME))
                text = say(code, done=done, total=total, name=name, share=share)
                self.reply_progress.emit(message_id, text)
            case ToolAsked() | ToolStarted() | ToolProgressed() | ToolDone() if fresh:
                self._shown.add(event)
                self._emit(message_id)
            case Waiting():
                self.reply_progress.emit(message_id, say(WAITING))
            case Loading(model=model, fraction=fraction, draft=draft):
                what = say("controllers.draft-name", name=model.name) if draft else model.name
                self.reply_progress.emit(
                    message_id,
                    say("controllers.loading-what-fraction", what=what, fraction=fraction),
                )
            case Prefilling(image=True):
                self.reply_progress.emit(message_id, say(LOOKING))
            case Prefilling(done=done, total=total, reused=reused):
                long = total - reused >= SHOWN_PREFILL
                text = (
                    say("controllers.processing-done-of-total-tokens", done=done, total=total)
                    if long
                    else say("controllers.processing")
                )
                self.reply_progress.emit(message_id, text)
            case Speculating():
                self.speculating.emit(event)
            case ContextUse(used=used, size=size):
                self.context_changed.emit(used, size)
            case Notice(kind=kind, told=told):
                self.noticed.emit(kind, told.text)

    def _emit(self, message_id: str) -> None:
        self.reply_shown.emit(message_id, self._shown.sections)
