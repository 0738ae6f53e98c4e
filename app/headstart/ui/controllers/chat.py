"""What the user chooses for one chat, and takes out of it. Main thread."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal

from headstart.chat.choices import Choices
from headstart.chat.export import Export
from headstart.core.settings import ChatOptions
from headstart.ui.open_chat import OpenChat
from headstart.ui.tasks import Tasks


class ChatController(QObject):
    exported = Signal(str)  # path

    def __init__(self, choices: Choices, export: Export, open_chat: OpenChat, tasks: Tasks) -> None:
        super().__init__()
        self._choices = choices
        self._export = export
        self._open = open_chat
        self._tasks = tasks

    def set_options(self, chat_id: str, options: ChatOptions) -> None:
        if chat_id == self._open.id:
            self._open.set_options(options)
        self._tasks.spawn(self._choices.set_options(chat_id, options))

    def export_markdown(self, chat_id: str, path: str) -> None:
        self._tasks.spawn(self._write(chat_id, Path(path)))

    async def _write(self, chat_id: str, path: Path) -> None:
        await self._export.markdown(chat_id, path)
        self.exported.emit(str(path))
