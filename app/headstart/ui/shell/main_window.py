"""The main window: the shell, and the objects that open other windows and pages.

Widgets emit, controllers act; `wiring` connects them. Nothing in this module blocks.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtGui import QCloseEvent, QDragEnterEvent, QDropEvent, QKeyEvent, QResizeEvent

from headstart.chat.models import is_model
from headstart.chat.preferences import Preferences
from headstart.core.started_with import MOST_FILES
from headstart.ui.composer.opener import AttachmentOpener
from headstart.ui.controllers.everything import Controllers
from headstart.ui.inspector.wiring import SizesOpener
from headstart.ui.kit.accessible import install
from headstart.ui.kit.asking import DangerQuestion
from headstart.ui.kit.composing import KeepsWords
from headstart.ui.kit.focus_ring import FocusRing
from headstart.ui.kit.sheet import sheet_over
from headstart.ui.knowledge.wiring import KnowledgeOpener
from headstart.ui.settings.wiring import SettingsOpener
from headstart.ui.shell.help import Help
from headstart.ui.shell.keyboard import Keyboard
from headstart.ui.shell.looks import WindowLooks
from headstart.ui.shell.news_window import News
from headstart.ui.shell.palette_wiring import PaletteOpener
from headstart.ui.shell.prompts import Prompts
from headstart.ui.shell.sending import Sending
from headstart.ui.shell.shell import Shell
from headstart.ui.sidebar.wiring import OrderDialogs, TrashOpener
from headstart.ui.transcript.wiring import BranchDialogs
from headstart.ui.transfer.wiring import TransferOpener
from headstart.ui.wording import say


class MainWindow(Shell):
    """Emits `closing` once, when the user closes it; its creator then ends the program."""

    closing = Signal()
    # True: the program is to start once more after its end
    starts_again = False
    # the user was asked, and closes it all the same
    _loses = False

    def __init__(self, controllers: Controllers, preferences: Preferences) -> None:
        super().__init__(controllers, preferences)
        install()
        self.setAcceptDrops(True)
        self.sizes = SizesOpener(self, controllers, self.sidebar.model.titles)
        self.trash = TrashOpener(self, controllers, preferences)
        self.settings = SettingsOpener(controllers, preferences, self)
        self.transfer = TransferOpener(controllers, preferences, self)
        self.dialogs = BranchDialogs(self, controllers)
        self.attachments = AttachmentOpener(controllers.attaching, self)
        self.knowledge = KnowledgeOpener(self, controllers)
        self.order = OrderDialogs(self, controllers, preferences)
        self.help = Help(self, self.settings, controllers.reporting)
        self.palette_opener = PaletteOpener(self, controllers, self.settings, self.help)
        self.prompts = Prompts(self, preferences)
        self.sending = Sending(self, controllers, self.prompts, self.attachments)
        KeepsWords(self)
        self.looks = WindowLooks(self, preferences)
        self.news = News(self, self.banner, preferences)
        self.keyboard = Keyboard(self)
        self._focus_ring = FocusRing(self)

    def toggle_branches(self) -> None:
        if self.panels.branches_open:
            self.panels.close_branches()
        else:
            self.pages.show_chat()
            self.dialogs.open_branches(self.body)

    def escape(self) -> None:
        """Close the palette, sheet, search, page or edit in front; if there is none, stop the
        reply."""
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

    def keyPressEvent(self, event: QKeyEvent) -> None:
        # keys that the focused widget did not accept
        if not self.keyboard.type(event):
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
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
        """Open files dropped on the window or given to the program: a model, conversations, or
        attachments."""
        if len(files) > MOST_FILES:
            left = len(files) - MOST_FILES
            self.toast.show_text(
                say("shell.left-files-were-left-out", left=left, most_files=MOST_FILES)
            )
            files = files[:MOST_FILES]
        if is_model(Path(files[0])):
            self._controllers.models.open_file(files[0])
        else:
            self._controllers.transfer.sort(files)

    def take_files(self, conversations: Sequence[str], others: Sequence[str]) -> None:
        """Import the conversations, and attach the other files to the message."""
        if others:
            self.pages.show_chat()
            self.attachments.add_files(others)
        self.transfer.import_files(conversations)

    def restart(self) -> None:
        """End the program, and start it once more: the open chat and unsent text come back."""
        self.leave(again=True)

    def leave(self, again: bool = False) -> None:
        """Close the window, to start `again`; the user is asked first if the disk still refuses
        something."""

        def close() -> None:
            self._loses, self.starts_again = True, again
            self.close()

        if not self.unsaved.count:
            close()
            return

        count = self.unsaved.count
        DangerQuestion(
            self,
            say("shell.close-unsaved", count=count),
            self.unsaved.label.text(),
            say("shell.close-anyway"),
            say("shell.stay"),
        ).ask(close)

    def closeEvent(self, event: QCloseEvent) -> None:
        if self.unsaved.count and event.spontaneous() and not self._loses:
            event.ignore()
            self.leave()
            return
        self.inspector.flush()
        self.pages.flush()
        self.remember()
        self.transcript.host.highlighter.close()
        event.accept()
        self.closing.emit()
