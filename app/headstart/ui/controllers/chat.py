"""The user's choices for one chat. Main thread."""

from __future__ import annotations

from msgspec.structs import replace
from PySide6.QtCore import QObject

from headstart.chat.choices import Choices
from headstart.chat.knowledge.asking import DoubtfulPassages
from headstart.core.settings.schema import ChatOptions
from headstart.ui.kit.tasks import Tasks
from headstart.ui.open_chat import OpenChat


class ChatController(QObject):
    def __init__(self, choices: Choices, open_chat: OpenChat, tasks: Tasks) -> None:
        super().__init__()
        self._choices = choices
        self._open = open_chat
        self._tasks = tasks

    def set_options(self, chat_id: str, options: ChatOptions) -> None:
        if chat_id == self._open.id:
            self._open.set_options(options)
        self._tasks.spawn(self._choices.set_options(chat_id, options))

    async def decide(self, doubted: DoubtfulPassages, give: bool) -> None:
        """Remember for a chat what becomes of passages that only resemble a question."""
        options = replace(doubted.chat.options, doubtful="give" if give else "leave_out")
        if doubted.chat.id == self._open.id:
            self._open.set_options(options)
        await self._choices.set_options(doubted.chat.id, options)
