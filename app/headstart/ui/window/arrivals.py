"""What the program was started with; further starts of it bring its window to the front."""

from __future__ import annotations

from PySide6.QtCore import Qt

from headstart.core.started_with import StartedWith
from headstart.ui.controllers.everything import Controllers
from headstart.ui.window.main_window import MainWindow


class Arrivals:
    def __init__(self, window: MainWindow, controllers: Controllers) -> None:
        self._window = window
        self._controllers = controllers

    def begin(self, started: StartedWith) -> None:
        if started.new_chat:
            self._window.new_chat()
        if started.model:
            self._controllers.models.open_file(started.model)
        if started.files:
            self._window.open_files(started.files)

    def arrive(self, started: StartedWith) -> None:
        """A further start."""
        window = self._window
        if window.isMinimized():
            window.setWindowState(window.windowState() & ~Qt.WindowState.WindowMinimized)
        window.show()
        window.raise_()
        window.activateWindow()
        self.begin(started)
