"""The engine's activity when the program died: a protocol that storage implements."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Literal, Protocol

import msgspec

from headstart.core.told import Told, told


class Doing(msgspec.Struct, frozen=True):
    """`model` is the name of a file, as the window shows it."""

    what: Literal["loading", "reading", "writing"]
    model: str

    @property
    def told(self) -> Told:
        """For the user, at the next start."""
        return told(_CODES[self.what], model=self.model)


_CODES = {"loading": "died-loading", "reading": "died-prefilling", "writing": "died-writing"}


class Running(Protocol):
    def begin(self, doing: Doing) -> None: ...

    def end(self) -> None: ...


class NotNoted:
    """Records nothing; for tests and benchmarks."""

    def begin(self, doing: Doing) -> None: ...

    def end(self) -> None: ...


@contextlib.contextmanager
def noted(running: Running, doing: Doing) -> Iterator[None]:
    """Records the activity, in case the process dies during it; an exception counts as a normal
    end."""
    running.begin(doing)
    try:
        yield
    finally:
        running.end()
