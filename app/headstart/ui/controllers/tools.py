"""The tools of the open chat: their cost, results that are shown whole, and tool servers. Main
thread."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer, Signal

from headstart.chat.agent.costs import ToolCosts
from headstart.chat.agent.tools import ToolWork
from headstart.chat.attaching import Attaching
from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import ChatChanged, ModelState, ReplyEnded, ToolServersChanged, What
from headstart.core.chats.parts import BlobRef, FilePart
from headstart.ui.controllers.tool_offers import ToolOffersController
from headstart.ui.controllers.tool_servers import ToolServersController
from headstart.ui.kit.tasks import Tasks
from headstart.ui.open_chat import OpenChat

# a server may tell of many changes at once
_LATER_MS = 300


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
        self.servers = ToolServersController(tools, tasks, broadcast)
        self.offers = ToolOffersController(tools, tasks, broadcast)
        self._attaching = attaching
        self._open = open_chat
        self._tasks = tasks
        self._serial = 0
        open_chat.opened.connect(self.count)
        broadcast.on(ChatChanged, self._on_chat)
        broadcast.on(ModelState, self._on_model)
        self._due = QTimer(self)
        self._due.setSingleShot(True)
        self._due.setInterval(_LATER_MS)
        self._due.timeout.connect(self.count)
        broadcast.on(ToolServersChanged, lambda _change: self.count_later())
        # nothing is counted while a reply is written
        broadcast.on(ReplyEnded, lambda _change: self.count())

    def count(self) -> None:
        """Emit `costs_known`: at once with what is known, and again when the model has counted."""
        self._serial += 1
        self._tasks.spawn(self._count(self._serial))

    def count_later(self) -> None:
        """Count once for many changes."""
        self._due.start()

    def ask_again(self, tool: str) -> None:
        """Ask before this tool runs, from now on."""
        self._permissions.withdraw(tool)

    def open_result(self, tool: str, whole: BlobRef) -> None:
        """Read a result that was shortened, and emit `result_read`."""
        self._tasks.spawn(self._read(self._open.id, tool, whole))

    async def _count(self, serial: int) -> None:
        chat_id = self._open.id
        for counting in (False, True):
            found = await self._costs.of(chat_id, counting)
            if serial != self._serial or chat_id != self._open.id or found is None:
                # another chat is open, or its tools have changed: a later count tells
                return
            self.costs_known.emit(found)
            if found.counted:
                return

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
