"""The tool servers of the open chat: a chip for each with its cost, above the text. Main
thread."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QPushButton, QWidget

from headstart.chat.agent.costs import ServerCost, ToolCosts
from headstart.core.text.shown import shortened
from headstart.ui.kit import icons
from headstart.ui.kit.flow import FlowLayout
from headstart.ui.kit.tips import plain_tip
from headstart.ui.wording import say

_NAME = 40


class ToolChips(QWidget):
    """Emits `opened` when a chip is clicked."""

    opened = Signal()

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.chips: list[QPushButton] = []
        self._shown: tuple[ServerCost, ...] = ()
        self._flow = FlowLayout(self)
        self.hide()

    def show_costs(self, costs: ToolCosts) -> None:
        """Show the servers that the chat has switched on."""
        shown = tuple(one for one in costs.servers if one.chosen)
        if shown == self._shown:
            return
        self._shown = shown
        for chip in self.chips:
            self._flow.removeWidget(chip)
            chip.hide()
            chip.deleteLater()
        self.chips = [self._chip(one) for one in shown]
        self.setVisible(bool(shown))
        self.updateGeometry()

    def _chip(self, cost: ServerCost) -> QPushButton:
        code = "composer.chip-of-server" if cost.known else "composer.chip-of-new-server"
        facts = {"server": shortened(cost.name, _NAME), "tools": cost.tools, "tokens": cost.tokens}
        text = say(code, **facts)
        chip = QPushButton(icons.icon("wrench"), text.replace("&", "&&"), self)
        chip.setObjectName("toolChip")
        chip.setAutoDefault(False)
        chip.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        chip.setCursor(Qt.CursorShape.PointingHandCursor)
        chip.setAccessibleName(text)
        chip.setToolTip(plain_tip(say("composer.chip-tip", server=cost.name)))
        chip.clicked.connect(self.opened)
        self._flow.addWidget(chip)
        chip.show()
        return chip
