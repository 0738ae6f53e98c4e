"""The list of chats as a Qt item model. Rows are headings, folders and chats (`rows`); one change
of a chat touches its own rows only."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Sequence

from PySide6.QtCore import (
    QAbstractListModel,
    QModelIndex,
    QPersistentModelIndex,
    Qt,
    Signal,
)
from PySide6.QtWidgets import QWidget

from headstart.core.values import ChatSummary, Folder
from headstart.ui.sidebar.rows import Row, Sections, rows_of

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
        self._sections = Sections(today())
        self._chats: dict[str, ChatSummary] = {}
        self._folders: tuple[Folder, ...] = ()
        self._rows: list[Row] = []
        self._writing: dict[str, str] = {}

    def set_chats(self, chats: Sequence[ChatSummary], writing: dict[str, str]) -> None:
        """Replace all rows; `writing` maps the chats with an open reply to what they are doing."""
        self._chats = {chat.id: chat for chat in chats}
        self._writing = dict(writing)
        self._replace_all()

    def set_folders(self, folders: Sequence[Folder]) -> None:
        """All folders, in the user's order."""
        if tuple(folders) != self._folders:
            self._folders = tuple(folders)
            self._take(self._made())

    def set_chat(self, chat_id: str, chat: ChatSummary | None) -> None:
        """One chat is new or other than it was (None: it is gone)."""
        if self._today() != self._sections.today:
            # every heading is another one now
            self._keep(chat_id, chat)
            self._replace_all()
            return
        if self._chats.get(chat_id) == chat:
            return
        number = self.index_of(chat_id).row()
        self._keep(chat_id, chat)
        wanted = self._made()
        if len(wanted) == len(self._rows) and number >= 0 and wanted[number].chat == chat:
            # where it was
            self._take(wanted)
            return
        # out first, then in: each touches few rows
        self._take(self._made(without=chat_id))
        if chat is None:
            self._writing.pop(chat_id, None)
        self._take(wanted)

    def set_writing(self, chat_id: str, text: str | None) -> None:
        if text is None:
            self._writing.pop(chat_id, None)
        else:
            self._writing[chat_id] = text
        index = self.index_of(chat_id)
        if index.isValid():
            self.dataChanged.emit(index, index, [WRITING])

    def _keep(self, chat_id: str, chat: ChatSummary | None) -> None:
        if chat is None:
            self._chats.pop(chat_id, None)
        else:
            self._chats[chat_id] = chat

    def _made(self, without: str = "") -> list[Row]:
        chats: Iterable[ChatSummary] = self._chats.values()
        if without:
            chats = (chat for chat in chats if chat.id != without)
        return rows_of(chats, self._folders, self._sections)

    def _replace_all(self) -> None:
        self._sections = Sections(self._today())
        rows = self._made()
        if rows == self._rows:
            if rows:
                self.dataChanged.emit(self.index(0), self.index(len(rows) - 1))
            return
        self.beginResetModel()
        self._rows = rows
        self.endResetModel()

    def _take(self, wanted: list[Row]) -> None:
        """Have these rows: what is the same at both ends is not touched."""
        rows = self._rows
        shorter, first = min(len(rows), len(wanted)), 0
        while first < shorter and rows[first] == wanted[first]:
            first += 1
        last = 0
        while last < shorter - first and rows[-1 - last] == wanted[-1 - last]:
            last += 1
        old, new = len(rows) - last, len(wanted) - last
        if old - first == new - first:
            if new > first:
                self._rows = wanted
                self.dataChanged.emit(self.index(first), self.index(new - 1))
            return
        if old > first:
            self.beginRemoveRows(QModelIndex(), first, old - 1)
            del rows[first:old]
            self.endRemoveRows()
        if new > first:
            self.beginInsertRows(QModelIndex(), first, new - 1)
            rows[first:first] = wanted[first:new]
            self.endInsertRows()

    # --- what there is -------------------------------------------------------------------

    def index_of(self, chat_id: str) -> QModelIndex:
        for number, row in enumerate(self._rows):
            if row.chat is not None and row.chat.id == chat_id:
                return self.index(number)
        return QModelIndex()

    def index_of_folder(self, path: str) -> QModelIndex:
        for number, row in enumerate(self._rows):
            if row.folder is not None and row.folder.path == path:
                return self.index(number)
        return QModelIndex()

    def row_at(self, index: Index) -> Row | None:
        return self._rows[index.row()] if index.isValid() else None

    def is_heading(self, row: int) -> bool:
        return self._rows[row].chat is None

    def chat_ids(self) -> list[str]:
        return [row.chat.id for row in self._rows if row.chat is not None]

    def summaries(self) -> list[ChatSummary]:
        return list(self._chats.values())

    @property
    def folders(self) -> tuple[Folder, ...]:
        return self._folders

    def titles(self) -> dict[str, str]:
        return {chat.id: chat.title for chat in self._chats.values()}

    def rowCount(self, parent: Index | None = None) -> int:
        return 0 if parent is not None and parent.isValid() else len(self._rows)

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
                return chat.title
            case Qt.ItemDataRole.AccessibleTextRole:
                new = ", not seen yet" if chat.unseen else ""
                return f"{chat.title}, {self._writing.get(chat.id) or subtitle(chat)}{new}"
            case Qt.ItemDataRole.ToolTipRole:
                return "\n".join((chat.title, *(f"#{tag}" for tag in chat.tags)))
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
        row, name = self._rows[index.row()], str(value).strip()
        if row.folder is not None and name and name != row.folder.name:
            self.folder_renamed.emit(row.folder.path, name)
            return True
        if row.chat is None or not name or name == row.chat.title:
            return False
        self.renamed.emit(row.chat.id, name)
        return True

    def flags(self, index: Index) -> Qt.ItemFlag:
        row = self.row_at(index)
        if row is None or row.section:
            return Qt.ItemFlag.NoItemFlags
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        flags |= Qt.ItemFlag.ItemIsEditable | Qt.ItemFlag.ItemIsDropEnabled
        return flags | Qt.ItemFlag.ItemIsDragEnabled


def _of_folder(row: Row, role: int) -> object:
    assert row.folder is not None
    match role:
        case Qt.ItemDataRole.DisplayRole | Qt.ItemDataRole.EditRole:
            return row.folder.name
        case Qt.ItemDataRole.AccessibleTextRole:
            state = "folded" if row.folder.folded else "open"
            return f"Folder {row.folder.name}, {row.count:,} chats, {state}"
        case Qt.ItemDataRole.ToolTipRole:
            return row.folder.path
    return None


def subtitle(chat: ChatSummary) -> str:
    count = "1 message" if chat.messages == 1 else f"{chat.messages:,} messages"
    return " · ".join((count, *(f"#{tag}" for tag in chat.tags[:3])))
