"""Tracks the visibility of the open chat, for the marks of unseen replies. Main thread."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject

from headstart.ui.controllers.unseen import UnseenController
from headstart.ui.shell.shell import Shell


class Sight(QObject):
    """Follows the window's state and the shown page."""

    def __init__(self, window: Shell, unseen: UnseenController) -> None:
        super().__init__(window)
        self._window = window
        self._unseen = unseen
        window.installEventFilter(self)
        window.pages.changed.connect(self._tell)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._window and event.type() == QEvent.Type.WindowStateChange:
            self._tell()
        return False

    def _tell(self) -> None:
        seen = not self._window.isMinimized() and not self._window.pages.elsewhere
        if seen != self._unseen.seen:
            self._unseen.see(seen)
