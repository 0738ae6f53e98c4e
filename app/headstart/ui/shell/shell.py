"""The window's parts in their layout, and the verbs that its other parts call. Main thread.

`MainWindow` adds the objects that open other windows; this module does not depend on them.
"""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt, QTimer
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QMainWindow, QVBoxLayout, QWidget

from headstart.chat.preferences import Preferences
from headstart.core.chats.values import Folder
from headstart.core.events import NoticeKind
from headstart.ui.commands import Commands
from headstart.ui.composer.composer import Composer
from headstart.ui.composer.queued import QueuedRows
from headstart.ui.controllers.everything import Controllers
from headstart.ui.inspector.inspector import Inspector
from headstart.ui.kit import theme
from headstart.ui.kit.focus import in_reading_order
from headstart.ui.shell.greeting import Greeting
from headstart.ui.shell.header import Header
from headstart.ui.shell.held_rows import HeldRows
from headstart.ui.shell.note_line import NoteLine
from headstart.ui.shell.notices import Banner, Toast
from headstart.ui.shell.pages import Pages
from headstart.ui.shell.panels import Panels
from headstart.ui.shell.room_row import RoomRow
from headstart.ui.shell.unsaved_row import UnsavedRow
from headstart.ui.sidebar.sidebar import Sidebar
from headstart.ui.transcript.find_bar import FindBar
from headstart.ui.transcript.view import TranscriptView

# width of the header in px below which it does not show the draft
_PILL_FROM = 620
# width and height of the smallest window in px, with text at 100 %
_SMALLEST = 720, 480


class Shell(QMainWindow):
    """Header, sidebar, transcript, composer and inspector, laid out."""

    def __init__(self, controllers: Controllers, preferences: Preferences) -> None:
        super().__init__()
        self._controllers = controllers
        self.preferences = preferences
        # filled once all objects that commands call exist
        self.commands = Commands()
        self.setWindowTitle("Headstart")
        self._restore_size()
        # every widget is created under its final parent: Qt applies the style sheet again to a
        # reparented one
        body = self.body = QWidget(self)
        self.pages = Pages(body, controllers, preferences)
        centre, below = self.pages.chat, QWidget(self.pages.chat)
        self.header = Header(centre)
        self.sidebar = Sidebar(body)
        self.transcript = TranscriptView(centre)
        self.greeting = Greeting(centre)
        self.find_bar = FindBar(centre)
        self.composer = Composer(below)
        self.queued = QueuedRows(below)
        self.inspector = Inspector(
            preferences.current, body, preferences.state.current.open_sections
        )
        self.banner = Banner(below)
        self.unsaved = UnsavedRow(below)
        self.room = RoomRow(below)
        self._greets, self._waits = True, False
        self.held = HeldRows(below)
        self.note = NoteLine(below)
        self.panels = Panels(self, self.sidebar, self.inspector, preferences)
        self._build(body, below)
        self.toast = Toast(self.transcript, self.greeting)
        self.banner.covers.connect(self.note.set_covered)
        # after the layout has placed all widgets
        self.panels.changed.connect(lambda: QTimer.singleShot(0, self, self._settle))
        theme.follow(self._measure)

    def _build(self, body: QWidget, below: QWidget) -> None:
        centre = self.pages.chat
        column = QVBoxLayout(centre)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.header)
        column.addWidget(self.find_bar)
        # only one of the two is visible
        column.addWidget(self.transcript, 1)
        column.addWidget(self.greeting, 1)
        self._below = below
        stack = QVBoxLayout(below)
        stack.setContentsMargins(0, 4, 0, 16)
        stack.setSpacing(8)
        above = (self.banner, self.unsaved, self.held, self.note, self.queued, self.room)
        for widget in (*above, self.composer):
            stack.addWidget(widget)
        row = QHBoxLayout()
        row.setContentsMargins(24, 0, 24, 0)
        row.addStretch(1)
        row.addWidget(below, 1000)
        row.addStretch(1)
        column.addLayout(row)
        layout = QHBoxLayout(body)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.sidebar)
        layout.addWidget(self.pages, 1)
        layout.addWidget(self.inspector)
        self.setCentralWidget(body)
        # reading order: from left to right, and down
        in_reading_order(
            *self.sidebar.tab_order(),
            *self.header.tab_order(),
            *self.greeting.cards,
            self.transcript,
            *self.composer.tab_order(),
            self.inspector.first_focus,
        )

    # --- actions -------------------------------------------------------------------------

    @property
    def open_id(self) -> str:
        """The id of the open chat."""
        return self._controllers.open.id

    def open_chat(self, chat_id: str) -> None:
        self.inspector.flush()
        self.pages.show_chat()
        self._controllers.branch.open_chat(chat_id)

    def open_message(self, chat_id: str, message_id: str, found: str = "") -> None:
        """Open a chat at a message, with the text `found` in it marked."""
        self.inspector.flush()
        self.pages.show_chat()
        self.find_bar.follow(found, message_id)
        self._controllers.branch.open_at(chat_id, message_id)

    def search(self) -> None:
        """Go to the search of all chats."""
        self.panels.show_sidebar()
        self.sidebar.search.setFocus()
        self.sidebar.search.selectAll()

    def new_chat(self, private: bool = False, folder: Folder | None = None) -> None:
        self.inspector.flush()
        self.pages.show_chat()
        self._controllers.branch.new_chat(private, folder)
        self.composer.edit.setFocus()

    def new_private_chat(self) -> None:
        self.new_chat(private=True)

    def find_here(self) -> None:
        """Search the open chat, initially for the selected text."""
        selected = self.transcript.selecting.text()
        self.pages.show_chat()
        self.find_bar.open(selected if "\n" not in selected else "")

    def show_problem(self, message: str, remedy: str) -> Banner:
        """Show a problem in the banner of the shown page, and return the banner."""
        place = self.pages.place
        banner = self.banner if place is None else place.banner
        banner.show_text(NoticeKind.PROBLEM, f"{message} {remedy}".strip())
        return banner

    def remember(self) -> None:
        """Save size, open chat and position in it for the next start; never a private chat."""
        chat = self._controllers.open
        kept = chat.id if chat.stored and not chat.private else ""
        whole = self.isMaximized() or self.isFullScreen()
        size = self.normalGeometry().size() if whole else self.size()
        self.preferences.state.update(
            window_size=(size.width(), size.height()),
            maximized=whole,
            open_chat=kept,
            open_place=self.transcript.reaching.reading_place() if kept else None,
        )

    def _restore_size(self) -> None:
        """Restore the size that the window had when closed."""
        state = self.preferences.state.current
        self.resize(*(state.window_size or (1360, 860)))
        if state.maximized:
            self.setWindowState(Qt.WindowState.WindowMaximized)

    def show_greeting(self, shown: bool) -> None:
        """Show the greeting in place of the transcript, or the transcript."""
        if shown and self.panels.branches_open:
            # an empty chat has no branches
            self.panels.close_branches()
        self._greets = shown
        self.greeting.setVisible(shown and not self._waits)
        self.transcript.setVisible(not shown or self._waits)

    def wait_for_chat(self, waits: bool) -> None:
        """Greet nobody until it is known which chat opens."""
        self._waits = waits
        self.show_greeting(self._greets)

    def show_drafting(self) -> None:
        """Open the settings of drafting."""
        self._show_fold("speculation")

    def show_tools(self) -> None:
        """Open the switches of the chat's tools."""
        self._show_fold("tools")

    def show_sources(self) -> None:
        """Open the switches of the folders and files that the chat's questions are answered
        from."""
        self._show_fold("knowledge")

    def _show_fold(self, name: str) -> None:
        self.pages.show_chat()
        self.panels.open_inspector()
        self.inspector.show_fold(name)

    def _measure(self) -> None:
        # large text needs a larger window, if the screen has room for it
        grown = QSize(*map(theme.icon_px, _SMALLEST))
        grown = grown.boundedTo(self.screen().availableGeometry().size())
        self.setMinimumSize(grown.expandedTo(QSize(*_SMALLEST)))
        self._below.setMaximumWidth(theme.column_width())
        self.panels.fit(self.width(), -1)

    def _settle(self) -> None:
        self.header.set_wide(self.header.width() >= theme.px(_PILL_FROM))
        self.header.show_panel(self.panels.inspector_open, self.panels.branches_open)
        self.toast.place()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.panels.fit(event.size().width(), event.oldSize().width())
