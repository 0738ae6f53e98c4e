"""What the engine was doing when the program died: a protocol that storage implements."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Literal, Protocol

import msgspec


class Doing(msgspec.Struct, frozen=True):
    """`model` is the name of a file, as the window shows it."""

    what: Literal["loading", "reading"]
    model: str

    @property
    def sentence(self) -> str:
        """For the user, at the next start."""
        verb = "loading" if self.what == "loading" else "reading a chat into"
        return (
            f"Headstart ended unexpectedly while {verb} {self.model}. Nothing is loaded or read "
            "until you send a message; choose another model if it happens again."
        )


class Running(Protocol):
    def begin(self, doing: Doing) -> None: ...

    def end(self) -> None: ...


class NotNoted:
    """Notes nothing; for tests and benchmarks."""

    def begin(self, doing: Doing) -> None: ...

    def end(self) -> None: ...


@contextlib.contextmanager
def noted(running: Running, doing: Doing) -> Iterator[None]:
    """The process may die in here; an exception is not that."""
    running.begin(doing)
    try:
        yield
    finally:
        running.end()
