"""The button that leads to the end of a chat while the reader is elsewhere; it shows new messages
and a reply being written."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractScrollArea, QToolButton

from headstart.ui.kit import icons
from headstart.ui.wording import say

# px above the end from which the button is shown, and px between it and the edge
_FAR, _ROOM = 160, 12


class EndButton(QToolButton):
    def __init__(self, area: QAbstractScrollArea) -> None:
        super().__init__(area)
        self._area = area
        self._new = 0
        self._writing = False
        self.setObjectName("toEnd")
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.hide()
        self.setIcon(icons.icon("arrow-down"))
        self._say()

    def added(self, count: int) -> None:
        """Count messages that arrived while the reader was elsewhere."""
        self._new += count
        self._say()

    def set_writing(self, writing: bool) -> None:
        self._writing = writing
        self._say()

    def place(self, following: bool) -> None:
        """Place the button; hide it if the reader is at the end."""
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
            text = say("transcript.writing")
        elif self._new:
            text = say("transcript.count-new-messages", count=self._new)
        else:
            text = say("transcript.to-end")
        if text != self.text():
            self.setText(text)
            news = self._writing or self._new
            self.setAccessibleName(
                say("transcript.go-to-end-for", text=text) if news else say("transcript.go-to-end")
            )
