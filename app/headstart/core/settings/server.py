"""The server for other programs: a part of `settings`."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from headstart.core.models.heads import AUTOMATIC

PORT = 4141


class ServerSettings(Struct, frozen=True):
    """Other programs that use the models of this computer."""

    on: bool = False
    port: Annotated[int, Meta(ge=1024, le=65535)] = PORT
    # the key of the model that answers; "" is the model of new chats
    model: str = ""
    # whether a request may name another installed model
    any_model: bool = True
    # as `Speculation.draft`
    draft: str = AUTOMATIC
    # whether other computers of the network may ask
    network: bool = False
    # web pages that may ask: their origins
    origins: Annotated[
        tuple[Annotated[str, Meta(min_length=1, max_length=200)], ...], Meta(max_length=50)
    ] = ()
    # whether the state of programs' prompts may be on disk
    keep_prompts: bool = True
    # whether programs may reuse what the window has computed for its kept chats and folders
    share_window: bool = False
