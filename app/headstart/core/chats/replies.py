"""Replies of models in earlier chats: a protocol that storage implements."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Protocol


class EarlierReplies(Protocol):
    """Called on the engine thread; trouble is logged and looks like no replies."""

    def of(self, name: str, key: str, most: int) -> Future[list[str]]:
        """Texts of replies that the model with this name, or this key, wrote: the latest ones,
        about `most` characters, the oldest of them first. Not of chats that are deleted or of which
        nothing may be kept."""
        ...


class NoReplies:
    """For tests and benchmarks."""

    def of(self, name: str, key: str, most: int) -> Future[list[str]]:
        del name, key, most
        found = Future[list[str]]()
        found.set_result([])
        return found
