"""Offers of tool servers beside tools: prompts, resources, and their questions. Main thread."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QObject, Signal

from headstart.chat.agent.tools import ToolWork
from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import ToolQuestion, ToolQuestionGone
from headstart.core.tool_servers.entry import ToolServer
from headstart.core.tool_servers.lists import PromptDefinition, ResourceDefinition
from headstart.core.tool_servers.questions import QuestionEnd, ServerQuestion, Value
from headstart.core.tool_servers.results import FileContent, ImageContent, TextContent, ToolReturn
from headstart.ui.kit.tasks import Tasks
from headstart.ui.wording import say


class ToolOffersController(QObject):
    asked = Signal(ServerQuestion)
    withdrawn = Signal(int)  # number of a question that needs no answer any more
    prompt_read = Signal(str)  # text for the message
    file_read = Signal(str, bytes)  # name and bytes for the message

    def __init__(self, tools: ToolWork, tasks: Tasks, broadcast: Broadcast) -> None:
        super().__init__()
        self._servers = tools.servers
        self._tasks = tasks
        broadcast.on(ToolQuestion, lambda change: self.asked.emit(change.question))
        broadcast.on(ToolQuestionGone, lambda change: self.withdrawn.emit(change.number))

    # --- questions -----------------------------------------------------------------------

    def answer(self, number: int, end: QuestionEnd, values: Mapping[str, Value]) -> None:
        self._servers.running.answer(number, end, values)

    # --- prompts and resources -----------------------------------------------------------

    def prompts(self) -> list[tuple[ToolServer, PromptDefinition]]:
        """The prompts of the servers that are known."""
        lists = self._servers.lists.known()
        return [
            (server, one)
            for server in self._servers.entries.all
            for one in (lists[server.id].prompts if server.id in lists else ())
        ]

    def resources(self) -> list[tuple[ToolServer, ResourceDefinition]]:
        """The resources of the servers that are known, without those with gaps to fill."""
        lists = self._servers.lists.known()
        return [
            (server, one)
            for server in self._servers.entries.all
            for one in (lists[server.id].resources if server.id in lists else ())
            if not one.template
        ]

    def use_prompt(self, server_id: str, name: str, values: Mapping[str, str]) -> None:
        """Emit `prompt_read` with the filled-in prompt."""
        self._tasks.spawn(self._use_prompt(server_id, name, dict(values)))

    def use_resource(self, server_id: str, uri: str) -> None:
        """Emit `file_read` with each file of a resource."""
        self._tasks.spawn(self._use_resource(server_id, uri))

    async def _use_prompt(self, server_id: str, name: str, values: dict[str, str]) -> None:
        found = await self._servers.running.prompt(server_id, name, values)
        texts = [one.text for one in found.content if isinstance(one, TextContent)]
        if texts:
            self.prompt_read.emit("\n\n".join(texts))
        images = [one for one in found.content if isinstance(one, ImageContent)]
        for number, one in enumerate(images, 1):
            self.file_read.emit(say("controllers.image-number", number=number), one.data)
        self._emit_files(found)

    async def _use_resource(self, server_id: str, uri: str) -> None:
        self._emit_files(await self._servers.running.read(server_id, uri))

    def _emit_files(self, found: ToolReturn) -> None:
        for one in found.content:
            if isinstance(one, FileContent):
                self.file_read.emit(one.name, one.data)
