"""Theme, font and sizes of the window: as the settings and the desktop ask for. Main thread."""

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
        # as the window was made
        self._applied = self._wanted()
        self._system.changed.connect(self.apply)

    def _wanted(self) -> tuple[object, ...]:
        settings = self._preferences.current
        reading = (settings.text_size, settings.column_width, settings.line_spacing)
        return (settings.theme, settings.text_font, *reading, self._system.now)

    def apply(self) -> None:
        """Take over what the settings and the system ask for, where that is something else."""
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
        """Text of the next size (1), the one before (-1), or the usual one (0)."""
        sizes, now = TEXT_SIZES, self._preferences.current.text_size
        if not by:
            wanted = 100
        elif by > 0:
            wanted = next((size for size in sizes if size > now), sizes[-1])
        else:
            wanted = next((size for size in reversed(sizes) if size < now), sizes[0])
        self._preferences.update(text_size=wanted)
