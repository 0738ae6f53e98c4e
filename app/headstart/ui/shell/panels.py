"""Which panels are shown beside the transcript, and for which there is room: the chats at its left,
the chat's settings or its branches at its right."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QWidget

from headstart.chat.preferences import Preferences
from headstart.ui.kit import theme

# narrower than this there is no room for a panel at the right beside the chats, with text of the
# usual size
BOTH_FROM = 1000


class Panels(QObject):
    """`changed`: the room for everything else is another one; `closed`: the user closed one."""

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
        # the panel of branches, once it was made
        self.branches: QWidget | None = None
        self._wants_inspector = preferences.state.current.show_inspector
        self._wants_branches = False
        self._elsewhere = self._alone = False
        # a panel at the right gives its room to the chats, until it is opened once more
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
        """Another page than the chat has no use for its settings; one that is `alone` has no use
        for the chats either."""
        if (elsewhere, alone) != (self._elsewhere, self._alone):
            self._elsewhere, self._alone = elsewhere, alone
            self.apply()

    def apply(self) -> None:
        """Show what is wanted, as far as there is room: a panel at the right comes before the
        chats, because the user opened it."""
        right = not self._elsewhere and (self._wants_branches or self._wants_inspector)
        narrow = not self.wide
        # a window that was made narrow keeps the chats
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
            # beside the chats, where the other panel is
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
        """The window was resized from `before` pixels, -1 at first."""
        least = theme.px(BOTH_FROM)
        if before < 0 or (width < least) != (before < least):
            self._yields = width < least
            self.apply()
        else:
            self.changed.emit()
