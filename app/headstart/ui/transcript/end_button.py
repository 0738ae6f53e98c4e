"""The button that leads to the end of a chat, while the reader is elsewhere; it says what is new
there."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QAbstractScrollArea, QToolButton

from headstart.core.text.shown import count_words
from headstart.ui.kit import icons

# px above the end from which on it is shown, and its room to the edge
_FAR, _ROOM = 160, 12


class EndButton(QToolButton):
    def __init__(self, area: QAbstractScrollArea) -> None:
        super().__init__(area)
        self._area = area
        self._new = 0
        self._writing = False
        self.setObjectName("toEnd")
        self.setIconSize(QSize(14, 14))
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.hide()
        self.setIcon(icons.icon("arrow-down"))
        self._say()

    def added(self, count: int) -> None:
        """So many messages came while the reader was elsewhere."""
        self._new += count
        self._say()

    def set_writing(self, writing: bool) -> None:
        self._writing = writing
        self._say()

    def place(self, following: bool) -> None:
        """Place the button; hidden for a reader at the end."""
        bar = self._area.verticalScrollBar()
        if following:
            self._new = 0
        shown = not following and bar.maximum() - bar.value() > _FAR
        self.setVisible(shown)
        if shown:
            self._say()
            hint, view = self.sizeHint(), self._area.viewport()
            x = view.x() + (view.width() - hint.width()) // 2
            y = view.y() + view.height() - hint.height() - _ROOM
            self.setGeometry(x, y, hint.width(), hint.height())
            self.raise_()

    def _say(self) -> None:
        if self._writing:
            text = "Writing…"
        elif self._new:
            text = f"{count_words(self._new, 'new message')}"
        else:
            text = "To the end"
        if text != self.text():
            self.setText(text)
            self.setAccessibleName("Go to the end" + ("" if text == "To the end" else f": {text}"))
