"""The whole documents that stand first in the open chat's prompts: a row for each."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from headstart.chat.knowledge.pinning import PinnedState
from headstart.ui.kit.elided import ElidedLabel
from headstart.ui.kit.tips import plain_tip
from headstart.ui.kit.tool import small_tool
from headstart.ui.wording import say


class PinnedPanel(QWidget):
    """Emits the digest of a document to take out, or to replace by its file as it is now."""

    pin_wanted = Signal()
    removed = Signal(str)
    renewed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._widgets: list[QWidget] = []
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 6, 0, 0)
        layout.setSpacing(6)
        heading = QLabel(say("inspector.whole-documents"), self)
        about = QLabel(say("inspector.about-whole-documents"), self)
        about.setObjectName("quiet")
        about.setWordWrap(True)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(2)
        self._grid.setColumnStretch(0, 1)
        self.pin = QPushButton(say("inspector.pin-document"), self)
        self.pin.setAutoDefault(False)
        self.pin.clicked.connect(self.pin_wanted)
        line = QHBoxLayout()
        line.addWidget(self.pin)
        line.addStretch(1)
        for part in (heading, about):
            layout.addWidget(part)
        layout.addLayout(self._grid)
        layout.addLayout(line)

    def show_states(self, states: Sequence[PinnedState], own: Sequence[str]) -> None:
        """Show the documents of the chat; `own`: digests of those that are not a folder's."""
        for widget in self._widgets:
            self._grid.removeWidget(widget)
            widget.hide()
            widget.deleteLater()
        self._widgets = []
        for number, state in enumerate(states):
            self._add(number, state, state.document.digest in own)

    def _add(self, number: int, state: PinnedState, own: bool) -> None:
        document = state.document
        title = ElidedLabel(document.name, self)
        title.setToolTip(plain_tip(document.path or document.source))
        note = QLabel(self)
        note.setObjectName("quiet")
        note.setWordWrap(True)
        note.setTextFormat(Qt.TextFormat.PlainText)
        code = "inspector.document-gone" if not state.tokens else "inspector.document-tokens"
        said = [say(code, tokens=state.tokens)]
        if state.changed:
            said.append(say("inspector.document-changed"))
        if not own:
            said.append(say("inspector.document-of-folder"))
        note.setText(" · ".join(said))
        self._grid.addWidget(title, 2 * number, 0)
        self._grid.addWidget(note, 2 * number + 1, 0)
        made: list[QWidget] = [title, note]
        if own and state.changed:
            again = small_tool(self, "refresh-cw", name=say("inspector.read-again"))
            again.setAccessibleName(say("inspector.read-name-again", name=document.name))
            again.clicked.connect(lambda: self.renewed.emit(document.digest))
            self._grid.addWidget(again, 2 * number, 1)
            made.append(again)
        if own:
            remove = small_tool(self, "x", name=say("inspector.unpin"))
            remove.setAccessibleName(say("inspector.unpin-name", name=document.name))
            remove.clicked.connect(lambda: self.removed.emit(document.digest))
            self._grid.addWidget(remove, 2 * number, 2)
            made.append(remove)
        for widget in made:
            widget.show()
        self._widgets += made
