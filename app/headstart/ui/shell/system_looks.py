"""Looks of the desktop: light or dark, and its font, with changes followed at once."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Signal
from PySide6.QtGui import QFontDatabase, QGuiApplication
from PySide6.QtWidgets import QWidget


class SystemLooks(QObject):
    """Emits `changed` when the looks may have changed. Watches one window."""

    changed = Signal()

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        window.installEventFilter(self)
        # kept: PySide frees what hangs on it otherwise
        self._hints = QGuiApplication.styleHints()
        self._hints.colorSchemeChanged.connect(self.changed)
        self._hints.accessibility().contrastPreferenceChanged.connect(self.changed)
        screen = QGuiApplication.primaryScreen()
        if screen is not None:
            # the text scale, on desktops that scale only text
            screen.logicalDotsPerInchChanged.connect(self.changed)

    @property
    def now(self) -> tuple[object, ...]:
        """The current looks as a value: equal values mean equal looks."""
        font = QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont)
        screen = QGuiApplication.primaryScreen()
        density = 0.0 if screen is None else screen.logicalDotsPerInch()
        hints = QGuiApplication.styleHints()
        contrast = hints.accessibility().contrastPreference()
        return hints.colorScheme(), contrast, font.key(), density

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.ThemeChange, QEvent.Type.ApplicationFontChange):
            self.changed.emit()
        return False
