"""A window that lists what is kept on disk of each chat, and clears it."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from headstart.core.prefixes import PrefixUse
from headstart.core.text.shown import size_text
from headstart.ui.kit.list_window import ListWindow

_HINT = (
    "Chats share cached prompts. Clearing deletes no messages; the next reply processes the prompt "
    "again."
)


class PrefixSizes(ListWindow):
    clear_chat_requested = Signal(str)
    clear_all_requested = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__("Prompt cache", ("Chat", "On disk"), "Chats by size on disk", parent)
        self._location = ""
        self.total = QLabel(self)
        self.total.setWordWrap(True)
        self.hint.setText(_HINT)
        self.folder = QPushButton("Show the folder", self)
        self.folder.clicked.connect(self._show_folder)
        self.clear_one = QPushButton("Clear this chat", self)
        self.clear_one.clicked.connect(self._clear_chosen)
        self.clear_all = QPushButton("Clear all", self)
        self.clear_all.clicked.connect(self.clear_all_requested)
        self.lay_out((self.folder,), (self.clear_one, self.clear_all), above=self.total)

    def set_use(self, use: PrefixUse | None, titles: Mapping[str, str]) -> None:
        if use is None:
            self.set_rows(())
            return
        self.folder.setEnabled(bool(use.total))
        self._location = use.location
        self.total.setText(
            f"{size_text(use.total)} of {size_text(use.budget)} on disk, "
            f"{size_text(use.written_today)} written today, {size_text(use.in_memory)} in memory.\n"
            f"{use.location}"
        )
        by_size = sorted(use.by_chat.items(), key=lambda item: -item[1])
        self.set_rows(
            [
                (chat, (titles.get(chat, "a deleted chat"), size_text(size)))
                for chat, size in by_size
            ]
        )

    def show_buttons(self) -> None:
        chosen = len(self.chosen())
        self.clear_one.setText("Clear these chats" if chosen > 1 else "Clear this chat")
        self.clear_one.setEnabled(chosen > 0)
        self.clear_all.setEnabled(self.list.topLevelItemCount() > 0)

    def _clear_chosen(self) -> None:
        for chat_id in self.chosen():
            self.clear_chat_requested.emit(chat_id)

    def _show_folder(self) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(self._location))
