"""Tools: servers that lend them, those that run without asking, and the way back to asking."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from headstart.chat.tool_servers.shown import ShownToolServer
from headstart.core.settings.schema import Settings, ToolApproval
from headstart.core.tool_servers.entry import ToolServer
from headstart.core.tool_servers.imports import FoundServers
from headstart.ui.kit.asking import DangerQuestion
from headstart.ui.kit.flow import in_lines
from headstart.ui.kit.one_window import OneWindow
from headstart.ui.settings.form import Page
from headstart.ui.settings.tool_import_sheet import ToolImportSheet
from headstart.ui.settings.tool_server_dialog import ToolServerDialog
from headstart.ui.settings.tool_server_list import ToolServerRow, ToolServerRows
from headstart.ui.settings.tool_server_sheet import ToolServerSheet
from headstart.ui.tool_names import tool_title
from headstart.ui.wording import say


class ToolsPage(Page):
    """Emits `ask_again` with the name of a tool, or a ToolApproval, and the user's wishes about
    servers by their ids."""

    ask_again = Signal(object)
    guide_wanted = Signal()
    save_requested = Signal(ToolServer, dict)
    remove_requested = Signal(str)
    start_requested = Signal(str)
    end_requested = Signal(str)
    restart_requested = Signal(str)
    tool_switched = Signal(str, str, bool)
    brief_set = Signal(str, bool)
    look_requested = Signal()
    file_chosen = Signal(str)
    pasted = Signal(str)
    taken = Signal(list)

    details: OneWindow[ToolServerSheet] = OneWindow()
    importing: OneWindow[ToolImportSheet] = OneWindow()

    def __init__(self, settings: Settings, parent: QWidget | None = None) -> None:
        super().__init__(say("settings.tools"), settings, parent)
        self._known: dict[str, ShownToolServer] = {}
        self._build_servers()
        self._build_allowed()
        section = self.section(say("settings.tools-own"), say("settings.tools-own-about"))
        more = QPushButton(say("settings.more-about-tools"), self)
        more.clicked.connect(self.guide_wanted)
        line = QHBoxLayout()
        line.addWidget(more)
        line.addStretch(1)
        section.wide(line)
        self.finish()
        self.follow(settings)

    def _build_servers(self) -> None:
        section = self.section(say("settings.tool-servers"), say("settings.about-tool-servers"))
        self.servers = ToolServerRows(self)
        self.servers.row_made.connect(self._connect_row)
        self.add = QPushButton(say("settings.add-server-ellipsis"), self)
        self.add.clicked.connect(lambda: self._edit(None))
        self.import_button = QPushButton(say("settings.import-ellipsis"), self)
        self.import_button.clicked.connect(self._import)
        for button in (self.add, self.import_button):
            button.setAutoDefault(False)
        line = in_lines(self, self.add, self.import_button)
        self.told = self.word()
        section.wide(self.servers, line, self.told, title=say("settings.mcp-servers"))

    def _build_allowed(self) -> None:
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
        # the rows of allowed tools, by name or approval
        self.buttons: dict[str | ToolApproval, QPushButton] = {}
        self._shown: dict[str | ToolApproval, QWidget] = {}

    # --- allowed tools -------------------------------------------------------------------

    def follow(self, settings: Settings) -> None:
        super().follow(settings)
        names = {server.id: server.name for server in settings.tool_servers}
        allowed: dict[str | ToolApproval, str] = {
            name: tool_title(name) for name in settings.allowed_tools
        }
        for one in settings.tool_approvals:
            allowed[one] = say(
                "window.tool-of-server", tool=one.tool, server=names.get(one.server, "")
            )
        for key in [one for one in self._shown if one not in allowed]:
            row = self._shown.pop(key)
            self.buttons.pop(key)
            self._rows.removeWidget(row)
            row.hide()
            row.deleteLater()
        for key, title in allowed.items():
            if key not in self._shown:
                self._add(key, title)
        self.nothing.setVisible(not allowed)

    def _add(self, key: str | ToolApproval, title: str) -> None:
        row = self._shown[key] = QWidget(self)
        label = QLabel(row)
        label.setTextFormat(Qt.TextFormat.PlainText)
        label.setText(title)
        label.setWordWrap(True)
        button = self.buttons[key] = QPushButton(say("settings.tools-ask-again"), row)
        button.setAccessibleName(say("settings.tools-ask-again-for", tool=title))
        button.clicked.connect(lambda: self.ask_again.emit(key))
        line = QHBoxLayout(row)
        line.setContentsMargins(0, 0, 0, 0)
        line.addWidget(label, 1)
        line.addWidget(button)
        self._rows.addWidget(row)

    # --- servers -------------------------------------------------------------------------

    def show_servers(self, shown: Sequence[ShownToolServer]) -> None:
        self._known = {one.server.id: one for one in shown}
        self.servers.show_servers(shown)
        if self.details is not None and self.details.server_id in self._known:
            self.details.follow(self._known[self.details.server_id])

    def show_problem(self, text: str) -> None:
        """Show a problem with an entry, or a notice; "" for none."""
        if self.importing is not None:
            self.importing.show_problem(text)
            return
        self.told.setText(text)
        self.told.setVisible(bool(text))

    def show_found(self, program: str, found: FoundServers, path: str) -> None:
        if self.importing is not None:
            self.importing.show_found(program, found, path)

    def show_looked(self) -> None:
        if self.importing is not None:
            self.importing.show_looked()

    def open_details(self, server_id: str) -> None:
        shown = self._known.get(server_id)
        if shown is None:
            return
        sheet = self.details = ToolServerSheet(shown, self)
        sheet.start_wanted.connect(self.start_requested)
        sheet.end_wanted.connect(self.end_requested)
        sheet.restart_wanted.connect(self.restart_requested)
        sheet.tool_switched.connect(self.tool_switched)
        sheet.brief_set.connect(self.brief_set)
        sheet.change_wanted.connect(self.change)
        sheet.open()

    def _connect_row(self, row: ToolServerRow) -> None:
        row.opened.connect(self.open_details)
        row.started.connect(self.start_requested)
        row.ended.connect(self.end_requested)
        row.removed.connect(self._ask_remove)

    def change(self, server_id: str) -> None:
        """Open the dialog of a server's entry."""
        if self.details is not None:
            self.details.accept()
        shown = self._known.get(server_id)
        if shown is not None:
            self._edit(shown.server)

    def _edit(self, server: ToolServer | None) -> None:
        self.show_problem("")
        dialog = ToolServerDialog(server, self)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.saved.connect(self.save_requested)
        dialog.open()

    def _ask_remove(self, server_id: str) -> None:
        shown = self._known.get(server_id)
        if shown is None:
            return
        DangerQuestion(
            self,
            say("settings.remove-tool-server", name=shown.server.name),
            say("settings.chats-lose-its-tools"),
            say("settings.remove"),
        ).ask(lambda: self.remove_requested.emit(server_id))

    def _import(self) -> None:
        self.show_problem("")
        sheet = self.importing = ToolImportSheet(self)
        sheet.file_chosen.connect(self.file_chosen)
        sheet.pasted.connect(self.pasted)
        sheet.taken.connect(self.taken)
        sheet.open()
        self.look_requested.emit()
