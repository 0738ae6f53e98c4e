"""Arguments of a start, passed on to a window that is already open."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

# per start: for more, the user opens a folder in the window
MOST_FILES = 1_000
_Path = Annotated[str, Meta(max_length=4_096, pattern=r"^[^\x00]*$")]


class StartedWith(msgspec.Struct, frozen=True):
    """`files`: absolute paths of a model, of conversations, or of attachments to a message."""

    files: Annotated[tuple[_Path, ...], Meta(max_length=MOST_FILES)] = ()
    # absolute path of a model for new chats
    model: _Path = ""
    new_chat: bool = False
