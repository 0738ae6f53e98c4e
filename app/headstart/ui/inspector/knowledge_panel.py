"""The folders and files that the open chat's questions are answered from: a switch for each."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from headstart.core.knowledge.pinned import PinnedDocument, replaced
from headstart.core.knowledge.values import SourceState, source_name
from headstart.ui.inspector.pinned_panel import PinnedPanel
from headstart.ui.kit.choice import Choice
from headstart.ui.kit.elided import ElidedLabel
from headstart.ui.kit.joining import commas
from headstart.ui.kit.switch import Switch
from headstart.ui.kit.tips import plain_tip
from headstart.ui.source_words import state_text
from headstart.ui.wording import say

# the words for what becomes of passages that only resemble a question
_DOUBTFUL = {
    "ask": "inspector.doubtful-ask",
    "give": "inspector.doubtful-give",
    "leave_out": "inspector.doubtful-leave-out",
}
# px below the note of a source
_BELOW = 8


class _Row:
    def __init__(self, state: SourceState, parent: QWidget) -> None:
        name = source_name(state.source)
        self.title = ElidedLabel(name, parent)
        self.title.setToolTip(plain_tip(state.source))
        self.switch = Switch(say("inspector.search-in", name=name), parent)
        self.note = QLabel(parent)
        self.note.setObjectName("quiet")
        self.note.setWordWrap(True)
        self.note.setTextFormat(Qt.TextFormat.PlainText)
        self.note.setContentsMargins(0, 0, 0, _BELOW)

    @property
    def widgets(self) -> tuple[QWidget, ...]:
        return self.title, self.switch, self.note


class KnowledgePanel(QWidget):
    """Emits `chosen` with the paths of the sources that are on, `doubtful_chosen` with what becomes
    of passages that only resemble a question."""

    chosen = Signal(tuple)
    doubtful_chosen = Signal(str)
    # whole documents, in their order
    pins_chosen = Signal(tuple)
    add_wanted = Signal()
    summary_changed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows: dict[str, _Row] = {}
        self._choice: tuple[str, ...] = ()
        self._chat_id = ""
        self._pins: tuple[PinnedDocument, ...] = ()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(10)
        about = QLabel(say("inspector.about-knowledge"), self)
        about.setObjectName("quiet")
        about.setWordWrap(True)
        layout.addWidget(about)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(2)
        self._grid.setColumnStretch(0, 1)
        layout.addLayout(self._grid)
        self.add = QPushButton(say("inspector.folders-and-files"), self)
        self.add.setAutoDefault(False)
        self.add.clicked.connect(self.add_wanted)
        line = QHBoxLayout()
        line.addWidget(self.add)
        line.addStretch(1)
        layout.addLayout(line)
        self._doubtful_title = QLabel(say("inspector.doubtful"), self)
        self._doubtful_title.setWordWrap(True)
        self.doubtful = Choice(self)
        self.doubtful.setAccessibleName(say("inspector.doubtful"))
        for choice, words in _DOUBTFUL.items():
            self.doubtful.addItem(say(words), choice)
        self._doubtful_title.setBuddy(self.doubtful)
        self.doubtful.activated.connect(
            lambda _row: self.doubtful_chosen.emit(str(self.doubtful.currentData()))
        )
        layout.addWidget(self._doubtful_title)
        layout.addWidget(self.doubtful)
        self.pinned = PinnedPanel(self)
        self.pinned.removed.connect(lambda digest: self.pin(self._chat_id, None, digest))
        layout.addWidget(self.pinned)

    @property
    def switches(self) -> dict[str, Switch]:
        """The switches by the paths of their sources."""
        return {source: row.switch for source, row in self._rows.items()}

    @property
    def summary(self) -> str:
        names = [source_name(one) for one in self._choice if one in self._rows]
        return commas(names) if names else say("inspector.no-knowledge")

    def set_choice(self, choice: Sequence[str]) -> None:
        """Show the sources in force in the chat."""
        self._choice = tuple(choice)
        self._show()

    def set_doubtful(self, choice: str) -> None:
        """Show what becomes of passages that only resemble a question in the chat."""
        self.doubtful.setCurrentIndex(max(0, self.doubtful.findData(choice)))

    def set_pins(self, chat_id: str, pins: Sequence[PinnedDocument]) -> None:
        """The chat's own whole documents."""
        self._chat_id, self._pins = chat_id, tuple(pins)

    def pin(self, chat_id: str, document: PinnedDocument | None, before: str = "") -> None:
        """Put a whole document first in the chat, or take the one with the digest `before` out."""
        if chat_id == self._chat_id:
            self.pins_chosen.emit(replaced(self._pins, document, before))

    def show_sources(self, states: Sequence[SourceState]) -> None:
        sources = [one.source for one in states]
        if sources != list(self._rows):
            self._build(states)
        for state in states:
            self._rows[state.source].note.setText(state_text(state))
        self._show()

    def _build(self, states: Sequence[SourceState]) -> None:
        for row in self._rows.values():
            for widget in row.widgets:
                self._grid.removeWidget(widget)
                widget.hide()
                widget.deleteLater()
        self._rows = {}
        for number, state in enumerate(states):
            row = self._rows[state.source] = _Row(state, self)
            row.switch.toggled.connect(lambda on, one=state.source: self._switch(one, on))
            self._grid.addWidget(row.title, 2 * number, 0)
            self._grid.addWidget(row.switch, 2 * number, 1, Qt.AlignmentFlag.AlignRight)
            self._grid.addWidget(row.note, 2 * number + 1, 0, 1, 2)
            for widget in row.widgets:
                widget.show()

    def _show(self) -> None:
        searched = any(one in self._rows for one in self._choice)
        self._doubtful_title.setVisible(searched)
        self.doubtful.setVisible(searched)
        for source, row in self._rows.items():
            with QSignalBlocker(row.switch):
                row.switch.setChecked(source in self._choice)
            row.switch.update()
        self.summary_changed.emit(self.summary)

    def _switch(self, source: str, on: bool) -> None:
        others = tuple(one for one in self._choice if one != source)
        self._choice = (*others, source) if on else others
        self._show()
        self.chosen.emit(self._choice)
        self.summary_changed.emit(self.summary)
