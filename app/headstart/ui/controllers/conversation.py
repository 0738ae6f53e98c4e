"""The conversation in the open chat: send, stop, regenerate, continue. Main thread."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from headstart.chat.answering.prefill_ahead import PrefillAhead
from headstart.chat.conversation import Conversation
from headstart.chat.replies import Replies
from headstart.core.chats.parts import OtherPart
from headstart.core.models.ref import AnyModel
from headstart.ui.controllers.consent import Consent
from headstart.ui.open_chat import OpenChat


class ConversationController(QObject):
    message_stored = Signal(str)  # the chat's id

    def __init__(
        self,
        conversation: Conversation,
        replies: Replies,
        ahead: PrefillAhead,
        open_chat: OpenChat,
        consent: Consent,
    ) -> None:
        super().__init__()
        self._conversation = conversation
        self._replies = replies
        self._ahead = ahead
        self._open = open_chat
        self._consent = consent

    def send(self, text: str, every: bool = False) -> None:
        """Send a message with its attachments; `every`: as a question to every document."""
        # a second Enter before the text is stored would be a second message
        if not self._open.sending:
            # captured now: the next key may open another chat
            chat_id = self._open.id
            self._open.begin_sending(chat_id)
            parts = self._open.parts
            self._consent.asking(lambda: self._send(chat_id, text, parts, every))

    def stop(self) -> None:
        self._replies.stop(self._open.id)

    def regenerate(
        self, message_id: str, other: AnyModel | None = None, temperature: float | None = None
    ) -> None:
        """Generate another version of a reply: by the model `other`, or with another
        `temperature`."""
        chat_id = self._open.id
        self._consent.asking(
            lambda: self._conversation.regenerate(chat_id, message_id, other, temperature)
        )

    def search_again(self, message_id: str) -> None:
        """Ask a question again, with the passages that the files have now."""
        chat_id = self._open.id
        self._consent.asking(lambda: self._conversation.search_again(chat_id, message_id))

    def continue_reply(self, message_id: str) -> None:
        chat_id = self._open.id
        self._consent.asking(lambda: self._conversation.continue_reply(chat_id, message_id))

    def show_version(self, message_id: str, step: int) -> None:
        chat_id = self._open.id
        if self._replies.reply_in(chat_id) is None:
            self._consent.asking(lambda: self._conversation.show_version(chat_id, message_id, step))

    async def _send(self, chat_id: str, text: str, parts: Sequence[OtherPart], every: bool) -> None:
        self._open.begin_sending(chat_id)
        self._ahead.sent(chat_id)
        stored = False
        try:
            await self._conversation.send(chat_id, text, parts, every)
            stored = True
        finally:
            self._open.end_sending(chat_id, stored)
        self.message_stored.emit(chat_id)
