"""Source of bytes for the transfer: a protocol, and its errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Protocol

from msgspec import Struct

from headstart.core.errors import EnvironmentProblem
from headstart.core.told import Told, told


class DownloadProblem(EnvironmentProblem):
    """A download that stops until the user acts; received bytes stay."""


class Unavailable(Exception):
    """A temporary failure: try again. `after`: seconds, if the server named a delay."""

    def __init__(self, why: Told | None = None, after: float | None = None) -> None:
        super().__init__("unavailable")
        self.why = why or told("download-no-network")
        self.after = after


class RangeAnswer(Struct, frozen=True):
    """Bytes of a file from `start` on; `total` is the size of the whole file, if known."""

    start: int
    total: int | None
    chunks: Iterator[bytes]


class DownloadSource(Protocol):
    def open(self, start: int, end: int | None) -> AbstractContextManager[RangeAnswer]:
        """Request bytes from `start` up to `end`, or to the last. Reading raises Unavailable, or
        DownloadProblem for a failure that a retry would not change."""
        ...
