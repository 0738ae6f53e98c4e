"""The choice of a server's tools for one chat. Main thread."""

from __future__ import annotations

from collections.abc import Collection

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QPushButton, QWidget

from headstart.chat.tool_servers.shown import ShownToolServer
from headstart.core.text.shown import shortened
from headstart.ui.kit.sheet import Sheet
from headstart.ui.kit.tips import plain_tip
from headstart.ui.wording import say

_NAME = int(Qt.ItemDataRole.UserRole)
_TIP = 800


class ChooseToolsSheet(Sheet):
    """Emits `chosen` with the names of the tools; None for all of them."""

    chosen = Signal(object)

    def __init__(
        self, shown: ShownToolServer, on: Collection[str] | None, parent: QWidget | None = None
    ) -> None:
        """`on`: the chosen tools, None for all."""
        super().__init__(say("inspector.tools-of-server", server=shown.server.name), parent)
        self.setMinimumSize(460, 420)
        self.list = QListWidget(self)
        self.list.setAccessibleName(say("inspector.tools-of-server", server=shown.server.name))
        lists = shown.view.lists
        states = Qt.CheckState
        for tool in () if lists is None else lists.tools:
            if tool.name in shown.server.off:
                continue
            tokens = shown.tokens.get(tool.name, 0)
            item = QListWidgetItem(say("inspector.tool-with-cost", tool=tool.name, tokens=tokens))
            item.setData(_NAME, tool.name)
            item.setToolTip(plain_tip(shortened(tool.description or tool.title, _TIP)))
            wanted = on is None or tool.name in on
            item.setCheckState(states.Checked if wanted else states.Unchecked)
            self.list.addItem(item)
        self.column.addWidget(self.list, 1)
        take, cancel = (
            QPushButton(say("inspector.take-tools"), self),
            QPushButton(say("inspector.cancel"), self),
        )
        take.setObjectName("primary")
        take.setDefault(True)
        take.clicked.connect(self._take)
        cancel.setAutoDefault(False)
        cancel.clicked.connect(self.reject)
        self.take = take
        self.buttons(cancel, take)

    def _take(self) -> None:
        items = [self.list.item(row) for row in range(self.list.count())]
        on = [str(one.data(_NAME)) for one in items if one.checkState() == Qt.CheckState.Checked]
        self.chosen.emit(None if len(on) == len(items) else tuple(on))
        self.accept()
