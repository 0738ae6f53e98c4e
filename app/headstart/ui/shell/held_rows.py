"""The rows above the composer for what was not begun again: each with the reason and a button.

They stay until everything was begun, or until they are dismissed for this run. Main thread.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QFrame,
    QGridLayout,
    QLabel,
    QPushButton,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from headstart.core.beginnings import Beginning
from headstart.ui.kit import icons
from headstart.ui.kit.aloud import tell
from headstart.ui.wording import say

# more rows would take the room of the chat; the rest is in the settings
_MOST_ROWS = 4
# widths of a button, from which on it stands beside the words
_BESIDE = 3


class HeldRow(QWidget):
    """A reason, with the button that begins the thing: beside it, or below where that would leave
    the words no room."""

    asked = Signal()

    def __init__(self, text: str, label: str, parent: QWidget) -> None:
        super().__init__(parent)
        self.text = QLabel(text, self)
        self.text.setWordWrap(True)
        self.text.setTextFormat(Qt.TextFormat.PlainText)
        self.button = QPushButton(label, self)
        self.button.setAutoDefault(False)
        self.button.setAccessibleName(label)
        self.button.setAccessibleDescription(text)
        self.button.clicked.connect(self.asked)
        self._layout = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(6)
        self._layout.addWidget(self.text, 1)
        self._layout.addWidget(self.button, 0, Qt.AlignmentFlag.AlignTop)

    def resizeEvent(self, event: QResizeEvent) -> None:
        is_narrow = event.size().width() < _BESIDE * self.button.sizeHint().width()
        way = QBoxLayout.Direction.TopToBottom if is_narrow else QBoxLayout.Direction.LeftToRight
        if self._layout.direction() != way:
            self._layout.setDirection(way)
            side = Qt.AlignmentFlag.AlignLeft if is_narrow else Qt.AlignmentFlag.AlignTop
            self._layout.setAlignment(self.button, side)
        super().resizeEvent(event)


class HeldRows(QFrame):
    begin_again = Signal(Beginning)
    begin_all = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        # it looks as the banner does
        self.setObjectName("banner")
        self.rows: list[HeldRow] = []
        self._dismissed = False
        self._column = QVBoxLayout()
        self._column.setSpacing(8)
        self.close_button = QToolButton(self)
        self.close_button.setIcon(icons.icon("x", "warning"))
        self.close_button.setAccessibleName(say("shell.dismiss-notice"))
        self.close_button.clicked.connect(self._dismiss)
        layout = QGridLayout(self)
        layout.setContentsMargins(12, 6, 6, 6)
        layout.setColumnStretch(0, 1)
        layout.addLayout(self._column, 0, 0)
        layout.addWidget(self.close_button, 0, 1, Qt.AlignmentFlag.AlignTop)
        self.hide()

    def show_held(self, held: Sequence[Beginning], safe: bool) -> None:
        """Show what is held, or one row for everything where nothing begins by itself."""
        for row in self.rows:
            self._column.removeWidget(row)
            row.hide()
            row.deleteLater()
        self.rows = []
        if safe:
            row = self._add(say("shell.nothing-begins"), say("shell.begin-all"))
            row.asked.connect(self.begin_all)
        for one in held[: _MOST_ROWS - len(self.rows)]:
            row = self._add(one.told.text, say("shell.begin-again"))
            row.asked.connect(lambda one=one: self.begin_again.emit(one))
        self.setVisible(bool(self.rows) and not self._dismissed)
        if self.rows and not self._dismissed:
            tell(self, " ".join(row.text.text() for row in self.rows), urgent=True)

    def _add(self, text: str, label: str) -> HeldRow:
        row = HeldRow(text, label, self)
        self.rows.append(row)
        self._column.addWidget(row)
        return row

    def _dismiss(self) -> None:
        self._dismissed = True
        self.hide()
