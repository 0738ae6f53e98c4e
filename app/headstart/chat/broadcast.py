"""Delivers changes to listeners, which subscribe by the type of change.

On the event loop's thread.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from headstart.chat.changes import Change

C = TypeVar("C")


class Broadcast:
    def __init__(self) -> None:
        self._listeners: dict[type, list[Callable[[Any], object]]] = {}

    def on(self, kind: type[C], listener: Callable[[C], object]) -> Callable[[], None]:
        """Call `listener` with each change of this type; the returned function unsubscribes it."""
        listeners = self._listeners.setdefault(kind, [])
        listeners.append(listener)
        return lambda: listeners.remove(listener)

    def tell(self, change: Change) -> None:
        for listener in list(self._listeners.get(type(change), ())):
            listener(change)
