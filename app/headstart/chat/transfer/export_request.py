"""The values of an export: the request, and its run."""

from __future__ import annotations

import threading

from msgspec import Struct, field

from headstart.exchange.include import Include


class ExportCancelled(Exception):
    """The user stopped it."""


class ExportJobRun(Struct):
    """One export: `stop` from any thread ends it soon; how many chats are written, of how many."""

    stop: threading.Event = field(default_factory=threading.Event)
    count: int = 0
    total: int = 0


class ExportRequest(Struct, frozen=True):
    """An export to write, and its form; `chats` empty for everything that is in the list."""

    chats: tuple[str, ...]
    format: str
    include: Include
    # with the bytes of files and images
    blobs: bool = True
