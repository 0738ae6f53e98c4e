"""What a program was started with, as one start hands it to the window that is open already."""

from __future__ import annotations

import msgspec


class StartedWith(msgspec.Struct, frozen=True):
    """`files`: whole paths of a model, of conversations, or of what is attached to a message."""

    files: tuple[str, ...] = ()
    # whole path of a model for new chats
    model: str = ""
    new_chat: bool = False
