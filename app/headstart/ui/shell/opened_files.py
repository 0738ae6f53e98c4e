"""Files that a Mac hands to the program: a double click, a drop on its icon, “Open with”. They come
as events of the application, one for each file, also before there is a window. Main thread."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QTimer, Signal
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication

from headstart.core.started_with import MOST_FILES, StartedWith

# ms between events of files that were chosen together
TOGETHER = 100


class OpenedFiles(QObject):
    """Emits `arrived` with a `StartedWith` for files that came together, once `release` was
    called."""

    arrived = Signal(StartedWith)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._files: list[str] = []
        self._released = False
        self._timer = QTimer(self, singleShot=True, interval=TOGETHER)
        self._timer.timeout.connect(self._hand_on)

    def take(self, file: str) -> None:
        if file and len(self._files) < MOST_FILES:
            self._files.append(file)
            self._timer.start()

    def release(self) -> None:
        """Hand on what came so far, and from now on what comes."""
        self._released = True
        self._hand_on()

    def _hand_on(self) -> None:
        if self._released and self._files:
            files, self._files = tuple(self._files), []
            self.arrived.emit(StartedWith(files))


class Application(QApplication):
    """Qt's application, which keeps the files that the system hands to it."""

    def __init__(self, arguments: Sequence[str]) -> None:
        super().__init__(arguments)
        self.opened = OpenedFiles(self)

    def event(self, event: QEvent) -> bool:
        if isinstance(event, QFileOpenEvent):
            self.opened.take(event.file())
            return True
        return super().event(event)
