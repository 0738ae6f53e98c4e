"""Drafts that do not pay and go where memory is short: it is for what pays. Engine thread."""

from __future__ import annotations

from headstart.core.models.ref import ModelRef
from headstart.engine.memory import is_short, memory
from headstart.engine.speculation.depth.choice import Depth


class LetGo:
    """A target's drafts that were let go. They stay away until the user has them calibrated."""

    def __init__(self) -> None:
        self._keys: set[str] = set()

    def __contains__(self, draft: ModelRef) -> bool:
        return draft.key in self._keys

    def is_due(self, draft: ModelRef, depth: Depth, context: int) -> bool:
        """True if it is to go now; then it counts as gone. One whose depth the user has fixed is
        wanted whatever it costs."""
        if depth.settings.depth_mode == "fixed" or not is_short(memory()):
            return False
        if not depth.worth.known_to_lose(context):
            return False
        self._keys.add(draft.key)
        return True

    def clear(self) -> None:
        self._keys.clear()
