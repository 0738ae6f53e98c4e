"""Window that lists the prefixes of each chat on disk, and clears them."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from headstart.core.knowledge.survey import is_document
from headstart.core.prefixes import PrefixUse
from headstart.core.text.shown import isolated, shortened, size_text
from headstart.ui.kit.list_window import ListWindow
from headstart.ui.wording import say

# characters
_NAME = 80
_HINT = "inspector.chats-share-cached-prompts-clearing"


def _named(owner: str, names: Mapping[str, str]) -> str:
    """The name of an owner that is no chat."""
    if owner not in names:
        return say("inspector.deleted-chat")
    code = "inspector.owner-document" if is_document(owner) else "inspector.owner-program"
    return say(code, name=isolated(shortened(names[owner], _NAME)))


class PrefixSizes(ListWindow):
    clear_chat_requested = Signal(str)
    clear_all_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(
            say("inspector.prompt-cache"),
            (say("inspector.chat-2"), say("inspector.on-disk")),
            say("inspector.chats-by-size-on-disk"),
            parent,
        )
        self._location = ""
        self.total = QLabel(self)
        self.total.setWordWrap(True)
        self.hint.setText(say(_HINT))
        self.folder = QPushButton(say("inspector.show-folder"), self)
        self.folder.clicked.connect(self._show_folder)
        self.clear_one = QPushButton(say("inspector.clear-chat"), self)
        self.clear_one.clicked.connect(self._clear_chosen)
        self.clear_all = QPushButton(say("inspector.clear-all"), self)
        self.clear_all.clicked.connect(self.clear_all_requested)
        self.lay_out((self.folder,), (self.clear_one, self.clear_all), above=self.total)

    def set_use(self, use: PrefixUse | None, titles: Mapping[str, str]) -> None:
        if use is None:
            self.set_rows(())
            return
        self.folder.setEnabled(bool(use.total))
        self._location = use.location
        self.total.setText(
            say(
                "inspector.total-of-budget-on-disk",
                total=use.total,
                budget=use.budget,
                written_today=use.written_today,
                in_memory=use.in_memory,
                location=use.location,
            )
        )
        by_size = sorted(use.by_chat.items(), key=lambda item: -item[1])
        self.set_rows(
            [
                (owner, (titles.get(owner) or _named(owner, use.names), size_text(size)))
                for owner, size in by_size
            ]
        )

    def show_buttons(self) -> None:
        chosen = len(self.chosen())
        self.clear_one.setText(
            say("inspector.clear-these-chats") if chosen > 1 else say("inspector.clear-chat")
        )
        self.clear_one.setEnabled(chosen > 0)
        self.clear_all.setEnabled(self.list.topLevelItemCount() > 0)

    def _clear_chosen(self) -> None:
        for chat_id in self.chosen():
            self.clear_chat_requested.emit(chat_id)

    def _show_folder(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(self._location))
