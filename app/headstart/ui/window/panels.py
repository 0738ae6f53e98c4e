"""Which panels are shown beside the transcript, and for which there is room."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from headstart.chat.preferences import Preferences
from headstart.ui import theme

# narrower than this there is no room for the inspector, with text of the usual size
INSPECTOR_FROM = 1100


class Panels(QObject):
    """`changed`: the room for everything else is another one; `closed`: the user closed one."""

    changed = Signal()
    closed = Signal()

    def __init__(
        self, window: QWidget, sidebar: QWidget, inspector: QWidget, preferences: Preferences
    ) -> None:
        super().__init__(window)
        self._window = window
        self._sidebar = sidebar
        self._inspector = inspector
        self._preferences = preferences
        self._wants_inspector = preferences.current.show_inspector
        self._elsewhere = False

    @property
    def wide(self) -> bool:
        return self._window.width() >= theme.px(INSPECTOR_FROM)

    def set_page(self, elsewhere: bool) -> None:
        """Another page than the chat has no use for its settings."""
        if elsewhere != self._elsewhere:
            self._elsewhere = elsewhere
            self.apply()

    def apply(self) -> None:
        self._sidebar.setVisible(self._preferences.current.show_sidebar)
        self._inspector.setVisible(self._wants_inspector and self.wide and not self._elsewhere)
        self.changed.emit()

    def show_sidebar(self) -> None:
        if not self._sidebar.isVisible():
            self.toggle_sidebar()

    def toggle_sidebar(self) -> None:
        self._preferences.update(show_sidebar=not self._sidebar.isVisible())
        self._sidebar.setVisible(self._preferences.current.show_sidebar)
        if self._sidebar.isVisible() and not self.wide:
            self._inspector.hide()
        self.changed.emit()
        if not self._sidebar.isVisible():
            self.closed.emit()

    def toggle_inspector(self) -> None:
        self._wants_inspector = not self._inspector.isVisible()
        self._preferences.update(show_inspector=self._wants_inspector)
        self._inspector.setVisible(self._wants_inspector)
        # in a narrow window there is room for one of them
        wanted = self._preferences.current.show_sidebar
        self._sidebar.setVisible(wanted and (self.wide or not self._wants_inspector))
        self.changed.emit()
        if not self._wants_inspector:
            self.closed.emit()

    def fit(self, width: int, before: int) -> None:
        """The window was resized from `before` pixels, -1 at first."""
        least = theme.px(INSPECTOR_FROM)
        narrow = width < least
        if narrow != (before < least) or before < 0:
            self._inspector.setVisible(self._wants_inspector and not narrow and not self._elsewhere)
            self._sidebar.setVisible(self._preferences.current.show_sidebar)
        if self._sidebar.isVisible() and not self.wide:
            self._inspector.hide()
        self.changed.emit()
