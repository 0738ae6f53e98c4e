"""The values of an export: the request, and its run."""

from __future__ import annotations

import threading

from msgspec import Struct, field

from headstart.exchange.include import Include


class ExportCancelled(Exception):
    """The user stopped the export."""


class ExportJobRun(Struct):
    """One export: `stop` from any thread ends it soon; `count` of `total` chats are written."""

    stop: threading.Event = field(default_factory=threading.Event)
    count: int = 0
    total: int = 0


class ExportRequest(Struct, frozen=True):
    """An export to write, and its format; empty `chats` for all listed chats."""

    chats: tuple[str, ...]
    format: str
    include: Include
    # include the bytes of files and images
    blobs: bool = True
