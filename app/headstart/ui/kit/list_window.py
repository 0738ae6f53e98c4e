"""A sheet with a list of chats and actions on them. Main thread."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Qt
from PySide6.QtWidgets import (
    QHeaderView,
    QLabel,
    QPushButton,
    QTreeWidget,
    QTreeWidgetItem,
    QWidget,
)

from headstart.ui.kit.sheet import Sheet

_CHAT = int(Qt.ItemDataRole.UserRole)


class ListWindow(Sheet):
    """The first column takes the remaining width; the second one is aligned right."""

    def __init__(
        self, title: str, columns: Sequence[str], accessible_name: str, parent: QWidget | None
    ) -> None:
        super().__init__(title, parent, (680, 480))
        self.setMinimumSize(420, 300)
        self.list = QTreeWidget(self)
        self.list.setColumnCount(len(columns))
        self.list.setHeaderLabels(list(columns))
        self.list.setRootIsDecorated(False)
        self.list.setSelectionMode(QTreeWidget.SelectionMode.ExtendedSelection)
        self.list.setAccessibleName(accessible_name)
        header = self.list.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        for column in range(1, len(columns)):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.ResizeToContents)
        self.list.itemSelectionChanged.connect(self.show_buttons)
        self.hint = QLabel(self)
        self.hint.setObjectName("quiet")
        self.hint.setWordWrap(True)

    def lay_out(
        self,
        left: Sequence[QPushButton],
        right: Sequence[QPushButton] = (),
        above: QWidget | None = None,
    ) -> None:
        """Put the list between the widget `above` it and the hint with the buttons."""
        for button in (*left, *right):
            button.setAutoDefault(False)
        if above is not None:
            self.column.addWidget(above)
        self.column.addWidget(self.list, 1)
        self.column.addWidget(self.hint)
        self.buttons(*right, left=tuple(left))
        self.show_buttons()

    def set_rows(self, rows: Sequence[tuple[str, Sequence[str]]]) -> None:
        """Set the rows as (chat id, texts); selected chats stay selected."""
        chosen = set(self.chosen())
        # once for all rows: each change of the selection updates the buttons
        with QSignalBlocker(self.list):
            self.list.clear()
            for chat_id, texts in rows:
                item = QTreeWidgetItem(list(texts))
                item.setData(0, _CHAT, chat_id)
                item.setTextAlignment(1, Qt.AlignmentFlag.AlignRight)
                self.list.addTopLevelItem(item)
                item.setSelected(chat_id in chosen)
        self.show_buttons()

    def shown(self) -> list[str]:
        """The ids of all chats in the list."""
        items = (self.list.topLevelItem(row) for row in range(self.list.topLevelItemCount()))
        return [str(item.data(0, _CHAT)) for item in items if item is not None]

    def chosen(self) -> list[str]:
        return [str(item.data(0, _CHAT)) for item in self.list.selectedItems()]

    def show_buttons(self) -> None:
        """Enable the buttons that apply now; called whenever the selection changes."""
