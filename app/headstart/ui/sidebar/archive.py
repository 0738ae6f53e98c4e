"""A window that lists archived chats, opens them, returns them to the list, or deletes them."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QWidget

from headstart.core.chats.values import ChatSummary
from headstart.core.text.locale import locale
from headstart.ui.kit.list_window import ListWindow
from headstart.ui.kit.when import moment_text
from headstart.ui.wording import say


class ArchiveWindow(ListWindow):
    open_requested = Signal(str)
    restore_requested = Signal(list)  # of chat ids
    delete_requested = Signal(list)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(
            say("sidebar.archive"),
            (say("sidebar.chat"), say("sidebar.messages"), say("sidebar.last-used")),
            say("sidebar.archived-chats"),
            parent,
        )
        self.list.itemActivated.connect(lambda *_: self._open())
        self.hint.setText(say("sidebar.archived-chats-in-no-list"))
        self.open_button = QPushButton(say("sidebar.open"), self)
        self.open_button.setObjectName("primary")
        self.open_button.clicked.connect(self._open)
        self.restore = QPushButton(say("sidebar.back-to-list"), self)
        self.restore.clicked.connect(lambda: self.restore_requested.emit(self.chosen()))
        self.delete = QPushButton(say("sidebar.delete"), self)
        self.delete.clicked.connect(lambda: self.delete_requested.emit(self.chosen()))
        self.lay_out((self.open_button, self.restore, self.delete))

    def set_chats(self, chats: Sequence[ChatSummary]) -> None:
        rows = []
        for chat in chats:
            when = moment_text(chat.updated_at)
            rows.append((chat.id, (chat.title, locale().number(chat.messages), when)))
        self.set_rows(rows)

    def show_buttons(self) -> None:
        chosen = self.chosen()
        self.open_button.setEnabled(len(chosen) == 1)
        self.restore.setEnabled(bool(chosen))
        self.delete.setEnabled(bool(chosen))

    def _open(self) -> None:
        chosen = self.chosen()
        if len(chosen) == 1:
            self.open_requested.emit(chosen[0])
            self.accept()
