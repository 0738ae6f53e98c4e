"""Panels beside the transcript, as far as there is room: the chats on the left, the chat's settings
or its branches on the right."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from headstart.chat.preferences import Preferences
from headstart.ui.kit import theme

# width, with text of the usual size, from which on the chats and a panel on the right both have
# room
BOTH_FROM = 1000


class Panels(QObject):
    """`changed`: the room for the other parts changed; `closed`: the user closed a panel."""

    changed = Signal()
    closed = Signal()
    branches_closed = Signal()

    def __init__(
        self, window: QWidget, sidebar: QWidget, inspector: QWidget, preferences: Preferences
    ) -> None:
        super().__init__(window)
        self._window = window
        self._sidebar = sidebar
        self._inspector = inspector
        self._preferences = preferences
        # the panel of branches, once created
        self.branches: QWidget | None = None
        self._wants_inspector = preferences.state.current.show_inspector
        self._wants_branches = False
        self._elsewhere = self._alone = False
        # True while a panel on the right leaves its room to the chats, until it is opened again
        self._yields = False

    @property
    def wide(self) -> bool:
        return self._window.width() >= theme.px(BOTH_FROM)

    @property
    def inspector_open(self) -> bool:
        return not self._inspector.isHidden()

    @property
    def branches_open(self) -> bool:
        return self.branches is not None and not self.branches.isHidden()

    def set_page(self, elsewhere: bool, alone: bool = False) -> None:
        """Hide panels that the shown page has no use for: `elsewhere` those of the chat, `alone`
        the chats, too."""
        if (elsewhere, alone) != (self._elsewhere, self._alone):
            self._elsewhere, self._alone = elsewhere, alone
            self.apply()

    def apply(self) -> None:
        """Show the wanted panels, as far as there is room: one on the right takes precedence over
        the chats, because the user opened it."""
        right = not self._elsewhere and (self._wants_branches or self._wants_inspector)
        narrow = not self.wide
        # a window that became narrow keeps the chats
        right = right and not (narrow and self._yields)
        self._inspector.setVisible(right and not self._wants_branches)
        if self.branches is not None:
            self.branches.setVisible(right and self._wants_branches)
        wanted = self._preferences.state.current.show_sidebar and not self._alone
        self._sidebar.setVisible(wanted and not (right and narrow))
        self.changed.emit()

    def show_sidebar(self) -> None:
        if not self._sidebar.isVisible():
            self.toggle_sidebar()

    def toggle_sidebar(self) -> None:
        shown = not self._sidebar.isVisible()
        self._preferences.state.update(show_sidebar=shown)
        self._yields = shown and not self.wide
        self.apply()
        if not shown:
            self.closed.emit()

    def toggle_inspector(self) -> None:
        self.open_inspector(not self.inspector_open)

    def open_inspector(self, wanted: bool = True) -> None:
        self._wants_inspector = wanted
        self._yields = False
        if wanted:
            self._leave_branches()
        self._preferences.state.update(show_inspector=wanted)
        self.apply()
        if not wanted:
            self.closed.emit()

    def open_branches(self, panel: QWidget) -> None:
        if self.branches is None:
            # next to the inspector
            row = self._inspector.parentWidget()
            layout = None if row is None else row.layout()
            assert layout is not None
            layout.addWidget(panel)
        self.branches, self._wants_branches, self._yields = panel, True, False
        self.apply()

    def close_branches(self) -> None:
        if self._wants_branches:
            self._leave_branches()
            self.apply()
            self.closed.emit()

    def _leave_branches(self) -> None:
        if self._wants_branches:
            self._wants_branches = False
            self.branches_closed.emit()

    def fit(self, width: int, before: int) -> None:
        """Adapt to a new width of the window; `before`: the previous one, -1 at first."""
        least = theme.px(BOTH_FROM)
        if before < 0 or (width < least) != (before < least):
            self._yields = width < least
            self.apply()
        else:
            self.changed.emit()
