"""The tool servers of the chat: a switch for each, with its cost, and the choice of its tools."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from headstart.chat.agent.costs import ServerCost
from headstart.ui.kit.elided import ElidedLabel
from headstart.ui.kit.switch import Switch
from headstart.ui.wording import say

# px below the note of a server
_BELOW = 8
# tokens that are many in a context of unknown size
_USUAL = 3_000


class _ServerRow:
    """The widgets of one server in the panel's grid."""

    def __init__(self, parent: QWidget) -> None:
        self.title = ElidedLabel("", parent)
        self.switch = Switch("", parent)
        self.note = QLabel(parent)
        self.note.setObjectName("quiet")
        self.note.setWordWrap(True)
        self.choose = QPushButton(say("inspector.choose-tools"), parent)
        self.choose.setAutoDefault(False)
        self.choose.setObjectName("link")
        self.brief = QPushButton(say("inspector.three-tools"), parent)
        self.brief.setAutoDefault(False)
        self.brief.setObjectName("link")
        self.links = QWidget(parent)
        line = QHBoxLayout(self.links)
        line.setContentsMargins(0, 0, 0, 0)
        line.setSpacing(16)
        line.addWidget(self.choose)
        line.addWidget(self.brief)
        line.addStretch(1)

    @property
    def widgets(self) -> tuple[QWidget, ...]:
        return self.title, self.switch, self.note, self.links


class ToolServersPanel(QWidget):
    """Emits `chosen` with the servers and tools that are on, as the settings write them;
    `choose_wanted` with the id of a server whose tools are to be chosen, `brief_wanted` of one that
    is to lend three tools in place of all."""

    chosen = Signal(tuple)
    choose_wanted = Signal(str)
    brief_wanted = Signal(str)
    add_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.rows: dict[str, _ServerRow] = {}
        self._choice: tuple[str, ...] = ()
        self._costs: tuple[ServerCost, ...] = ()
        self._used = self._size = 0
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(6)
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(8)
        self._grid.setVerticalSpacing(2)
        self._grid.setColumnStretch(0, 1)
        layout.addLayout(self._grid)
        self.price = QLabel(self)
        self.price.setObjectName("quiet")
        self.price.setWordWrap(True)
        layout.addWidget(self.price)
        self.add = QPushButton(say("inspector.tool-servers"), self)
        self.add.setAutoDefault(False)
        self.add.clicked.connect(self.add_wanted)
        line = QHBoxLayout()
        line.addWidget(self.add)
        line.addStretch(1)
        layout.addLayout(line)

    def set_choice(self, choice: Sequence[str]) -> None:
        """The servers and tools in force in the chat."""
        self._choice = tuple(choice)

    def set_context(self, used: int, size: int) -> None:
        """Tokens of the chat, which a change of its tools has processed again, and those of the
        context; 0 of 0: unknown."""
        self._used = used
        if size != self._size:
            self._size = size
            self.show_costs(self._costs)
        self._show_price()

    def show_costs(self, costs: Sequence[ServerCost]) -> None:
        self._costs = tuple(costs)
        ids = [one.server for one in costs]
        if ids != list(self.rows):
            self._build(ids)
        for one in costs:
            row = self.rows[one.server]
            row.title.set_full_text(one.name)
            with QSignalBlocker(row.switch):
                row.switch.setChecked(one.chosen)
            row.switch.setAccessibleName(say("inspector.tools-of-server", server=one.name))
            row.switch.update()
            large = one.chosen and one.tokens > self._most
            row.note.setText(self._note(one, large))
            row.links.setVisible(one.chosen and one.known)
            row.brief.setVisible(large)
            row.brief.setAccessibleName(say("inspector.three-tools-of", server=one.name))
            row.choose.setAccessibleName(say("inspector.choose-tools-of", server=one.name))
        self._show_price()

    def _build(self, ids: Sequence[str]) -> None:
        for row in self.rows.values():
            for widget in row.widgets:
                self._grid.removeWidget(widget)
                widget.hide()
                widget.deleteLater()
        self.rows = {}
        for number, server_id in enumerate(ids):
            row = self.rows[server_id] = _ServerRow(self)
            row.switch.toggled.connect(lambda on, one=server_id: self._switch(one, on))
            row.choose.clicked.connect(
                lambda _on=False, one=server_id: self.choose_wanted.emit(one)
            )
            row.brief.clicked.connect(lambda _on=False, one=server_id: self.brief_wanted.emit(one))
            right = Qt.AlignmentFlag.AlignRight
            self._grid.addWidget(row.title, 3 * number, 0)
            self._grid.addWidget(row.switch, 3 * number, 1, right)
            self._grid.addWidget(row.note, 3 * number + 1, 0, 1, 2)
            self._grid.addWidget(row.links, 3 * number + 2, 0, 1, 2)
            self._grid.setRowMinimumHeight(3 * number + 2, _BELOW)
            for widget in row.widgets:
                widget.show()

    def _show_price(self) -> None:
        wanted = self._used > 0 and bool(self._costs)
        self.price.setText(say("inspector.tools-price", tokens=self._used) if wanted else "")
        self.price.setVisible(wanted)

    @property
    def _most(self) -> int:
        """Tokens from which tools are too many: a tenth of the context."""
        return self._size // 10 if self._size else _USUAL

    def _note(self, cost: ServerCost, large: bool) -> str:
        if not cost.known:
            return say("inspector.tools-not-known")
        code = "inspector.server-cost" if cost.chosen else "inspector.server-would-cost"
        said = say(code, tools=cost.tools, tokens=cost.tokens)
        if not large:
            return said
        share = cost.tokens / self._size if self._size else 0
        code = "inspector.server-large" if share else "inspector.server-large-somewhere"
        return f"{said} {say(code, share=share)}"

    def _switch(self, server_id: str, on: bool) -> None:
        others = tuple(one for one in self._choice if one.partition("/")[0] != server_id)
        self._choice = (*others, server_id) if on else others
        self.chosen.emit(self._choice)

    def set_tools(self, server_id: str, tools: Sequence[str] | None) -> None:
        """Choose single tools of a server; None: all."""
        others = tuple(one for one in self._choice if one.partition("/")[0] != server_id)
        mine = (server_id,) if tools is None else tuple(f"{server_id}/{one}" for one in tools)
        self._choice = (*others, *mine)
        self.chosen.emit(self._choice)
