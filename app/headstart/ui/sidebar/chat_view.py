"""The list of chats for mouse and keys: chats are selected, dragged, dropped into folders, or
dropped outside the window as files."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QSignalBlocker, Qt, Signal
from PySide6.QtGui import (
    QDragEnterEvent,
    QDragMoveEvent,
    QDropEvent,
    QFocusEvent,
    QKeyEvent,
    QMouseEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QListView, QWidget

from headstart.core.chats.values import Folder
from headstart.ui.kit.dragging import dropped_chats, dropped_folder
from headstart.ui.kit.focus_ring import OWN_FOCUS
from headstart.ui.kit.typed import is_typed
from headstart.ui.sidebar.chat_list import CHAT_ID, ChatListModel, Index
from headstart.ui.wording import say


class ChatView(QListView):
    """Only the left button selects; the right one opens the menu of the line under the pointer."""

    dragged = Signal(list, str)  # ids of chats, and the title of the first
    folder_dragged = Signal(str)
    entered_chat = Signal()  # a chat was clicked, or chosen with Enter: the composer gets the focus
    toggled = Signal(str, bool)  # a folder's path, True to fold it
    moved = Signal(list, str)  # ids of chats, and the folder they were dropped on
    folder_moved = Signal(str, str)  # a folder, and the one it was dropped on

    def __init__(self, model: ChatListModel, parent: QWidget) -> None:
        super().__init__(parent)
        self._chats = model
        self.setModel(model)
        self.setObjectName("chatList")
        self.setProperty(OWN_FOCUS, True)
        self.setAccessibleName(say("sidebar.chats"))
        self.setMouseTracking(True)
        self.setUniformItemSizes(False)
        self.setSpacing(1)
        self.setVerticalScrollMode(QListView.ScrollMode.ScrollPerPixel)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setEditTriggers(QListView.EditTrigger.EditKeyPressed)
        self.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.setSelectionMode(QListView.SelectionMode.ExtendedSelection)
        self.setDragEnabled(True)
        self.setAcceptDrops(True)
        self.setDropIndicatorShown(False)
        self._target = -1

    def chosen(self) -> list[str]:
        """The ids of the selected chats, from top to bottom."""
        rows = sorted(self.selectedIndexes(), key=lambda index: index.row())
        return [str(index.data(CHAT_ID)) for index in rows if index.data(CHAT_ID)]

    # --- dragging and dropping -----------------------------------------------------------

    def startDrag(self, _actions: Qt.DropAction) -> None:
        chats, row = self.chosen(), self._chats.row_at(self.currentIndex())
        if row is not None and row.folder is not None:
            self.folder_dragged.emit(row.folder.path)
        elif chats:
            index = self._chats.index_of(chats[0])
            self.dragged.emit(chats, str(index.data()))

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if dropped_chats(event.mimeData()) or dropped_folder(event.mimeData()):
            event.acceptProposedAction()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        if self._place(event.position().toPoint()) is None:
            event.ignore()
        else:
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        folder = self._place(event.position().toPoint())
        if folder is None:
            return
        event.acceptProposedAction()
        path = dropped_folder(event.mimeData())
        if path:
            self.folder_moved.emit(path, folder)
        else:
            self.moved.emit(dropped_chats(event.mimeData()), folder)

    def _place(self, point: QPoint) -> str | None:
        """The folder at a point; "" for none, None if nothing can be dropped there."""
        row = self._chats.row_at(self.indexAt(point))
        if row is None:
            return ""
        if row.folder is not None:
            return row.folder.path
        if row.chat is None:
            return ""
        return None if row.chat.private else row.chat.folder if row.depth else ""

    # --- keys and buttons ----------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:
        if event.button() == Qt.MouseButton.RightButton:
            event.accept()
            return
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        index = self.indexAt(event.position().toPoint())
        folder = self._folder(index)
        if (
            event.modifiers() != Qt.KeyboardModifier.NoModifier
            or event.button() != Qt.MouseButton.LeftButton
        ):
            return
        if folder is not None:
            self.toggled.emit(folder.path, not folder.folded)
        elif index.data(CHAT_ID):
            self.entered_chat.emit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if self.state() == QListView.State.EditingState:
            # keys that a title's editor leaves to the list
            super().keyPressEvent(event)
            return
        if is_typed(event):
            # no search by first letters, which would open other chats: the window types the key
            event.ignore()
            return
        folder = self._folder(self.currentIndex())
        wanted = {
            Qt.Key.Key_Left: True, Qt.Key.Key_Right: False,
        }  # fmt: skip
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if folder is not None and (enter or event.key() == Qt.Key.Key_Space):
            self.toggled.emit(folder.path, not folder.folded)
        elif enter and self.currentIndex().data(CHAT_ID):
            self.entered_chat.emit()
        elif folder is not None and event.key() in wanted:
            self.toggled.emit(folder.path, wanted[Qt.Key(event.key())])
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        # a list without a current line would select its first one, which opens a chat
        selection = self.selectionModel()
        before = self.currentIndex()
        with QSignalBlocker(selection):
            super().focusInEvent(event)
            if not before.isValid():
                selection.clear()

    def dataChanged(self, first: Index, last: Index, roles: Sequence[int] = ()) -> None:
        # a QListView would lay out all rows again (60 ms for 5,000); no change affects a height
        QAbstractItemView.dataChanged(self, first, last, roles)

    def _folder(self, index: Index) -> Folder | None:
        row = self._chats.row_at(index)
        return None if row is None else row.folder
