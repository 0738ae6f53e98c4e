"""A tool server in detail: its command, its state, its tools with their tokens, its log. Main
thread."""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QFontDatabase
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QTabWidget,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from headstart.chat.tool_servers.shown import ShownToolServer
from headstart.core.text.shown import shortened
from headstart.core.tool_servers.state import ToolServerState
from headstart.ui.kit.focus import tabs_first
from headstart.ui.kit.sheet import Sheet
from headstart.ui.kit.switch import Switch
from headstart.ui.kit.tips import plain_tip
from headstart.ui.settings.tool_server_words import facts_of, left_out_text, state_text
from headstart.ui.wording import say

_TOOL = int(Qt.ItemDataRole.UserRole)
_TIP = 800
# lines of the log, and reasons of what is left out, on show
_LINES, _REASONS = 200, 5


class ToolServerSheet(Sheet):
    """Emits what the user wants of the server with the id `server_id`."""

    start_wanted = Signal(str)
    end_wanted = Signal(str)
    restart_wanted = Signal(str)
    change_wanted = Signal(str)
    tool_switched = Signal(str, str, bool)
    brief_set = Signal(str, bool)

    def __init__(self, shown: ShownToolServer, parent: QWidget | None = None) -> None:
        super().__init__(shown.server.name, parent, (720, 600))
        self.server_id = shown.server.id
        self._tools: tuple[str, ...] | None = None
        # the tokens and the switched off ones that are shown
        self._rows: tuple[object, object] = (None, None)
        self._log: tuple[str, ...] = ()
        self.target = self.word(shown.server.target)
        self.target.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.state = QLabel(self)
        self.state.setTextFormat(Qt.TextFormat.PlainText)
        self.state.setWordWrap(True)
        self.column.addWidget(self.target)
        self.column.addWidget(self.state)
        self.tabs = QTabWidget(self)
        self.tabs.setDocumentMode(True)
        self.tabs.tabBar().setDrawBase(False)
        self._build_tools()
        self.log = QPlainTextEdit(self)
        self.log.setReadOnly(True)
        self.log.setMaximumBlockCount(_LINES)
        self.log.setFont(QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont))
        self.log.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.log.setAccessibleName(say("settings.log"))
        self.log.setPlaceholderText(say("settings.log-empty"))
        self.tabs.addTab(self.log, say("settings.log"))
        self.column.addWidget(self.tabs, 1)
        self.start = self._button("settings.start", self.start_wanted)
        self.end = self._button("settings.stop", self.end_wanted)
        self.restart = self._button("settings.restart", self.restart_wanted)
        self.change = self._button("settings.change", self.change_wanted)
        close = QPushButton(say("settings.close"), self)
        close.setDefault(True)
        close.clicked.connect(self.accept)
        self.buttons(close, left=(self.start, self.end, self.restart, self.change))
        self.follow(shown)

    def _button(self, code: str, signal: object) -> QPushButton:
        button = QPushButton(say(code), self)
        button.setAutoDefault(False)
        button.clicked.connect(lambda: signal.emit(self.server_id))  # type: ignore[attr-defined]
        return button

    def _build_tools(self) -> None:
        page = QWidget(self)
        self.tools = QTreeWidget(page)
        self.tools.setColumnCount(2)
        self.tools.setHeaderLabels([say("settings.tool"), say("settings.tokens")])
        self.tools.setRootIsDecorated(False)
        self.tools.setUniformRowHeights(True)
        self.tools.setAccessibleName(say("settings.tools"))
        header = self.tools.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(0, header.ResizeMode.Stretch)
        self.tools.itemChanged.connect(self._on_item)
        self.brief = Switch(say("settings.three-tools"), page)
        self.brief.toggled.connect(lambda on: self.brief_set.emit(self.server_id, on))
        self.cost = QLabel(page)
        self.cost.setObjectName("quiet")
        self.cost.setWordWrap(True)
        self.left_out = QLabel(page)
        self.left_out.setTextFormat(Qt.TextFormat.PlainText)
        self.left_out.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.left_out.setWordWrap(True)
        brief = QHBoxLayout()
        title = QLabel(say("settings.three-tools"), page)
        title.setBuddy(self.brief)
        brief.addWidget(title, 1)
        brief.addWidget(self.brief)
        about = self.word(say("settings.about-three-tools"))
        column = _column(page)
        column.addWidget(self.tools, 1)
        column.addWidget(self.left_out)
        column.addWidget(self.cost)
        column.addLayout(brief)
        column.addWidget(about)
        self.tabs.addTab(page, say("settings.tools"))
        tabs_first(self.tabs)

    # --- showing -------------------------------------------------------------------------

    def follow(self, shown: ShownToolServer) -> None:
        """Show the present state."""
        server, view = shown.server, shown.view
        self.set_title(server.name)
        self.target.setText(server.target)
        said = [state_text(view)]
        if view.problem is not None:
            said = [view.problem.text]
        self.state.setText(" · ".join(filter(None, (*said, facts_of(shown)))))
        runs = view.state in (ToolServerState.READY, ToolServerState.STARTING)
        self.start.setVisible(not runs)
        self.end.setVisible(runs)
        self.restart.setVisible(runs)
        with QSignalBlocker(self.brief):
            self.brief.setChecked(server.brief)
        self.brief.update()
        self.cost.setText(
            say("settings.tools-take", count=shown.offered) if view.lists is not None else ""
        )
        self._show_tools(shown)
        self._show_log(view.log)

    def _show_tools(self, shown: ShownToolServer) -> None:
        lists = shown.view.lists
        tools = () if lists is None else lists.tools
        names = tuple(tool.name for tool in tools)
        rows = lists, shown.server.off
        if rows == self._rows:
            return
        self._rows = rows
        said = left_out_text(lists, _REASONS)
        self.left_out.setText(said)
        self.left_out.setVisible(bool(said))
        with QSignalBlocker(self.tools):
            if names != self._tools:
                self._tools = names
                self.tools.clear()
                for tool in tools:
                    item = QTreeWidgetItem([tool.name, ""])
                    item.setData(0, _TOOL, tool.name)
                    item.setTextAlignment(1, Qt.AlignmentFlag.AlignRight)
                    self.tools.addTopLevelItem(item)
            for row, tool in enumerate(tools):
                at = self.tools.topLevelItem(row)
                if at is None:
                    continue
                on = tool.name not in shown.server.off
                states = Qt.CheckState
                at.setCheckState(0, states.Checked if on else states.Unchecked)
                at.setText(1, say("settings.count", count=shown.tokens.get(tool.name, 0)))
                at.setToolTip(0, plain_tip(shortened(tool.description or tool.title, _TIP)))

    def _show_log(self, lines: tuple[str, ...]) -> None:
        lines = lines[-_LINES:]
        if lines == self._log:
            return
        bar = self.log.verticalScrollBar()
        at_end = bar.value() == bar.maximum()
        # mostly some lines are new
        new = next(
            (n for n in range(1, len(lines) + 1) if lines[:-n] == self._log[n - len(lines) :]), 0
        )
        if self._log and new and new < len(lines):
            self.log.appendPlainText("\n".join(lines[-new:]))
        else:
            self.log.setPlainText("\n".join(lines))
        self._log = lines
        if at_end:
            bar.setValue(bar.maximum())

    def _on_item(self, item: QTreeWidgetItem, column: int) -> None:
        if column == 0:
            on = item.checkState(0) == Qt.CheckState.Checked
            self.tool_switched.emit(self.server_id, str(item.data(0, _TOOL)), on)


def _column(page: QWidget) -> QVBoxLayout:
    column = QVBoxLayout(page)
    column.setContentsMargins(0, 8, 0, 0)
    return column
