"""State of the window that is restored at the next start, apart from settings. Pure."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct

from headstart.core.chats.bounds import Count

# pixels of a side of the window, and between two places in a message
_Side = Annotated[int, Meta(ge=1, le=65_535)]
_Distance = Annotated[int, Meta(ge=-(10**9), le=10**9)]


class ReadingPlace(Struct, frozen=True):
    """Reading position in the open chat: the first visible message, the index of its block (none
    for a message without blocks), and the pixels of that block scrolled past."""

    message: str
    block: Count | None = None
    past: _Distance = 0


class WindowState(Struct, frozen=True):
    show_sidebar: bool = True
    show_inspector: bool = False
    # the inspector's open sections
    open_sections: tuple[str, ...] = ()
    # pixels
    window_size: tuple[_Side, _Side] | None = None
    maximized: bool = False
    # the open chat, and its reading position: None at its end
    open_chat: str = ""
    open_place: ReadingPlace | None = None
    # the version whose news were shown
    told_version: str = ""
    # keys of models whose gain from drafting was announced
    told_gains: Annotated[tuple[str, ...], Meta(max_length=100)] = ()
    # the repository of a dismissed model offer
    offer_dismissed: str = ""
    # the folder of the last chosen files, and the format of the last export
    last_folder: str = ""
    export_format: str = ""
    # time of the last check for a newer version, in seconds since 1970
    updates_looked_at: float = 0.0
