"""Tools: those that run without asking, and the way back to asking."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from headstart.core.settings.schema import Settings
from headstart.ui.settings.form import Page
from headstart.ui.tool_names import tool_title
from headstart.ui.wording import say


class ToolsPage(Page):
    """Emits `ask_again` with the name of a tool."""

    ask_again = Signal(str)
    guide_wanted = Signal()

    def __init__(self, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__(say("settings.tools"), settings, parent)
        section = self.section(say("settings.tools-allowed"), say("settings.tools-allowed-about"))
        self.nothing = QLabel(say("settings.tools-none-allowed"), self)
        self.nothing.setObjectName("quietText")
        self.nothing.setWordWrap(True)
        rows = QWidget(self)
        self._rows = QVBoxLayout(rows)
        self._rows.setContentsMargins(0, 0, 0, 0)
        self._rows.setSpacing(8)
        self._rows.addWidget(self.nothing)
        section.wide(rows)
        # the rows of allowed tools, by name
        self.buttons: dict[str, QPushButton] = {}
        self._shown: dict[str, QWidget] = {}
        section = self.section(say("settings.tools-own"), say("settings.tools-own-about"))
        more = QPushButton(say("settings.more-about-tools"), self)
        more.clicked.connect(self.guide_wanted)
        line = QHBoxLayout()
        line.addWidget(more)
        line.addStretch(1)
        section.wide(line)
        self.finish()
        self.follow(settings)

    def follow(self, settings: Settings) -> None:
        super().follow(settings)
        allowed = settings.allowed_tools
        for name in [one for one in self._shown if one not in allowed]:
            row = self._shown.pop(name)
            self.buttons.pop(name)
            self._rows.removeWidget(row)
            row.hide()
            row.deleteLater()
        for name in allowed:
            if name not in self._shown:
                self._add(name)
        self.nothing.setVisible(not allowed)

    def _add(self, name: str) -> None:
        row = self._shown[name] = QWidget(self)
        title = QLabel(tool_title(name), row)
        title.setWordWrap(True)
        button = self.buttons[name] = QPushButton(say("settings.tools-ask-again"), row)
        button.setAccessibleName(say("settings.tools-ask-again-for", tool=tool_title(name)))
        button.clicked.connect(lambda: self.ask_again.emit(name))
        line = QHBoxLayout(row)
        line.setContentsMargins(0, 0, 0, 0)
        line.addWidget(title, 1)
        line.addWidget(button)
        self._rows.addWidget(row)
