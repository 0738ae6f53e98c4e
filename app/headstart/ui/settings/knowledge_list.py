"""The rows of folders and files that questions are answered from. Main thread."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QVBoxLayout, QWidget

from headstart.core.knowledge.values import SourceState
from headstart.ui.kit.elided import ElidedLabel
from headstart.ui.kit.tips import plain_tip
from headstart.ui.kit.tool import small_tool
from headstart.ui.source_words import left_out_text, source_name, state_text
from headstart.ui.wording import say


class SourceRow(QFrame):
    """Emits the path of its source."""

    removed = Signal(str)

    def __init__(self, state: SourceState, parent: QWidget) -> None:
        super().__init__(parent)
        self.source = state.source
        self.name = QLabel(self)
        self.name.setTextFormat(Qt.TextFormat.PlainText)
        self.place = ElidedLabel("", self, name="quiet")
        self.state = QLabel(self)
        self.state.setObjectName("quiet")
        self.state.setTextFormat(Qt.TextFormat.PlainText)
        self.state.setWordWrap(True)
        self.remove = small_tool(self, "trash-2", name=say("settings.remove"))
        self.remove.clicked.connect(lambda: self.removed.emit(self.source))
        words = QVBoxLayout()
        words.setSpacing(2)
        for label in (self.name, self.place, self.state):
            words.addWidget(label)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 4, 0, 4)
        row.addLayout(words, 1)
        row.addWidget(self.remove)
        self.follow(state)

    def follow(self, state: SourceState) -> None:
        name = source_name(state.source)
        self.name.setText(name)
        self.place.set_full_text(state.source)
        self.place.setToolTip(plain_tip(state.source))
        left = left_out_text(state)
        self.state.setText(f"{state_text(state)}\n{left}" if left else state_text(state))
        self.remove.setAccessibleName(say("settings.remove-name", name=name))


class SourceRows(QWidget):
    """One row for each source; `row_made` hands over a new one to be connected."""

    row_made = Signal(object)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.rows: dict[str, SourceRow] = {}
        self.nothing = QLabel(say("settings.no-sources"), self)
        self.nothing.setObjectName("quietText")
        self.nothing.setWordWrap(True)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(8)
        self._column.addWidget(self.nothing)

    def show_sources(self, states: Sequence[SourceState]) -> None:
        sources = [one.source for one in states]
        for source in [one for one in self.rows if one not in sources]:
            row = self.rows.pop(source)
            self._column.removeWidget(row)
            row.hide()
            row.deleteLater()
        for state in states:
            known = self.rows.get(state.source)
            if known is not None:
                known.follow(state)
                continue
            row = self.rows[state.source] = SourceRow(state, self)
            self._column.addWidget(row)
            self.row_made.emit(row)
        self.nothing.setVisible(not states)
