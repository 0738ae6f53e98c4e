"""A window that lists what is kept on disk of each chat, and clears it."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QPushButton,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from headstart.core.prefixes import PrefixUse
from headstart.core.text import size_text

_CHAT = int(Qt.ItemDataRole.UserRole)


class PrefixSizes(QDialog):
    clear_chat_requested = Signal(str)
    clear_all_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Prompt cache")
        self.setMinimumSize(480, 360)
        self._location = ""
        self.total = QLabel(self)
        self.total.setWordWrap(True)
        self.list = QTreeWidget(self)
        self.list.setColumnCount(2)
        self.list.setHeaderLabels(["Chat", "On disk"])
        self.list.setRootIsDecorated(False)
        self.list.setAccessibleName("Chats by size on disk")
        self.list.header().setStretchLastSection(False)
        self.list.header().setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        self.list.header().setSectionResizeMode(1, QHeaderView.ResizeMode.ResizeToContents)
        self.list.itemSelectionChanged.connect(self._show_buttons)
        hint = QLabel(
            "Chats share what they have in common. Clearing removes no text: the next reply "
            "reads the chat again.",
            self,
        )
        hint.setObjectName("quiet")
        hint.setWordWrap(True)
        self.folder = QPushButton("Show the folder", self)
        self.folder.clicked.connect(self._show_folder)
        self.clear_one = QPushButton("Clear this chat", self)
        self.clear_one.clicked.connect(self._clear_one)
        self.clear_all = QPushButton("Clear all", self)
        self.clear_all.clicked.connect(self.clear_all_requested)
        close = QPushButton("Close", self)
        close.clicked.connect(self.accept)
        buttons = QHBoxLayout()
        buttons.addWidget(self.folder)
        buttons.addStretch(1)
        for button in (self.clear_one, self.clear_all, close):
            buttons.addWidget(button)
        for button in (self.folder, self.clear_one, self.clear_all, close):
            button.setAutoDefault(False)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 16, 20, 16)
        layout.setSpacing(8)
        layout.addWidget(self.total)
        layout.addWidget(self.list, 1)
        layout.addWidget(hint)
        layout.addLayout(buttons)
        self._show_buttons()

    def set_use(self, use: PrefixUse | None, titles: Mapping[str, str]) -> None:
        chosen = {str(item.data(0, _CHAT)) for item in self.list.selectedItems()}
        self.list.clear()
        if use is None:
            return
        self.folder.setEnabled(bool(use.total))
        self._location = use.location
        self.total.setText(
            f"{size_text(use.total)} of {size_text(use.budget)} on disk, "
            f"{size_text(use.written_today)} written today, {size_text(use.in_memory)} in memory.\n"
            f"{use.location}"
        )
        by_size = sorted(use.by_chat.items(), key=lambda item: -item[1])
        for chat_id, size in by_size:
            item = QTreeWidgetItem([titles.get(chat_id, "a deleted chat"), size_text(size)])
            item.setData(0, _CHAT, chat_id)
            item.setTextAlignment(1, Qt.AlignmentFlag.AlignRight)
            self.list.addTopLevelItem(item)
            item.setSelected(chat_id in chosen)
        self._show_buttons()

    def _show_buttons(self) -> None:
        self.clear_one.setEnabled(bool(self.list.selectedItems()))
        self.clear_all.setEnabled(self.list.topLevelItemCount() > 0)

    def _clear_one(self) -> None:
        for item in self.list.selectedItems():
            self.clear_chat_requested.emit(str(item.data(0, _CHAT)))

    def _show_folder(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(self._location))
