"""Things that begin by themselves and are held back, for the window. Main thread."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from headstart.chat.beginnings import Beginnings
from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import HeldChanged
from headstart.core.beginnings import Beginning, BegunKind
from headstart.core.told import Told


class BeginningsController(QObject):
    # what did not end last time, and True where nothing begins by itself
    changed = Signal(tuple, bool)

    def __init__(self, beginnings: Beginnings, broadcast: Broadcast) -> None:
        super().__init__()
        self._beginnings = beginnings
        broadcast.on(HeldChanged, lambda _change: self.show())

    def show(self) -> None:
        """Emit `changed`."""
        held: Sequence[Beginning] = self._beginnings.held
        self.changed.emit(tuple(held), self._beginnings.safe)

    def why_held(self, kind: BegunKind, name: str = "") -> Told | None:
        return self._beginnings.why_held(kind, name)

    def begin_again(self, one: Beginning) -> None:
        self._beginnings.begin_again(one.kind, one.name)

    def begin_all(self) -> None:
        """Begin what waits in safe mode."""
        self._beginnings.begin_all()
