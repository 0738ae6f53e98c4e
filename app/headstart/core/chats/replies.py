"""Replies of models in earlier chats: a protocol that storage implements."""

from __future__ import annotations

from concurrent.futures import Future
from typing import Protocol


class EarlierReplies(Protocol):
    """Called on the engine thread; errors are logged and look like no replies."""

    def of(self, name: str, key: str, most: int) -> Future[list[str]]:
        """The latest replies written by the model with this name or this key: about `most`
        characters, oldest first. Skips deleted chats and chats that may not be kept on disk."""
        ...


class NoReplies:
    """For tests and benchmarks."""

    def of(self, name: str, key: str, most: int) -> Future[list[str]]:
        del name, key, most
        found = Future[list[str]]()
        found.set_result([])
        return found
