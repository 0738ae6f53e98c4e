"""A window that lists deleted chats, restores them, or deletes them for good."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QWidget

from headstart.core.chats.values import TrashedChat
from headstart.core.text.locale import locale
from headstart.ui.kit.asking import DangerQuestion
from headstart.ui.kit.list_window import ListWindow
from headstart.ui.kit.when import moment_text
from headstart.ui.wording import say


class TrashWindow(ListWindow):
    restore_requested = Signal(list)  # of chat ids
    delete_requested = Signal(list)

    def __init__(self, days: int, parent: QWidget | None = None) -> None:
        columns = (say("sidebar.chat"), say("sidebar.messages"), say("sidebar.deleted"))
        super().__init__(
            say("sidebar.recently-deleted"), columns, say("sidebar.deleted-chats"), parent
        )
        self.list.itemActivated.connect(lambda *_: self._restore())
        self.hint.setText(_kept(days))
        self.restore = QPushButton(say("sidebar.restore"), self)
        self.restore.setObjectName("primary")
        self.restore.clicked.connect(self._restore)
        self.delete = QPushButton(say("sidebar.delete-for-good"), self)
        self.delete.clicked.connect(self._delete)
        self.empty = QPushButton(say("sidebar.empty-trash"), self)
        self.empty.clicked.connect(self._empty)
        self.lay_out((self.restore, self.delete, self.empty))

    def set_chats(self, chats: Sequence[TrashedChat]) -> None:
        rows = []
        for chat in chats:
            when = moment_text(chat.deleted_at)
            rows.append((chat.id, (chat.title, locale().number(chat.messages), when)))
        self.set_rows(rows)

    def show_buttons(self) -> None:
        chosen = bool(self.chosen())
        self.restore.setEnabled(chosen)
        self.delete.setEnabled(chosen)
        self.empty.setEnabled(self.list.topLevelItemCount() > 0)

    def _restore(self) -> None:
        self.restore_requested.emit(self.chosen())

    def _delete(self) -> None:
        self._ask(self.chosen())

    def _empty(self) -> None:
        # only the shown ones, not a chat that was deleted meanwhile
        self._ask(self.shown())

    def _ask(self, chat_ids: list[str]) -> None:
        count = len(chat_ids)
        DangerQuestion(
            self,
            say("sidebar.delete-count-for-good", count=count),
            say("sidebar.text-overwritten", count=count),
            say("sidebar.delete-for-good"),
        ).ask(lambda: self.delete_requested.emit(chat_ids))


def _kept(days: int) -> str:
    if not days:
        return say("sidebar.deleted-chats-not-kept-see")
    return say("sidebar.deleted-chats-kept-for-days", days=days)
