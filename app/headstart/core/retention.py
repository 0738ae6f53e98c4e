"""Retention of all data of a chat, decided once per request. Pure.

`owner_of` is asked before any write: only a chat with an owner leaves data on disk.
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
    """Decide for a chat's model state. An unstored chat leaves nothing on disk."""
    allowed = settings.prefix.on_disk and chat.options.keep_on_disk and not chat.private
    return Retention.DISK if allowed and stored else Retention.MEMORY


def owner_of(chat_id: str | None, retention: Retention) -> str | None:
    """The chat whose state may be on disk; None: nothing is written."""
    return chat_id if retention is Retention.DISK else None
