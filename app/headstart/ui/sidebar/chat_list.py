"""The list of chats as a Qt item model. Rows are headings, folders and chats (`rows`); a change of
one chat touches only its own rows."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QPersistentModelIndex,
    Qt,
    Signal,
)
from PySide6.QtWidgets import QWidget

from headstart.core.chats.values import ChatSummary, Folder
from headstart.ui.kit.joining import commas
from headstart.ui.sidebar.row_list import RowList
from headstart.ui.sidebar.rows import ChatRow
from headstart.ui.wording import say

CHAT_ID = int(Qt.ItemDataRole.UserRole)
SUMMARY = CHAT_ID + 1
WRITING = CHAT_ID + 2
SECTION = CHAT_ID + 3
FOLDER = CHAT_ID + 4
ROW = CHAT_ID + 5
Index = QModelIndex | QPersistentModelIndex


class ChatListModel(QAbstractListModel):
    """The user edits titles and names of folders in place."""

    renamed = Signal(str, str)  # chat id, title
    folder_renamed = Signal(str, str)  # path, name

    def __init__(
        self,
        parent: QWidget | None = None,
        today: Callable[[], datetime.date] = datetime.date.today,
    ) -> None:
        super().__init__(parent)
        self._today = today
        self._list = RowList(self, today())
        self._writing: dict[str, str] = {}

    def set_chats(self, chats: Sequence[ChatSummary], writing: dict[str, str]) -> None:
        """Replace all rows; `writing`: status texts of chats with an open reply, by id."""
        self._list.chats = {chat.id: chat for chat in chats}
        self._writing = dict(writing)
        self._replace_all()

    def set_folders(self, folders: Sequence[Folder]) -> None:
        """Set all folders, in the user's order."""
        self._list.set_folders(folders)

    def set_chat(self, chat_id: str, chat: ChatSummary | None) -> None:
        """Add or change one chat; None removes it."""
        if chat is None:
            self._writing.pop(chat_id, None)
        if self._today() != self._list.today:
            # a new day changes every heading
            self._list.keep(chat_id, chat)
            self._replace_all()
        else:
            self._list.set_chat(chat_id, chat)

    def set_writing(self, chat_id: str, text: str | None) -> None:
        if text is None:
            self._writing.pop(chat_id, None)
        else:
            self._writing[chat_id] = text
        index = self.index_of(chat_id)
        if index.isValid():
            self.dataChanged.emit(index, index, [WRITING])

    def _replace_all(self) -> None:
        rows = self._list.made(self._today())
        if rows == self._list.rows:
            # the selection and the scroll position stay
            if rows:
                self.changed(0, len(rows) - 1)
            return
        self.beginResetModel()
        self._list.rows = rows
        self.endResetModel()

    # --- changes of the rows -------------------------------------------------------------

    def adding(self, first: int, last: int) -> None:
        self.beginInsertRows(QModelIndex(), first, last)

    def added(self) -> None:
        self.endInsertRows()

    def removing(self, first: int, last: int) -> None:
        self.beginRemoveRows(QModelIndex(), first, last)

    def removed(self) -> None:
        self.endRemoveRows()

    def changed(self, first: int, last: int) -> None:
        self.dataChanged.emit(self.index(first), self.index(last))

    # --- access --------------------------------------------------------------------------

    def index_of(self, chat_id: str) -> QModelIndex:
        return self.index(self._list.number_of(chat_id))

    def index_of_folder(self, path: str) -> QModelIndex:
        return self.index(self._list.number_of_folder(path))

    def row_at(self, index: Index) -> ChatRow | None:
        return self._list.rows[index.row()] if index.isValid() else None

    def is_heading(self, row: int) -> bool:
        return self._list.rows[row].chat is None

    def chat_ids(self) -> list[str]:
        return [row.chat.id for row in self._list.rows if row.chat is not None]

    def summaries(self) -> list[ChatSummary]:
        return list(self._list.chats.values())

    @property
    def folders(self) -> tuple[Folder, ...]:
        return self._list.folders

    def titles(self) -> dict[str, str]:
        return {chat.id: chat.title for chat in self._list.chats.values()}

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._list.rows)

    def data(self, index: Index, role: int = int(Qt.ItemDataRole.DisplayRole)) -> object:
        row = self.row_at(index)
        if row is None:
            return None
        if role == ROW:
            return row
        if role == SECTION:
            return row.section
        if role == FOLDER:
            return row.folder
        if row.folder is not None:
            return _of_folder(row, role)
        if row.chat is None:
            display = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole)
            return row.section if role in display else None
        return self._of_chat(row.chat, role)

    def _of_chat(self, chat: ChatSummary, role: int) -> object:
        match role:
            case Qt.ItemDataRole.DisplayRole | Qt.ItemDataRole.EditRole:
                return name_of(chat)
            case Qt.ItemDataRole.AccessibleTextRole:
                facts = [name_of(chat), self._writing.get(chat.id) or facts_of(chat)]
                return commas([*facts, *([say("sidebar.not-seen-yet")] if chat.unseen else [])])
            case Qt.ItemDataRole.ToolTipRole:
                return f"{name_of(chat)}\n{facts_of(chat)}"
            case _ if role == CHAT_ID:
                return chat.id
            case _ if role == SUMMARY:
                return chat
            case _ if role == WRITING:
                return self._writing.get(chat.id)
        return None

    def setData(
        self, index: Index, value: object, role: int = int(Qt.ItemDataRole.EditRole)
    ) -> bool:
        row, name = self._list.rows[index.row()], str(value).strip()
        if row.folder is not None and name and name != row.folder.name:
            self.folder_renamed.emit(row.folder.path, name)
            return True
        if row.chat is None or not name or name == row.chat.title or row.chat.private:
            return False
        self.renamed.emit(row.chat.id, name)
        return True

    def flags(self, index: Index) -> Qt.ItemFlag:
        row = self.row_at(index)
        if row is None or row.section:
            return Qt.ItemFlag.NoItemFlags
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        flags |= Qt.ItemFlag.ItemIsDropEnabled | Qt.ItemFlag.ItemIsDragEnabled
        private = row.chat is not None and row.chat.private
        return flags if private else flags | Qt.ItemFlag.ItemIsEditable


def _of_folder(row: ChatRow, role: int) -> object:
    assert row.folder is not None
    match role:
        case Qt.ItemDataRole.DisplayRole | Qt.ItemDataRole.EditRole:
            return row.folder.name
        case Qt.ItemDataRole.AccessibleTextRole:
            code = "sidebar.folded-folder" if row.folder.folded else "sidebar.open-folder"
            return say(code, name=row.folder.name, count=row.count)
        case Qt.ItemDataRole.ToolTipRole:
            return row.folder.path
    return None


def name_of(chat: ChatSummary) -> str:
    """Name of a chat in the list; a private one shows no title over a shoulder."""
    return say("sidebar.private-chat") if chat.private else chat.title


def facts_of(chat: ChatSummary) -> str:
    count = say("sidebar.messages-in-chat", count=chat.messages)
    return " · ".join((count, *(f"#{tag}" for tag in chat.tags)))
