"""A caret that rests: without typing it stops blinking, which saves wake-ups. Main thread."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QGuiApplication

# the same time as on desktops with this feature
REST_MS = 10_000


class RestingCaret(QObject):
    """Follows the caret of the focused field."""

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._hints = QGuiApplication.styleHints()
        # the desktop's flash time; 0 while the caret blinks
        self._usual = 0
        self._rest = QTimer(self)
        self._rest.setSingleShot(True)
        self._rest.setInterval(REST_MS)
        self._rest.timeout.connect(self._on_rest)
        QGuiApplication.inputMethod().cursorRectangleChanged.connect(self._on_move)
        app = QGuiApplication.instance()
        assert isinstance(app, QGuiApplication)
        app.focusObjectChanged.connect(self._on_move)
        self._rest.start()

    def _on_move(self) -> None:
        self._rest.start()
        if self._usual:
            self._hints.setCursorFlashTime(self._usual)
            self._usual = 0

    def _on_rest(self) -> None:
        self._usual = self._usual or self._hints.cursorFlashTime()
        self._hints.setCursorFlashTime(0)
