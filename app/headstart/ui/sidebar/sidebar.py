"""The sidebar: new chat, the list of chats, models, settings. Emits the user's requests."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPoint, QSignalBlocker, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent, QKeySequence
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QListView,
    QMenu,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from headstart.core.chats.values import ChatSummary, Folder
from headstart.ui.commands import Commands
from headstart.ui.kit import icons, theme
from headstart.ui.kit.entry import SideEntry
from headstart.ui.kit.hover import settle_after
from headstart.ui.sidebar import menus
from headstart.ui.sidebar.chat_delegate import ChatListDelegate
from headstart.ui.sidebar.chat_list import CHAT_ID, SUMMARY, ChatListModel
from headstart.ui.sidebar.chat_view import ChatView
from headstart.ui.sidebar.searching import Searching
from headstart.ui.wording import say

# commands, "" for a line between them
_MORE = (
    "folder.new", "", "chats.import", "chats.import_folder", "chats.export", "chats.backups", "",
    "chats.archive", "chats.trash",
)  # fmt: skip
_HELP = ("help.guide", "help.keys", "app.news", "", "help.report", "help.about")


class Sidebar(QFrame):
    chat_chosen = Signal(str)
    rename_requested = Signal(str, str)
    folder_renamed = Signal(str, str)  # path, name
    # ids of chats, and their target folder: "" for none, None for a new one
    move_requested = Signal(list, object)
    search_requested = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("sidebar")
        self.setFixedWidth(theme.sidebar_width())
        self._new = SideEntry(say("sidebar.new-chat"), "plus", self, accent=True)
        self._private = SideEntry(say("sidebar.private-chat"), "lock", self)
        self.model = ChatListModel(self)
        self.model.renamed.connect(self.rename_requested)
        self.model.folder_renamed.connect(self.folder_renamed)
        self.view = ChatView(self.model, self)
        delegate = ChatListDelegate(self.model, self.view)
        delegate.closeEditor.connect(lambda *_: QTimer.singleShot(0, self, self._take_later))
        self.view.setItemDelegate(delegate)
        self.view.customContextMenuRequested.connect(self._open_menu)
        self.view.installEventFilter(self)
        self.view.selectionModel().currentChanged.connect(self._on_current)
        self.searching = Searching(
            self, self.view, self.search_requested.emit, lambda: self._show_empty()
        )
        self.search, self.results = self.searching.box, self.searching.results
        self._empty = QLabel(say("sidebar.your-chats-will-appear-here"), self)
        self._empty.setObjectName("quiet")
        self._empty.setWordWrap(True)
        # unknown until the chats are listed
        self._empty.hide()
        self._listed = False
        self._models = SideEntry(say("sidebar.models"), "box", self)
        self._models.setCheckable(True)
        self._settings = SideEntry(say("sidebar.settings"), "settings", self)
        self._help = self._tool(say("sidebar.help"), "circle-help")
        self._help.clicked.connect(lambda: self._open_menu_of(self._help, _HELP))
        self._more = self._tool(say("sidebar.more-about-all-chats"), "ellipsis")
        self._more.clicked.connect(lambda: self._open_menu_of(self._more, _MORE))
        layout = QVBoxLayout(self)
        layout.setContentsMargins(8, 8, 8, 8)
        layout.setSpacing(4)
        layout.addWidget(self._new)
        layout.addWidget(self._private)
        layout.addWidget(self.search)
        layout.addWidget(self._empty)
        layout.addWidget(self.searching.nothing)
        layout.addWidget(self.view, 1)
        layout.addWidget(self.results, 1)
        layout.addWidget(self._models)
        last = QHBoxLayout()
        last.setSpacing(2)
        last.addWidget(self._settings, 1)
        last.addWidget(self._help)
        last.addWidget(self._more)
        layout.addLayout(last)
        self._commands = Commands()
        self._showing = ""
        # changes received while a title is edited: they would close the editor
        self._later: list[Callable[[], None]] = []
        theme.follow(self._measure)

    def _measure(self) -> None:
        self.setFixedWidth(theme.sidebar_width())

    def set_commands(self, commands: Commands) -> None:
        self._commands = commands
        commands.bind(self._new, "chat.new")
        commands.bind(self._private, "chat.new_private")
        commands.bind(self._models, "models.show")
        commands.bind(self._settings, "app.settings")

    def tab_order(self) -> list[QWidget]:
        return [
            self._new,
            self._private,
            self.search,
            self.view,
            self._models,
            self._settings,
            self._help,
            self._more,
        ]

    def _tool(self, name: str, icon: str) -> QToolButton:
        button = QToolButton(self)
        button.setObjectName("bar")
        button.setIcon(icons.icon(icon))
        button.setToolTip(name)
        button.setAccessibleName(name)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        return button

    def _open_menu_of(self, button: QToolButton, names: Sequence[str]) -> None:
        """Open a menu above a button at the foot."""
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        settle_after(menu, button)
        for name in names:
            if name:
                self._commands.add_to(menu, name)
            else:
                menu.addSeparator()
        menu.popup(button.mapToGlobal(QPoint(0, -menu.sizeHint().height())))

    def set_models(self, note: str, shown: bool) -> None:
        """Show the note behind “Models”, and mark it while its page is open."""
        self._models.set_note(note)
        self._models.setChecked(shown)

    @property
    def listed(self) -> bool:
        """True once the chats are known."""
        return self._listed

    def set_chats(self, chats: Sequence[ChatSummary], writing: dict[str, str]) -> None:
        """Set all chats; `writing`: status texts of chats with an open reply, by id."""
        self._listed = True
        self._change(lambda: self.model.set_chats(chats, writing))

    def set_chat(self, chat_id: str, chat: ChatSummary | None) -> None:
        """Add or change one chat; None removes it."""
        self._change(lambda: self.model.set_chat(chat_id, chat))

    def _change(self, change: Callable[[], None]) -> None:
        if self.view.state() == QListView.State.EditingState:
            self._later.append(change)
            return
        with QSignalBlocker(self):
            change()
            self._show_empty()
            self._select(self._showing)

    def _show_empty(self) -> None:
        none = self._listed and not self.model.rowCount()
        self._empty.setVisible(none and not self.searching.active)

    def show_current(self, chat_id: str) -> None:
        """Mark the open chat, without announcing it as a choice."""
        self._showing = chat_id
        with QSignalBlocker(self):
            self._select(self._showing)

    def begin_rename(self, chat_id: str) -> None:
        index = self.model.index_of(chat_id)
        if index.isValid():
            with QSignalBlocker(self):
                self.view.setCurrentIndex(index)
            self.view.edit(index)

    def _take_later(self) -> None:
        later, self._later = self._later, []
        for change in later:
            self._change(change)
        self.show_current(self._showing)

    def _select(self, chat_id: str) -> None:
        index = self.model.index_of(chat_id)
        if index.isValid():
            self.view.setCurrentIndex(index)
        else:
            self.view.selectionModel().clear()

    def _on_current(self, index: QModelIndex, _previous: QModelIndex) -> None:
        chat_id = index.data(CHAT_ID) if index.isValid() else None
        # Shift or Ctrl selects several chats, and opens none of them
        keys = QGuiApplication.keyboardModifiers() & (
            Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.ControlModifier
        )
        if chat_id and not keys and not self.signalsBlocked():
            self._showing = chat_id
            self.chat_chosen.emit(chat_id)

    def _open_menu(self, point: QPoint) -> None:
        index = self.view.indexAt(point)
        menu = self.menu_for(index) if index.isValid() else None
        if menu is not None:
            menu.popup(self.view.viewport().mapToGlobal(point))

    def menu_for(self, index: QModelIndex) -> QMenu | None:
        """Menu of a line, or of all selected chats if it is one of them."""
        row = self.model.row_at(index)
        if row is None or row.section:
            return None
        if row.folder is not None:
            return menus.about_folder(self, self._commands, row.folder)
        assert row.chat is not None
        chosen = self.chosen()
        chats = chosen if row.chat in chosen else [row.chat]
        folders = self.model.folders
        return menus.about_chats(self, self._commands, chats, folders, self.move_requested.emit)

    def chosen(self) -> list[ChatSummary]:
        """The selected chats."""
        known = {chat.id: chat for chat in self.model.summaries()}
        return [known[one] for one in self.view.chosen() if one in known]

    def begin_rename_folder(self, path: str) -> None:
        index = self.model.index_of_folder(path)
        if index.isValid():
            self.view.setCurrentIndex(index)
            self.view.edit(index)

    def set_folders(self, folders: Sequence[Folder]) -> None:
        self._change(lambda: self.model.set_folders(folders))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.view and isinstance(event, QKeyEvent):
            chat = self.view.currentIndex().data(SUMMARY)
            if chat is not None and event.type() == QEvent.Type.KeyPress:
                return self._run_for_keys(event, chat) or super().eventFilter(watched, event)
        return super().eventFilter(watched, event)

    def _run_for_keys(self, event: QKeyEvent, chat: ChatSummary) -> bool:
        keys = QKeySequence(event.keyCombination())
        for command in self._commands.chat:
            if command.keys and keys == QKeySequence(command.keys) and command.shown(chat):
                chosen = self.chosen()
                if len(chosen) > 1 and chat in chosen:
                    if command.many is not None:
                        command.many(chosen)
                else:
                    command.run(chat)
                return True
        return False
