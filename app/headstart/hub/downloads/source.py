"""Source of bytes for the transfer: a protocol, and what can go wrong with it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Protocol

from msgspec import Struct

from headstart.core.errors import EnvironmentProblem
from headstart.core.told import Told, told


class DownloadProblem(EnvironmentProblem):
    """A download that stops until the user says otherwise; what has arrived stays."""


class Unavailable(Exception):
    """It does not work now: try again. `after`: seconds, where the server said how many."""

    def __init__(self, why: Told | None = None, after: float | None = None) -> None:
        super().__init__("unavailable")
        self.why = why or told("download-no-network")
        self.after = after


class RangeAnswer(Struct, frozen=True):
    """Bytes of a file from `start` on; `total` is the size of the whole, where it is said."""

    start: int
    total: int | None
    chunks: Iterator[bytes]


class DownloadSource(Protocol):
    def open(self, start: int, end: int | None) -> AbstractContextManager[RangeAnswer]:
        """Ask for bytes from `start` up to `end`, or to the last. Reading raises Unavailable, or
        DownloadProblem for what trying again does not change."""
        ...
