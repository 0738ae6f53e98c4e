"""Lists of a settings page with a row of three lines for each entry. Main thread."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from headstart.ui.kit.elided import ElidedLabel
from headstart.ui.kit.tips import plain_tip
from headstart.ui.kit.tool import small_tool
from headstart.ui.wording import say

T = TypeVar("T")


class EntryRow(QFrame):
    """A name, a place and a state, with the button that removes the entry and `controls` before
    it. Emits the key of the entry."""

    removed = Signal(str)

    def __init__(self, key: str, parent: QWidget, *controls: QWidget) -> None:
        super().__init__(parent)
        self.key = key
        self.name = QLabel(self)
        self.name.setTextFormat(Qt.TextFormat.PlainText)
        self.place = ElidedLabel("", self, name="quiet")
        self.state = QLabel(self)
        self.state.setObjectName("quiet")
        self.state.setTextFormat(Qt.TextFormat.PlainText)
        self.state.setWordWrap(True)
        self.remove = small_tool(self, "trash-2", name=say("settings.remove"))
        self.remove.clicked.connect(lambda: self.removed.emit(self.key))
        words = QVBoxLayout()
        words.setSpacing(2)
        for label in (self.name, self.place, self.state):
            words.addWidget(label)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 4, 0, 4)
        row.addLayout(words, 1)
        for control in (*controls, self.remove):
            row.addWidget(control)

    def show_words(self, name: str, place: str, state: str) -> None:
        self.name.setText(name)
        self.place.set_full_text(place)
        self.place.setToolTip(plain_tip(place))
        self.state.setText(state)


R = TypeVar("R", bound=EntryRow)


class EntryRows(QWidget, Generic[T, R]):
    """One row for each entry; `row_made` hands over a new one to be connected."""

    row_made = Signal(object)

    def __init__(
        self, parent: QWidget, nothing: str, make: Callable[[T], R], follow: Callable[[R, T], None]
    ) -> None:
        """`nothing`: the text without entries. `make` makes the row of an entry, `follow` shows its
        new state."""
        super().__init__(parent)
        self.rows: dict[str, R] = {}
        self._make, self._follow = make, follow
        self.nothing = QLabel(nothing, self)
        self.nothing.setObjectName("quietText")
        self.nothing.setWordWrap(True)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(8)
        self._column.addWidget(self.nothing)

    def show_entries(self, entries: Mapping[str, T]) -> None:
        """Show these entries, by their keys."""
        for key in [one for one in self.rows if one not in entries]:
            row = self.rows.pop(key)
            self._column.removeWidget(row)
            row.hide()
            row.deleteLater()
        for key, entry in entries.items():
            known = self.rows.get(key)
            if known is not None:
                self._follow(known, entry)
                continue
            row = self.rows[key] = self._make(entry)
            self._column.addWidget(row)
            self.row_made.emit(row)
        self.nothing.setVisible(not entries)
