"""The main window: header, sidebar, transcript, composer and inspector in their places.

Widgets emit, controllers do; `wiring` connects them. Nothing here waits for anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QDragEnterEvent,
    QDropEvent,
    QKeyEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QHBoxLayout, QMainWindow, QVBoxLayout, QWidget

from headstart.chat.models import is_model
from headstart.chat.preferences import Preferences
from headstart.core.chats.values import Folder
from headstart.core.started_with import MOST_FILES
from headstart.ui.composer.composer import Composer
from headstart.ui.composer.opener import AttachmentOpener
from headstart.ui.composer.queued import QueuedRows
from headstart.ui.controllers.everything import Controllers
from headstart.ui.inspector.inspector import Inspector
from headstart.ui.inspector.wiring import SizesOpener
from headstart.ui.kit import theme
from headstart.ui.kit.accessible import install
from headstart.ui.kit.composing import KeepsWords
from headstart.ui.kit.fields import in_tab_order
from headstart.ui.kit.sheet import calm, sheet_over
from headstart.ui.settings.wiring import SettingsOpener
from headstart.ui.shell import wiring
from headstart.ui.shell.actions import make_commands
from headstart.ui.shell.greeting import Greeting
from headstart.ui.shell.header import Header
from headstart.ui.shell.help import Help
from headstart.ui.shell.keyboard import Keyboard
from headstart.ui.shell.looks import Looks
from headstart.ui.shell.news_window import News
from headstart.ui.shell.note_line import NoteLine
from headstart.ui.shell.notices import Banner, Toast
from headstart.ui.shell.pages import Pages
from headstart.ui.shell.palette_wiring import PaletteOpener
from headstart.ui.shell.panels import Panels
from headstart.ui.shell.prompts import Prompts
from headstart.ui.shell.sending import Sending
from headstart.ui.sidebar.sidebar import Sidebar
from headstart.ui.sidebar.wiring import OrderDialogs, TrashOpener
from headstart.ui.transcript.find_bar import FindBar
from headstart.ui.transcript.view import TranscriptView
from headstart.ui.transcript.wiring import BranchDialogs
from headstart.ui.transfer.wiring import TransferOpener

# px of the header below which what drafts is not said there
_PILL_FROM = 620


class MainWindow(QMainWindow):
    """Emits `closing` once, when the user closes it; its maker then ends the program."""

    closing = Signal()

    def __init__(self, controllers: Controllers, preferences: Preferences) -> None:
        super().__init__()
        install()
        self._controllers = controllers
        self.preferences = preferences
        self.setWindowTitle("Headstart")
        self.setAcceptDrops(True)
        self.setMinimumSize(720, 480)
        self._restore_size()
        # everything is made where it stays: Qt goes through the style sheet again for what gets
        # another parent
        body = self._body = QWidget(self)
        self.pages = Pages(body, controllers, preferences)
        centre, below = self.pages.chat, QWidget(self.pages.chat)
        self.header = Header(centre)
        self.sidebar = Sidebar(body)
        self.transcript = TranscriptView(centre)
        self.greeting = Greeting(centre)
        self.find_bar = FindBar(centre)
        self.composer = Composer(below)
        self.queued = QueuedRows(below)
        self.inspector = Inspector(preferences.current, body)
        self.banner = Banner(below)
        self.note = NoteLine(below)
        self.panels = Panels(self, self.sidebar, self.inspector, preferences)
        self.sizes = SizesOpener(self, controllers, self.sidebar.model.titles)
        self.trash = TrashOpener(self, controllers, preferences)
        self.settings = SettingsOpener(controllers, preferences, self)
        self.transfer = TransferOpener(controllers, preferences, self)
        self.dialogs = BranchDialogs(self, controllers)
        self.attachments = AttachmentOpener(controllers.attaching, self)
        self.order = OrderDialogs(self, controllers, preferences)
        self.palette_opener = PaletteOpener(self, controllers)
        self.prompts = Prompts(self, preferences)
        self.sending = Sending(self, controllers)
        KeepsWords(self)
        self.help = Help(self, controllers)
        self.looks = Looks(self, preferences)
        self.news = News(self, self.banner, preferences)
        self._build(body, below)
        self.toast = Toast(self.transcript, self.greeting)
        self.banner.covers.connect(self.note.set_covered)
        self.keyboard = Keyboard(self)
        self.commands = make_commands(self, controllers)
        self.commands.add_shortcuts(self, lambda: sheet_over(self) is not None)
        wiring.connect(self, controllers, preferences)
        # after the layout has given everything its place
        self.panels.changed.connect(lambda: QTimer.singleShot(0, self, self._settle))
        theme.follow(self._measure)
        calm(self)
        self.composer.edit.setFocus()

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

    def toggle_branches(self) -> None:
        if self.panels.branches_open:
            self.panels.close_branches()
        else:
            self.pages.show_chat()
            self.dialogs.open_branches(self._body)

    def escape(self) -> None:
        """Leave what is in front: a sheet, a search, another page, or what is being edited; or
        else stop the reply."""
        palette, sheet = self.palette_opener.palette, sheet_over(self)
        if palette is not None and not palette.isHidden():
            palette.leave()
            return
        if sheet is not None:
            sheet.reject()
            return
        if self.sidebar.searching.leave():
            return
        if self.pages.elsewhere:
            self.pages.show_chat()
        elif not self.find_bar.isHidden():
            self.find_bar.leave()
        elif not self.transcript.leave_edit():
            self._controllers.conversation.stop()

    def find_here(self) -> None:
        """Look for words in the open chat, for what is selected to begin with."""
        selected = self.transcript.selecting.text()
        self.pages.show_chat()
        self.find_bar.open(selected if "\n" not in selected else "")

    def show_problem(self, message: str, remedy: str) -> Banner:
        """Tell it where the user looks; returns where that is."""
        place = self.pages.place
        banner = self.banner if place is None else place.banner
        banner.show_text("problem", f"{message} {remedy}".strip())
        return banner

    def remember(self) -> None:
        """Size, chat and place in it, for the next start; a private chat is not named."""
        chat = self._controllers.open
        kept = chat.id if chat.stored and not chat.private else ""
        whole = self.isMaximized() or self.isFullScreen()
        size = self.normalGeometry().size() if whole else self.size()
        self.preferences.update(
            window_size=(size.width(), size.height()),
            maximized=whole,
            open_chat=kept,
            open_place=self.transcript.reaching.reading_place() if kept else None,
        )

    def _restore_size(self) -> None:
        """As it was when it was closed."""
        settings = self.preferences.current
        self.resize(*(settings.window_size or (1360, 860)))
        if settings.maximized:
            self.setWindowState(Qt.WindowState.WindowMaximized)

    # --- looks ---------------------------------------------------------------------------

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

    def keyPressEvent(self, event: QKeyEvent) -> None:
        # what nobody took that has the focus
        if not self.keyboard.type(event):
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.panels.fit(event.size().width(), event.oldSize().width())
        self.palette_opener.place()

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if any(url.isLocalFile() for url in event.mimeData().urls()):
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        files = [url.toLocalFile() for url in event.mimeData().urls() if url.isLocalFile()]
        if files:
            event.acceptProposedAction()
            self.open_files(files)

    def open_files(self, files: Sequence[str]) -> None:
        """What was dropped on the window, or given to the program: a model, conversations, or what
        is attached to the message."""
        if len(files) > MOST_FILES:
            left = len(files) - MOST_FILES
            self.toast.show_text(f"{left:,} files were left out: {MOST_FILES:,} come in at once")
            files = files[:MOST_FILES]
        if is_model(Path(files[0])):
            self._controllers.models.open_file(files[0])
        else:
            self._controllers.transfer.sort(files)

    def take_files(self, conversations: Sequence[str], others: Sequence[str]) -> None:
        """Conversations are imported, other files are attached to the message."""
        if others:
            self.pages.show_chat()
            self.attachments.add_files(others)
        self.transfer.import_files(conversations)

    def closeEvent(self, event: QCloseEvent) -> None:
        self.inspector.flush()
        self.pages.flush()
        self.remember()
        self.transcript.host.highlighter.close()
        event.accept()
        self.closing.emit()
