"""The window's parts in their places, and the verbs that its other parts call. Main thread.

`MainWindow` adds what opens other windows; nothing here knows it.
"""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer
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
from headstart.ui.kit.fields import in_tab_order
from headstart.ui.shell.greeting import Greeting
from headstart.ui.shell.header import Header
from headstart.ui.shell.note_line import NoteLine
from headstart.ui.shell.notices import Banner, Toast
from headstart.ui.shell.pages import Pages
from headstart.ui.shell.panels import Panels
from headstart.ui.sidebar.sidebar import Sidebar
from headstart.ui.transcript.find_bar import FindBar
from headstart.ui.transcript.view import TranscriptView

# px of the header below which what drafts is not said there
_PILL_FROM = 620


class Shell(QMainWindow):
    """Header, sidebar, transcript, composer and inspector, laid out."""

    def __init__(self, controllers: Controllers, preferences: Preferences) -> None:
        super().__init__()
        self._controllers = controllers
        self.preferences = preferences
        # filled once everything is there that commands call
        self.commands = Commands()
        self.setWindowTitle("Headstart")
        self.setMinimumSize(720, 480)
        self._restore_size()
        # everything is made where it stays: Qt goes through the style sheet again for what gets
        # another parent
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
        self.note = NoteLine(below)
        self.panels = Panels(self, self.sidebar, self.inspector, preferences)
        self._build(body, below)
        self.toast = Toast(self.transcript, self.greeting)
        self.banner.covers.connect(self.note.set_covered)
        # after the layout has given everything its place
        self.panels.changed.connect(lambda: QTimer.singleShot(0, self, self._settle))
        theme.follow(self._measure)

    def _build(self, body: QWidget, below: QWidget) -> None:
        centre = self.pages.chat
        column = QVBoxLayout(centre)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.header)
        column.addWidget(self.find_bar)
        # the one or the other
        column.addWidget(self.transcript, 1)
        column.addWidget(self.greeting, 1)
        self._below = below
        stack = QVBoxLayout(below)
        stack.setContentsMargins(0, 4, 0, 16)
        stack.setSpacing(8)
        for widget in (self.banner, self.note, self.queued, self.composer):
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
        # as one reads: from left to right, and down
        in_tab_order(
            *self.sidebar.tab_order(),
            *self.header.tab_order(),
            *self.greeting.cards,
            self.transcript,
            *self.composer.tab_order(),
            self.inspector.first_focus,
        )

    # --- what the user does here ---------------------------------------------------------

    @property
    def open_id(self) -> str:
        """The chat that is open."""
        return self._controllers.open.id

    def open_chat(self, chat_id: str) -> None:
        self.inspector.flush()
        self.pages.show_chat()
        self._controllers.branch.open_chat(chat_id)

    def open_message(self, chat_id: str, message_id: str, found: str = "") -> None:
        """Open a chat at a message, with what was found there marked."""
        self.inspector.flush()
        self.pages.show_chat()
        self.find_bar.follow(found, message_id)
        self._controllers.branch.open_at(chat_id, message_id)

    def search(self) -> None:
        """Look through all chats."""
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
        """Look for words in the open chat, for what is selected to begin with."""
        selected = self.transcript.selecting.text()
        self.pages.show_chat()
        self.find_bar.open(selected if "\n" not in selected else "")

    def show_problem(self, message: str, remedy: str) -> Banner:
        """Tell it where the user looks; returns where that is."""
        place = self.pages.place
        banner = self.banner if place is None else place.banner
        banner.show_text(NoticeKind.PROBLEM, f"{message} {remedy}".strip())
        return banner

    def remember(self) -> None:
        """Size, chat and place in it, for the next start; a private chat is not named."""
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
        """As it was when it was closed."""
        state = self.preferences.state.current
        self.resize(*(state.window_size or (1360, 860)))
        if state.maximized:
            self.setWindowState(Qt.WindowState.WindowMaximized)

    def show_greeting(self, shown: bool) -> None:
        """Show the greeting in the place of the transcript, or leave it."""
        if shown and self.panels.branches_open:
            # there are none
            self.panels.close_branches()
        self.greeting.setVisible(shown)
        self.transcript.setVisible(not shown)

    def show_drafting(self) -> None:
        """Open what can be decided about drafting."""
        self.pages.show_chat()
        self.panels.open_inspector()
        self.inspector.show_drafting()

    def _measure(self) -> None:
        self._below.setMaximumWidth(theme.column_width())
        self.panels.fit(self.width(), -1)

    def _settle(self) -> None:
        self.header.set_wide(self.header.width() >= theme.px(_PILL_FROM))
        self.header.show_panel(self.panels.inspector_open, self.panels.branches_open)
        self.toast.place()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.panels.fit(event.size().width(), event.oldSize().width())
