"""Arguments of a start, which one start hands to the window that is open already."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

# of one start: more are chosen in the window, as a folder
MOST_FILES = 1_000
_Path = Annotated[str, Meta(max_length=4_096, pattern=r"^[^\x00]*$")]


class StartedWith(msgspec.Struct, frozen=True):
    """`files`: whole paths of a model, of conversations, or of what is attached to a message."""

    files: Annotated[tuple[_Path, ...], Meta(max_length=MOST_FILES)] = ()
    # whole path of a model for new chats
    model: _Path = ""
    new_chat: bool = False
