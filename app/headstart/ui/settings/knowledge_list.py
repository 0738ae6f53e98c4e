"""The rows of folders and files that questions are answered from. Main thread."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from headstart.core.knowledge.values import SourceState, source_name
from headstart.ui.kit.tips import plain_tip
from headstart.ui.kit.tool import small_tool
from headstart.ui.settings.row_list import EntryRow, EntryRows
from headstart.ui.source_words import left_out_text, state_text
from headstart.ui.wording import say


class SourceRow(EntryRow):
    """Emits the path of its source; `begun`: that it is looked at again, which was held."""

    begun = Signal(str)

    def __init__(self, state: SourceState, parent: QWidget) -> None:
        self.begin = small_tool(parent, "play")
        super().__init__(state.source, parent, self.begin)
        self.begin.clicked.connect(lambda: self.begun.emit(self.key))
        self.follow(state)

    def follow(self, state: SourceState) -> None:
        name, left = source_name(state.source), left_out_text(state)
        said = f"{state_text(state)}\n{left}" if left else state_text(state)
        self.show_words(name, state.source, said)
        words = say("settings.read-again", source=name)
        self.begin.setAccessibleName(words)
        self.begin.setToolTip(plain_tip(words))
        self.begin.setVisible(state.held)
        self.remove.setAccessibleName(say("settings.remove-name", name=name))


class SourceRows(EntryRows[SourceState, SourceRow]):
    def __init__(self, parent: QWidget) -> None:
        nothing = say("settings.no-sources")
        super().__init__(parent, nothing, lambda one: SourceRow(one, self), SourceRow.follow)

    def show_sources(self, states: Sequence[SourceState]) -> None:
        self.show_entries({one.source: one for one in states})
