"""Retention of everything that belongs to a chat, decided once for each request. Pure.

Before anything is written `owner_of` is asked: only a chat with an owner leaves something on disk.
"""

from __future__ import annotations

from enum import StrEnum

from headstart.core.chats.values import Chat
from headstart.core.settings.schema import Settings


class Retention(StrEnum):
    DISK = "disk"
    MEMORY = "memory"  # until the program ends
    NOTHING = "nothing"  # until the next request


def decide(settings: Settings, chat: Chat, stored: bool = True) -> Retention:
    """For what models keep of a chat. Of one that is not stored yet nothing is on disk."""
    allowed = settings.prefix.on_disk and chat.options.keep_on_disk and not chat.private
    return Retention.DISK if allowed and stored else Retention.MEMORY


def owner_of(chat_id: str | None, retention: Retention) -> str | None:
    """The chat that may have it on disk; None: nothing of it is written."""
    return chat_id if retention is Retention.DISK else None
