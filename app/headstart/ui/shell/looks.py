"""Theme, font and sizes of the window, from the settings and the desktop. Main thread."""

from __future__ import annotations

from PySide6.QtCore import QObject
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import QApplication, QWidget

from headstart.chat.preferences import Preferences
from headstart.core.settings.schema import TEXT_SIZES
from headstart.ui.kit import theme
from headstart.ui.shell.system_looks import SystemLooks


class WindowLooks(QObject):
    def __init__(self, window: QWidget, preferences: Preferences) -> None:
        super().__init__(window)
        self._preferences = preferences
        self._system = SystemLooks(window)
        # the looks with which the window was created
        self._applied = self._wanted()
        self._system.changed.connect(self.apply)

    def _wanted(self) -> tuple[object, ...]:
        settings = self._preferences.current
        reading = (settings.text_size, settings.column_width, settings.line_spacing)
        return (settings.theme, settings.text_font, *reading, self._system.now)

    def apply(self) -> None:
        """Apply the looks from the settings and the system, if they changed."""
        wanted = self._wanted()
        if wanted == self._applied:
            return
        self._applied = wanted
        application, settings = QApplication.instance(), self._preferences.current
        assert isinstance(application, QApplication)
        theme.measure(QFontDatabase.systemFont(QFontDatabase.SystemFont.GeneralFont))
        theme.set_reading(settings.text_size, settings.column_width, settings.line_spacing)
        theme.apply(application, settings.theme, settings.text_font)

    def larger(self, by: int) -> None:
        """Set the text to the next size (1), the previous one (-1), or the usual one (0)."""
        sizes, now = TEXT_SIZES, self._preferences.current.text_size
        if not by:
            wanted = 100
        elif by > 0:
            wanted = next((size for size in sizes if size > now), sizes[-1])
        else:
            wanted = next((size for size in reversed(sizes) if size < now), sizes[0])
        self._preferences.update(text_size=wanted)
