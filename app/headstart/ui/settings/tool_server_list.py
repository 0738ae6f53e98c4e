"""The rows of the user's tool servers. Main thread."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from headstart.chat.tool_servers.shown import ShownToolServer
from headstart.core.tool_servers.state import ToolServerState
from headstart.ui.kit.elided import ElidedLabel
from headstart.ui.kit.tips import plain_tip
from headstart.ui.kit.tool import small_tool
from headstart.ui.settings.tool_server_words import facts_of, state_text
from headstart.ui.wording import say


class ToolServerRow(QFrame):
    """Emits the id of its server."""

    opened = Signal(str)
    started = Signal(str)
    ended = Signal(str)
    removed = Signal(str)

    def __init__(self, shown: ShownToolServer, parent: QWidget) -> None:
        super().__init__(parent)
        self.server_id = shown.server.id
        self.name = QLabel(self)
        self.name.setTextFormat(Qt.TextFormat.PlainText)
        self.target = ElidedLabel("", self, name="quiet")
        self.state = QLabel(self)
        self.state.setObjectName("quiet")
        self.state.setTextFormat(Qt.TextFormat.PlainText)
        self.state.setWordWrap(True)
        self.switch = QPushButton(self)
        self.switch.setAutoDefault(False)
        self.switch.clicked.connect(self._switch)
        self.details = QPushButton(say("settings.details"), self)
        self.details.setAutoDefault(False)
        self.details.clicked.connect(lambda: self.opened.emit(self.server_id))
        self.remove = small_tool(self, "trash-2", name=say("settings.remove"))
        self.remove.clicked.connect(lambda: self.removed.emit(self.server_id))
        words = QVBoxLayout()
        words.setSpacing(2)
        for label in (self.name, self.target, self.state):
            words.addWidget(label)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 4, 0, 4)
        row.addLayout(words, 1)
        for control in (self.switch, self.details, self.remove):
            row.addWidget(control)
        self._runs = False
        self.follow(shown)

    def follow(self, shown: ShownToolServer) -> None:
        server, view = shown.server, shown.view
        self._runs = view.state in (ToolServerState.READY, ToolServerState.STARTING)
        self.name.setText(server.name)
        self.target.set_full_text(server.target)
        self.target.setToolTip(plain_tip(server.target))
        said = state_text(view) if view.problem is None else view.problem.message
        self.state.setText(" · ".join(filter(None, (said, facts_of(shown)))))
        self.switch.setText(say("settings.stop" if self._runs else "settings.start"))
        code = "settings.stop-server" if self._runs else "settings.start-server"
        self.switch.setAccessibleName(say(code, server=server.name))
        self.details.setAccessibleName(say("settings.details-of-server", server=server.name))
        self.remove.setAccessibleName(say("settings.remove-server", server=server.name))

    def _switch(self) -> None:
        (self.ended if self._runs else self.started).emit(self.server_id)


class ToolServerRows(QWidget):
    """One row for each server; `row_made` hands over a new one to be connected."""

    row_made = Signal(object)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.rows: dict[str, ToolServerRow] = {}
        self.nothing = QLabel(say("settings.no-tool-servers"), self)
        self.nothing.setObjectName("quietText")
        self.nothing.setWordWrap(True)
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(0, 0, 0, 0)
        self._column.setSpacing(8)
        self._column.addWidget(self.nothing)

    def show_servers(self, shown: Sequence[ShownToolServer]) -> None:
        ids = [one.server.id for one in shown]
        for server_id in [one for one in self.rows if one not in ids]:
            row = self.rows.pop(server_id)
            self._column.removeWidget(row)
            row.hide()
            row.deleteLater()
        for one in shown:
            known = self.rows.get(one.server.id)
            if known is not None:
                known.follow(one)
                continue
            row = self.rows[one.server.id] = ToolServerRow(one, self)
            self._column.addWidget(row)
            self.row_made.emit(row)
        self.nothing.setVisible(not shown)
