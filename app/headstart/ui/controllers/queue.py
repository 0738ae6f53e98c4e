"""The queue of messages to send once the reply in progress has ended. Main thread."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from headstart.chat.branches import Branches
from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import ReplyEnded
from headstart.chat.conversation import Conversation
from headstart.chat.replies import Replies
from headstart.core.chats.parts import OtherPart
from headstart.core.chats.values import FinishReason, Message, MessageStatus
from headstart.core.text.shown import is_blank
from headstart.ui.controllers.consent import Consent
from headstart.ui.kit.tasks import Tasks
from headstart.ui.open_chat import OpenChat
from headstart.ui.queue import Queued


class QueueController(QObject):
    changed = Signal(tuple)  # of Queued: the open chat's queue
    taken_back = Signal(str)  # a text to put back into the composer

    def __init__(
        self,
        verbs: tuple[Conversation, Replies, Branches],
        open_chat: OpenChat,
        consent: Consent,
        tasks: Tasks,
        broadcast: Broadcast,
    ) -> None:
        super().__init__()
        self._conversation, self._replies, self._branches = verbs
        self._open = open_chat
        self._consent = consent
        self._tasks = tasks
        # chats whose reply was stopped to send their queue
        self._interrupted: set[str] = set()
        open_chat.opened.connect(self._show)
        broadcast.on(ReplyEnded, self._on_ended)

    def add(self, text: str) -> None:
        """Move the composer's message to the end of the queue."""
        self._take_in(text, first=False)

    def interrupt(self, text: str) -> None:
        """Stop the reply in progress, and send this text (or the first queued message) at once."""
        chat_id = self._open.id
        if not is_blank(text) or self._open.parts:
            self._take_in(text, first=True)
        if self._open.queue.of(chat_id):
            self._interrupted.add(chat_id)
            self._replies.stop(chat_id)

    def remove(self, number: int) -> None:
        self._open.queue.take(self._open.id, number)
        self._changed(self._open.id)

    def edit(self, number: int) -> None:
        """Take a message out of the queue, and append it to the composer's text."""
        one = self._open.queue.take(self._open.id, number)
        if one is None:
            return
        if one.parts:
            self._open.attach(self._open.id, (*self._open.parts, *one.parts))
        unsent = "" if is_blank(self._open.unsent) else self._open.unsent
        text = "\n\n".join(filter(None, (unsent, one.text)))
        self._changed(self._open.id)
        self.taken_back.emit(text)

    def send_first(self) -> None:
        """Send the first waiting message although the reply before it was stopped."""
        chat_id = self._open.id
        if self._replies.reply_in(chat_id) is None:
            self._send(chat_id)

    def _take_in(self, text: str, first: bool) -> None:
        chat_id, parts = self._open.id, self._open.parts
        self._open.queue.add(chat_id, Queued(text, tuple(parts)), first)
        self._open.clear()
        self._changed(chat_id)

    def _changed(self, chat_id: str) -> None:
        self._open.written.emit(chat_id)
        self._show()

    def _show(self) -> None:
        self.changed.emit(self._open.queue.of(self._open.id))

    def _on_ended(self, change: ReplyEnded) -> None:
        if self._open.queue.of(change.chat_id):
            self._tasks.spawn(self._go_on(change))

    async def _go_on(self, change: ReplyEnded) -> None:
        """Send the next message, unless the reply was stopped or failed: the user may want to say
        something else."""
        wanted = change.chat_id in self._interrupted
        self._interrupted.discard(change.chat_id)
        message = await self._branches.message(change.chat_id, change.message_id)
        done = message is None or _is_done(message)
        if (done or wanted) and self._replies.reply_in(change.chat_id) is None:
            self._send(change.chat_id)

    def _send(self, chat_id: str) -> None:
        one = self._open.queue.take(chat_id)
        if one is not None:
            self._changed(chat_id)
            self._consent.asking(lambda: self._sent(chat_id, one.text, one.parts, one))

    async def _sent(self, chat_id: str, text: str, parts: Sequence[OtherPart], one: Queued) -> None:
        # it went back while the user was asked
        if self._open.queue.discard(chat_id, one):
            self._changed(chat_id)
        try:
            await self._conversation.send(chat_id, text, parts)
        except BaseException:
            # a message that was not sent returns to the queue
            self._open.queue.add(chat_id, one, first=True)
            self._changed(chat_id)
            raise


def _is_done(message: Message) -> bool:
    """True for a reply that ended by itself or reached its longest length."""
    longest = message.stats is not None and message.stats.finish is FinishReason.LENGTH
    return message.status is MessageStatus.COMPLETE or longest
