"""The tools that the chat's model may call, the program's own and those of servers: a switch for
each, with its cost."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QGridLayout, QLabel, QVBoxLayout, QWidget

from headstart.chat.agent.costs import ToolCosts
from headstart.core.own_tools import OWN_TOOLS
from headstart.ui.inspector.tool_servers_panel import ToolServersPanel
from headstart.ui.kit.joining import commas
from headstart.ui.kit.switch import Switch
from headstart.ui.tool_names import about_tool, tool_title
from headstart.ui.wording import say

# px below the note of a tool
_BELOW = 8


class ToolsPanel(QWidget):
    """Emits `chosen` with the names of the tools that are on."""

    chosen = Signal(tuple)
    summary_changed = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._costs: ToolCosts | None = None
        self.switches: dict[str, Switch] = {}
        self.notes: dict[str, QLabel] = {}
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(10)
        about = QLabel(say("inspector.tools-about"), self)
        about.setObjectName("quiet")
        about.setWordWrap(True)
        layout.addWidget(about)
        grid = QGridLayout()
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(2)
        grid.setColumnStretch(0, 1)
        for row, tool in enumerate(OWN_TOOLS):
            switch = self.switches[tool.name] = Switch(tool_title(tool.name), self)
            switch.toggled.connect(lambda _on: self.chosen.emit(self.on))
            title = QLabel(tool_title(tool.name), self)
            title.setBuddy(switch)
            title.setWordWrap(True)
            note = self.notes[tool.name] = QLabel(self)
            note.setObjectName("quiet")
            note.setWordWrap(True)
            # closer to its own title than to the next one
            note.setContentsMargins(0, 0, 0, _BELOW)
            grid.addWidget(title, 2 * row, 0)
            grid.addWidget(switch, 2 * row, 1, Qt.AlignmentFlag.AlignRight)
            grid.addWidget(note, 2 * row + 1, 0, 1, 2)
        layout.addLayout(grid)
        heading = QLabel(say("inspector.from-servers"), self)
        heading.setWordWrap(True)
        layout.addWidget(heading)
        self.servers = ToolServersPanel(self)
        layout.addWidget(self.servers)
        self.total = QLabel(self)
        self.total.setObjectName("quiet")
        self.total.setWordWrap(True)
        layout.addWidget(self.total)
        self._show()

    @property
    def on(self) -> tuple[str, ...]:
        return tuple(name for name, switch in self.switches.items() if switch.isChecked())

    @property
    def summary(self) -> str:
        names = [tool_title(name) for name in self.on]
        if self._costs is not None:
            names += [one.name for one in self._costs.servers if one.chosen]
        return commas(names) if names else say("inspector.tools-none")

    def set_on(self, names: tuple[str, ...]) -> None:
        """Show the tools that the chat has switched on."""
        for name, switch in self.switches.items():
            with QSignalBlocker(switch):
                switch.setChecked(name in names)
            switch.update()
        self._show()

    def set_costs(self, costs: ToolCosts) -> None:
        self._costs = costs
        self.servers.show_costs(costs.servers)
        self._show()

    def _show(self) -> None:
        costs = self._costs
        for name, note in self.notes.items():
            about = about_tool(name)
            if costs is not None:
                code = "inspector.tool-tokens" if costs.counted else "inspector.tool-about-tokens"
                about = f"{about} {say(code, count=costs.each[name])}"
            note.setText(about)
        said = ""
        if costs is not None and costs.on:
            code = "inspector.tools-cost" if costs.counted else "inspector.tools-about-cost"
            said = say(code, count=costs.together)
        self.total.setText(said)
        self.total.setVisible(bool(said))
        self.summary_changed.emit(self.summary)
