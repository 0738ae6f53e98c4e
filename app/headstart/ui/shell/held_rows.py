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
    QScrollArea,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from headstart.core.beginnings import Beginning
from headstart.ui.kit import icons
from headstart.ui.kit.aloud import tell
from headstart.ui.kit.focus import in_reading_order
from headstart.ui.wording import say

# lines of text; more would take the room of the chat, so the rows scroll
_MOST_LINES = 10
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

    def height_at(self, width: int) -> int:
        """Put the button where it belongs at this width; returns the height."""
        is_narrow = width < _BESIDE * self.button.sizeHint().width()
        way = QBoxLayout.Direction.TopToBottom if is_narrow else QBoxLayout.Direction.LeftToRight
        if self._layout.direction() != way:
            self._layout.setDirection(way)
            side = Qt.AlignmentFlag.AlignLeft if is_narrow else Qt.AlignmentFlag.AlignTop
            self._layout.setAlignment(self.button, side)
        return self._layout.heightForWidth(width)


class HeldRows(QFrame):
    """As high as its rows, or as ten lines of text if that is less."""

    begin_again = Signal(Beginning)
    begin_all = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        # it looks as the banner does
        self.setObjectName("banner")
        self.rows: list[HeldRow] = []
        self._dismissed = False
        self._body = QWidget(self)
        self._column = QVBoxLayout(self._body)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(8)
        self._area = QScrollArea(self)
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self._area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._area.setWidgetResizable(True)
        # its buttons have it
        self._area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._area.setWidget(self._body)
        # the ground is this frame's
        self._area.viewport().setAutoFillBackground(False)
        self._body.setAutoFillBackground(False)
        self.close_button = QToolButton(self)
        self.close_button.setIcon(icons.icon("x", "warning"))
        self.close_button.setAccessibleName(say("shell.dismiss-notice"))
        self.close_button.clicked.connect(self._dismiss)
        layout = QGridLayout(self)
        layout.setContentsMargins(12, 6, 6, 6)
        layout.setColumnStretch(0, 1)
        layout.addWidget(self._area, 0, 0)
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
        for one in held:
            row = self._add(one.told.text, say("shell.begin-again"))
            row.asked.connect(lambda one=one: self.begin_again.emit(one))
        self.setVisible(bool(self.rows) and not self._dismissed)
        if self.rows and not self._dismissed:
            tell(self, " ".join(row.text.text() for row in self.rows), urgent=True)
        if self.rows:
            # where the close button was, and this one behind them
            buttons = [row.button for row in self.rows]
            in_reading_order(self.close_button, *buttons, self.close_button)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Take the height of the rows at this width."""
        width = self._area.viewport().width()
        high = sum(row.height_at(width) for row in self.rows)
        high += self._column.spacing() * max(0, len(self.rows) - 1)
        self._area.setFixedHeight(min(high, _MOST_LINES * self.fontMetrics().lineSpacing()))

    def _add(self, text: str, label: str) -> HeldRow:
        row = HeldRow(text, label, self)
        self.rows.append(row)
        self._column.addWidget(row)
        return row

    def _dismiss(self) -> None:
        self._dismissed = True
        self.hide()
