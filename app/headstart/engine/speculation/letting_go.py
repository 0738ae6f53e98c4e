"""Unloads drafts that do not pay when memory is short. Engine thread."""

from __future__ import annotations

from headstart.core.models.ref import ModelRef
from headstart.engine.memory import is_short, memory
from headstart.engine.speculation.depth.choice import Depth


class LetGo:
    """A target's drafts that were let go. They stay unloaded until the user calibrates."""

    def __init__(self) -> None:
        self._keys: set[str] = set()

    def __contains__(self, draft: ModelRef) -> bool:
        return draft.key in self._keys

    def is_due(self, draft: ModelRef, depth: Depth, context: int) -> bool:
        """True if the draft should be unloaded now, which is then recorded. With a depth fixed by
        the user it stays, whatever it costs."""
        if depth.settings.depth_mode == "fixed" or not is_short(memory()):
            return False
        if not depth.worth.known_to_lose(context):
            return False
        self._keys.add(draft.key)
        return True

    def clear(self) -> None:
        self._keys.clear()
