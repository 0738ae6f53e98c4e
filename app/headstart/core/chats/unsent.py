"""Typed but unsent text of a chat, with its attachments. Pure."""

from __future__ import annotations

from msgspec import Struct

from headstart.core.chats.parts import OtherPart
from headstart.core.chats.values import ChatDraft


class Unsent(Struct, frozen=True):
    """`begun`: belongs to a chat without messages so far. False if empty."""

    chat_id: str
    text: str = ""
    parts: tuple[OtherPart, ...] = ()
    begun: ChatDraft | None = None

    def __bool__(self) -> bool:
        return bool(self.text.strip() or self.parts)
