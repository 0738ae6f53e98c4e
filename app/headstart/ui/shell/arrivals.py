"""Arguments of the program's start, and of further starts, which raise the existing window."""

from __future__ import annotations

from PySide6.QtCore import Qt

from headstart.chat.preferences import Preferences
from headstart.core.started_with import StartedWith
from headstart.ui.controllers.everything import Controllers
from headstart.ui.shell.main_window import MainWindow
from headstart.ui.wording import say


class Arrivals:
    def __init__(
        self, window: MainWindow, controllers: Controllers, preferences: Preferences
    ) -> None:
        self._window = window
        self._controllers = controllers
        self._preferences = preferences

    def expect(self, fresh: bool) -> None:
        """Show neither a greeting nor a chat before `open_last`, unless a new chat opens."""
        self._window.wait_for_chat(bool(self._preferences.state.current.open_chat) and not fresh)
        self._controllers.branch.known.connect(lambda: self._window.wait_for_chat(False))

    def open_last(self, fresh: bool, interrupted: str = "") -> None:
        """Open the last open chat at the last position in view, or the chat whose reply was
        `interrupted`; a new one if `fresh`."""
        state = self._preferences.state.current
        last = "" if fresh else interrupted or state.open_chat
        place = state.open_place if last and not interrupted else None
        if fresh and interrupted:
            # do not open it unasked, but offer to
            self._window.banner.offer(
                say("shell.open"), lambda: self._window.open_chat(interrupted)
            )
        elif last and self._window.banner.of_chat:
            self._window.banner.belong(last, self._controllers.open.id)
        self._controllers.unsent.load(show=not last)
        self._window.transcript.reaching.expected = place
        self._controllers.branch.open_last(last, place.message if place else "")

    def begin(self, started: StartedWith) -> None:
        if started.new_chat:
            self._window.new_chat()
        if started.model:
            self._controllers.models.open_file(started.model)
        if started.files:
            self._window.open_files(started.files)

    def arrive(self, started: StartedWith) -> None:
        """Raise the window and take over the arguments of a further start."""
        window = self._window
        if window.isMinimized():
            window.setWindowState(window.windowState() & ~Qt.WindowState.WindowMinimized)
        window.show()
        window.raise_()
        window.activateWindow()
        self.begin(started)
