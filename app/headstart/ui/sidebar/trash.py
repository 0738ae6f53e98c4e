"""A window that lists deleted chats, brings them back, or removes them for good."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QDateTime, QLocale, Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QMessageBox,
    QPushButton,
    QTreeWidget,
    QTreeWidgetItem,
    QVBoxLayout,
    QWidget,
)

from headstart.core.values import TrashedChat

_CHAT = int(Qt.ItemDataRole.UserRole)


class TrashWindow(QDialog):
    restore_requested = Signal(str)
    # chat id, or "" for all
    delete_requested = Signal(str)

    def __init__(self, days: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle("Recently deleted")
        self.setMinimumSize(520, 360)
        self.list = QTreeWidget(self)
        self.list.setColumnCount(3)
        self.list.setHeaderLabels(["Chat", "Messages", "Deleted"])
        self.list.setRootIsDecorated(False)
        self.list.setSelectionMode(QTreeWidget.SelectionMode.ExtendedSelection)
        self.list.setAccessibleName("Deleted chats")
        header = self.list.header()
        header.setStretchLastSection(False)
        header.setSectionResizeMode(0, QHeaderView.ResizeMode.Stretch)
        for column in (1, 2):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.ResizeToContents)
        self.list.itemSelectionChanged.connect(self._show_buttons)
        self.list.itemActivated.connect(lambda *_: self._restore())
        self._hint = QLabel(_kept(days), self)
        self._hint.setObjectName("quiet")
        self._hint.setWordWrap(True)
        self.restore = QPushButton("Restore", self)
        self.restore.setObjectName("primary")
        self.restore.clicked.connect(self._restore)
        self.delete = QPushButton("Delete for good", self)
        self.delete.clicked.connect(self._delete)
        self.empty = QPushButton("Empty the trash", self)
        self.empty.clicked.connect(self._empty)
        close = QPushButton("Close", self)
        close.clicked.connect(self.accept)
        buttons = QHBoxLayout()
        for button in (self.restore, self.delete, self.empty):
            buttons.addWidget(button)
        buttons.addStretch(1)
        buttons.addWidget(close)
        for button in (self.restore, self.delete, self.empty, close):
            button.setAutoDefault(False)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(20, 16, 20, 16)
        layout.setSpacing(8)
        layout.addWidget(self.list, 1)
        layout.addWidget(self._hint)
        layout.addLayout(buttons)
        self._show_buttons()

    def set_chats(self, chats: Sequence[TrashedChat]) -> None:
        self.list.clear()
        for chat in chats:
            at = QDateTime.fromMSecsSinceEpoch(chat.deleted_at)
            when = QLocale().toString(at, QLocale.FormatType.ShortFormat)
            item = QTreeWidgetItem([chat.title, f"{chat.messages:,}", when])
            item.setData(0, _CHAT, chat.id)
            item.setTextAlignment(1, Qt.AlignmentFlag.AlignRight)
            self.list.addTopLevelItem(item)
        self._show_buttons()

    def _chosen(self) -> list[str]:
        return [str(item.data(0, _CHAT)) for item in self.list.selectedItems()]

    def _show_buttons(self) -> None:
        chosen = bool(self.list.selectedItems())
        self.restore.setEnabled(chosen)
        self.delete.setEnabled(chosen)
        self.empty.setEnabled(self.list.topLevelItemCount() > 0)

    def _restore(self) -> None:
        for chat_id in self._chosen():
            self.restore_requested.emit(chat_id)

    def _delete(self) -> None:
        for chat_id in self._chosen():
            self.delete_requested.emit(chat_id)

    def _empty(self) -> None:
        count = self.list.topLevelItemCount()
        box = QMessageBox(self)
        box.setText(
            "Delete 1 chat for good?" if count == 1 else f"Delete {count:,} chats for good?"
        )
        box.setInformativeText("Their text is overwritten, in the copies of the database too.")
        yes = box.addButton("Delete for good", QMessageBox.ButtonRole.DestructiveRole)
        box.addButton("Cancel", QMessageBox.ButtonRole.RejectRole)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        yes.clicked.connect(lambda: self.delete_requested.emit(""))
        box.open()


def _kept(days: int) -> str:
    if not days:
        return "Deleted chats are not kept: see “Keep deleted chats” in the settings."
    plural = "day" if days == 1 else "days"
    return f"Deleted chats are kept for {days} {plural}; then their text is overwritten."
