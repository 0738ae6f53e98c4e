"""The folders and files that are searched for the next question: a chip for each, above the text.
Main thread."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton, QWidget

from headstart.core.knowledge.values import source_name
from headstart.core.text.shown import isolated, shortened
from headstart.ui.kit import icons
from headstart.ui.kit.flow import FlowLayout
from headstart.ui.kit.tips import plain_tip
from headstart.ui.wording import say

_NAME = 40


class SourceChips(QWidget):
    """Emits `opened` when a chip is clicked, and `every_wanted` for a question to every
    document."""

    opened = Signal()
    every_wanted = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.chips: list[QPushButton] = []
        self._shown: tuple[str, ...] = ()
        self._flow = FlowLayout(self)
        self.every = QPushButton(say("composer.ask-every"), self)
        self.every.setObjectName("toolChip")
        self.every.setAutoDefault(False)
        self.every.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.every.setCursor(Qt.CursorShape.PointingHandCursor)
        self.every.setToolTip(say("composer.ask-every-tip"))
        self.every.clicked.connect(self.every_wanted)
        self.hide()

    def show_sources(self, sources: Sequence[str]) -> None:
        """Show the sources that the chat's questions are answered from."""
        if tuple(sources) == self._shown:
            return
        self._shown = tuple(sources)
        for chip in self.chips:
            self._flow.removeWidget(chip)
            chip.hide()
            chip.deleteLater()
        self._flow.removeWidget(self.every)
        self.chips = [self._chip(one) for one in sources]
        self._flow.addWidget(self.every)
        self.setVisible(bool(sources))
        self.updateGeometry()

    def _chip(self, source: str) -> QPushButton:
        name = isolated(shortened(source_name(source), _NAME))
        text = say("composer.chip-of-source", name=name)
        chip = QPushButton(icons.icon("folder-open"), text.replace("&", "&&"), self)
        chip.setObjectName("toolChip")
        chip.setAutoDefault(False)
        chip.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        chip.setCursor(Qt.CursorShape.PointingHandCursor)
        chip.setAccessibleName(text)
        chip.setToolTip(plain_tip(say("composer.source-tip", source=source)))
        chip.clicked.connect(self.opened)
        self._flow.addWidget(chip)
        chip.show()
        return chip
