"""Unsent text: saved while it is typed, and restored after a restart. Main thread."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer

from headstart.chat.unsent import UnsentTexts
from headstart.ui.kit.tasks import Tasks
from headstart.ui.open_chat import OpenChat

# from the last key press until the text is saved
_PAUSE_MS = 600


class UnsentController(QObject):
    def __init__(self, unsent: UnsentTexts, open_chat: OpenChat, tasks: Tasks) -> None:
        super().__init__()
        self._unsent = unsent
        self._open = open_chat
        self._tasks = tasks
        self._changed: set[str] = set()
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.setInterval(_PAUSE_MS)
        self._timer.timeout.connect(self.flush)
        open_chat.written.connect(self._later)

    def load(self, show: bool) -> None:
        """Load the unsent text of the last session; `show`: open the new chat that had some."""
        self._tasks.spawn(self._load(show))

    def flush(self) -> None:
        """Save the changed texts now."""
        self._timer.stop()
        changed, self._changed = self._changed, set()
        for chat_id in changed:
            self._tasks.spawn(self._unsent.save(self._open.kept_of(chat_id)))

    async def _load(self, show: bool) -> None:
        self._open.restore(await self._unsent.load(), show)

    def _later(self, chat_id: str) -> None:
        self._changed.add(chat_id)
        self._timer.start()
