"""The open chat: the only owner of the open chat and of all unsent text.

Main thread. A new chat without messages is open like any other: it has an id. With unsent text it
stays until that is sent; without, it is dropped when another chat is opened.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec.structs import replace
from PySide6.QtCore import QObject, Signal

from headstart.core.chats.parts import OtherPart
from headstart.core.chats.unsent import Unsent
from headstart.core.chats.values import Chat, ChatDraft, Folder
from headstart.core.settings.schema import ChatOptions
from headstart.core.text.shown import is_blank
from headstart.ui.queue import Queue


class NewChats(Protocol):
    """New chats without messages; the chat service."""

    def begin(self, private: bool = False, folder: Folder | None = None) -> ChatDraft: ...

    def abandon(self, chat_id: str) -> None: ...

    def is_begun(self, chat_id: str) -> bool: ...


class OpenChat(QObject):
    """`opened`: another chat is open now. `sent`: its text is stored, and leaves the composer.
    `sending_changed`: True from Enter until then, while the text cannot be edited."""

    opened = Signal()
    # the options of the open chat, or those of its folders
    changed = Signal()
    sent = Signal()
    sending_changed = Signal(bool)
    # id of a chat whose unsent text changed
    written = Signal(str)

    def __init__(self, chats: NewChats, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._chats = chats
        self._unsent: dict[str, str] = {}
        self._parts: dict[str, tuple[OtherPart, ...]] = {}
        self._sending: set[str] = set()
        # messages that wait until a reply has ended
        self.queue = Queue()
        self._chat = chats.begin().chat()
        # new chats that were left while their text was being stored
        self._left: dict[str, Chat] = {}
        # a new chat that was left with unsent text
        self._kept: Chat | None = None

    @property
    def chat(self) -> Chat:
        return self._chat

    @property
    def id(self) -> str:
        return self._chat.id

    @property
    def private(self) -> bool:
        return self._chat.private

    @property
    def stored(self) -> bool:
        """True if the open chat has a message."""
        return not self._chats.is_begun(self._chat.id)

    # --- opening -------------------------------------------------------------------------

    def begin(self, private: bool = False, folder: Folder | None = None) -> None:
        """Open a new chat, or the earlier new one that was left with unsent text."""
        other = private or folder is not None
        begun = None if other else self._kept or (None if self.private else self._chat)
        if begun is not None and self._has(begun.id) and self._chats.is_begun(begun.id):
            self._open(begun)
        else:
            self._open(self._chats.begin(private, folder).chat())

    def open(self, chat: Chat) -> None:
        """Open a stored chat, or take over the new state of the open one."""
        if chat.id != self._chat.id:
            self._open(chat)
            return
        before, self._chat = self._chat, chat
        if (before.options, before.above) != (chat.options, chat.above):
            self.changed.emit()

    def set_options(self, options: ChatOptions) -> None:
        """Set the options of the open chat."""
        self._chat = replace(self._chat, options=options)

    def _open(self, chat: Chat) -> None:
        left, self._chat = self._chat, chat
        if self._kept is not None and self._kept.id == chat.id:
            self._kept = None
        if left.id != chat.id and self._chats.is_begun(left.id):
            if left.id in self._sending:
                self._left[left.id] = left
            else:
                self._leave(left)
        self.opened.emit()
        self.sending_changed.emit(self.sending)

    def _leave(self, left: Chat) -> None:
        """Keep a new chat that is no longer open if it has unsent text; abandon it otherwise."""
        # unsent text of a private chat is forgotten with it
        if left.private or not self._has(left.id):
            self._unsent.pop(left.id, None)
            self._parts.pop(left.id, None)
            self.written.emit(left.id)
            self._chats.abandon(left.id)
        else:
            self._kept = left

    # --- unsent text ---------------------------------------------------------------------

    @property
    def unsent(self) -> str:
        """Text in the open chat's composer."""
        return self._unsent.get(self._chat.id, "")

    def write(self, text: str) -> None:
        """Set the text of the open chat's composer."""
        if text == self.unsent:
            return
        if not is_blank(text):
            self._unsent[self._chat.id] = text
        else:
            self._unsent.pop(self._chat.id, None)
        self.written.emit(self._chat.id)

    def unsent_in(self, chat_id: str) -> Unsent:
        return Unsent(chat_id, self._unsent.get(chat_id, ""), self._parts.get(chat_id, ()))

    def kept_of(self, chat_id: str) -> Unsent:
        """The unsent text after the queued messages, so that a restart shows all of it in the
        composer."""
        waiting, text = self.queue.text_of(chat_id), self._unsent.get(chat_id, "")
        parts = [part for one in self.queue.of(chat_id) for part in one.parts]
        both = "\n\n".join(filter(None, (waiting, text)))
        return Unsent(chat_id, both, (*parts, *self._parts.get(chat_id, ())))

    def clear(self) -> None:
        """Empty the open chat's composer: its text is elsewhere now."""
        self._unsent.pop(self._chat.id, None)
        self._parts.pop(self._chat.id, None)
        self.sent.emit()

    @property
    def parts(self) -> tuple[OtherPart, ...]:
        """Attachments of the open chat's next message."""
        return self._parts.get(self._chat.id, ())

    def attach(self, chat_id: str, parts: Sequence[OtherPart]) -> None:
        """Set the attachments of a chat's next message."""
        if parts:
            self._parts[chat_id] = tuple(parts)
        else:
            self._parts.pop(chat_id, None)
        self.written.emit(chat_id)

    def _has(self, chat_id: str) -> bool:
        """True if the chat has unsent text or attachments."""
        return chat_id in self._unsent or chat_id in self._parts

    def restore(self, found: Sequence[Unsent], show: bool) -> None:
        """Restore the unsent text, the last written first; `show`: open the new chat that had some,
        unless something was written meanwhile."""
        for one in found:
            if one.text:
                self._unsent.setdefault(one.chat_id, one.text)
            if one.parts:
                self._parts.setdefault(one.chat_id, one.parts)
            if one.begun is not None and self._kept is None and one.chat_id != self._chat.id:
                self._kept = one.begun.chat()
        untouched = not self.stored and not self._has(self.id)
        if show and self._kept is not None and untouched:
            self.begin()
        elif self._has(self.id):
            self.opened.emit()

    @property
    def sending(self) -> bool:
        """True if the open chat's text is being stored."""
        return self._chat.id in self._sending

    def begin_sending(self, chat_id: str) -> None:
        self._sending.add(chat_id)
        self.sending_changed.emit(self.sending)

    def end_sending(self, chat_id: str, stored: bool) -> None:
        """End the sending: remove the unsent text if it is `stored` as a message, else keep it."""
        self._sending.discard(chat_id)
        left = self._left.pop(chat_id, None)
        if left is not None and not stored and chat_id != self._chat.id:
            self._leave(left)
        if stored:
            self._unsent.pop(chat_id, None)
            self._parts.pop(chat_id, None)
            self.written.emit(chat_id)
            if chat_id == self._chat.id:
                self.sent.emit()
        self.sending_changed.emit(self.sending)
