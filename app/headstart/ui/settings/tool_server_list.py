"""The rows of the user's tool servers. Main thread."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QWidget

from headstart.chat.tool_servers.shown import ShownToolServer
from headstart.core.tool_servers.state import ToolServerState
from headstart.ui.settings.row_list import EntryRow, EntryRows
from headstart.ui.settings.tool_server_words import facts_of, state_text
from headstart.ui.wording import say


class ToolServerRow(EntryRow):
    """Emits the id of its server."""

    opened = Signal(str)
    started = Signal(str)
    ended = Signal(str)

    def __init__(self, shown: ShownToolServer, parent: QWidget) -> None:
        self.switch = QPushButton()
        self.details = QPushButton(say("settings.details"))
        super().__init__(shown.server.id, parent, self.switch, self.details)
        self.switch.setAutoDefault(False)
        self.switch.clicked.connect(self._switch)
        self.details.setAutoDefault(False)
        self.details.clicked.connect(lambda: self.opened.emit(self.key))
        self._runs = False
        self.follow(shown)

    def follow(self, shown: ShownToolServer) -> None:
        server, view = shown.server, shown.view
        self._runs = view.state in (ToolServerState.READY, ToolServerState.STARTING)
        said = state_text(view) if view.problem is None else view.problem.message
        state = " · ".join(filter(None, (said, facts_of(shown))))
        self.show_words(server.name, server.target, state)
        self.switch.setText(say("settings.stop" if self._runs else "settings.start"))
        code = "settings.stop-server" if self._runs else "settings.start-server"
        self.switch.setAccessibleName(say(code, server=server.name))
        self.details.setAccessibleName(say("settings.details-of-server", server=server.name))
        self.remove.setAccessibleName(say("settings.remove-server", server=server.name))

    def _switch(self) -> None:
        (self.ended if self._runs else self.started).emit(self.key)


class ToolServerRows(EntryRows[ShownToolServer, ToolServerRow]):
    def __init__(self, parent: QWidget) -> None:
        nothing = say("settings.no-tool-servers")
        super().__init__(
            parent, nothing, lambda one: ToolServerRow(one, self), ToolServerRow.follow
        )

    def show_servers(self, shown: Sequence[ShownToolServer]) -> None:
        self.show_entries({one.server.id: one for one in shown})
