"""State of the window that comes back with the next start, and is no setting. Pure."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta, Struct


class ReadingPlace(Struct, frozen=True):
    """Reading position in the open chat: its first message in view, which of its blocks (none of a
    message without them), and how many pixels of that are scrolled past."""

    message: str
    block: int | None = None
    past: int = 0


class WindowState(Struct, frozen=True):
    show_sidebar: bool = True
    show_inspector: bool = False
    # the inspector's sections that are open
    open_sections: tuple[str, ...] = ()
    # pixels
    window_size: tuple[int, int] | None = None
    maximized: bool = False
    # the chat that was open, and its reading position: None at its end
    open_chat: str = ""
    open_place: ReadingPlace | None = None
    # the version whose news were told
    told_version: str = ""
    # models with drafts whose gain was told, by their keys
    told_gains: Annotated[tuple[str, ...], Meta(max_length=100)] = ()
    # the repository of the model that was offered and dismissed
    offer_dismissed: str = ""
    # the folder in which files were chosen last, and the format of the last export
    last_folder: str = ""
    export_format: str = ""
    # when a newer version was looked for last, in seconds since 1970
    updates_looked_at: float = 0.0
