"""The map of a chat: each branch with its first words; a click leads there. Main thread."""

from __future__ import annotations

import re
from collections.abc import Sequence

from PySide6.QtCore import QDateTime, QLocale, Qt, Signal
from PySide6.QtGui import QColor, QFont
from PySide6.QtWidgets import (
    QDialog,
    QHeaderView,
    QLabel,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from headstart.core.chat_tree import TreeNode
from headstart.core.text import count_words, shortened
from headstart.core.tree_rows import Run, runs_of
from headstart.core.values import Role
from headstart.ui import theme

_MESSAGE = int(Qt.ItemDataRole.UserRole)
_WORDS = 90
# of Markdown, which says nothing here
_MARKS = re.compile(r"[*_`#]{1,3}")


class TreeMap(QDialog):
    chosen = Signal(str)  # the id of a message

    def __init__(self, nodes: Sequence[TreeNode], parent: QWidget | None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Branches of this chat")
        self.resize(720, 480)
        runs = runs_of(nodes)
        hint = QLabel("Where a chat goes on in several ways, each of them is a branch.", self)
        hint.setObjectName("quiet")
        self.tree = QTreeWidget(self)
        self.tree.setHeaderLabels(["Begins with", "Messages", "Last"])
        self.tree.setAccessibleName("Branches")
        self.tree.setUniformRowHeights(True)
        header = self.tree.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        header.setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        header.setSectionResizeMode(2, QHeaderView.ResizeMode.ResizeToContents)
        current = None
        # (run, item that it is below): chats can be deeper than Python may call
        left: list[tuple[Run, QTreeWidgetItem | None]] = [(run, None) for run in reversed(runs)]
        while left:
            run, above = left.pop()
            item = _item(run)
            if above is None:
                self.tree.addTopLevelItem(item)
            else:
                above.addChild(item)
            if run.shown:
                current = item
            left += [(one, item) for one in reversed(run.below)]
        self.tree.expandAll()
        if current is not None:
            self.tree.setCurrentItem(current)
        self.tree.itemActivated.connect(self._choose)
        self.tree.itemClicked.connect(self._choose)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 16, 20, 16)
        layout.setSpacing(8)
        layout.addWidget(hint)
        layout.addWidget(self.tree, 1)

    def _choose(self, item: QTreeWidgetItem) -> None:
        self.chosen.emit(str(item.data(0, _MESSAGE)))
        self.accept()


def _item(run: Run) -> QTreeWidgetItem:
    who = "You" if run.first.role is Role.USER else run.first.model or "Model"
    words = shortened(_MARKS.sub("", run.first.words), _WORDS) or "(no text)"
    at = QDateTime.fromMSecsSinceEpoch(run.last.created_at)
    when = QLocale().toString(at, QLocale.FormatType.ShortFormat)
    item = QTreeWidgetItem([f"{who}: {words}", f"{run.count:,}", when])
    item.setTextAlignment(1, Qt.AlignmentFlag.AlignRight)
    item.setToolTip(0, count_words(run.count, "message"))
    item.setData(0, _MESSAGE, run.first.id)
    if run.shown:
        font = theme.text_font(theme.TEXT_SIZE, QFont.Weight.DemiBold)
        item.setFont(0, font)
        item.setForeground(0, QColor(theme.current().accent))
    return item
