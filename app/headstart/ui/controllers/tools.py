"""The tools of the open chat: their cost, and results that are shown whole. Main thread."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal

from headstart.chat.agent.costs import ToolCosts
from headstart.chat.agent.tools import ToolWork
from headstart.chat.attaching import Attaching
from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import ChatChanged, ModelState, What
from headstart.core.chats.parts import BlobRef, FilePart
from headstart.ui.kit.tasks import Tasks
from headstart.ui.open_chat import OpenChat


class ToolsController(QObject):
    costs_known = Signal(ToolCosts)
    result_read = Signal(FilePart)

    def __init__(
        self,
        tools: ToolWork,
        attaching: Attaching,
        open_chat: OpenChat,
        tasks: Tasks,
        broadcast: Broadcast,
    ) -> None:
        super().__init__()
        self._costs, self._permissions = tools.costs, tools.permissions
        self._attaching = attaching
        self._open = open_chat
        self._tasks = tasks
        self._counting = self._again = False
        open_chat.opened.connect(self.count)
        broadcast.on(ChatChanged, self._on_chat)
        broadcast.on(ModelState, self._on_model)

    def count(self) -> None:
        """Count the tokens of the tools, and emit `costs_known`."""
        if self._counting:
            self._again = True
            return
        self._counting = True
        self._tasks.spawn(self._count())

    def ask_again(self, tool: str) -> None:
        """Ask before this tool runs, from now on."""
        self._permissions.withdraw(tool)

    def open_result(self, tool: str, whole: BlobRef) -> None:
        """Read a result that was shortened, and emit `result_read`."""
        self._tasks.spawn(self._read(self._open.id, tool, whole))

    async def _count(self) -> None:
        try:
            self._again = True
            while self._again:
                self._again = False
                chat_id = self._open.id
                found = await self._costs.of(chat_id)
                if found is not None and chat_id == self._open.id:
                    self.costs_known.emit(found)
        finally:
            self._counting = False

    async def _read(self, chat_id: str, tool: str, whole: BlobRef) -> None:
        part = FilePart(f"{tool}.txt", whole)
        data = await self._attaching.data(chat_id, part)
        text = data.decode("utf-8", "replace")
        self.result_read.emit(FilePart(part.name, whole, text))

    def _on_chat(self, change: ChatChanged) -> None:
        if change.chat_id == self._open.id and change.what in (What.OPTIONS, What.MODEL):
            self.count()

    def _on_model(self, change: ModelState) -> None:
        if change.fraction >= 1:
            self.count()
