"""The tool servers of the settings: entries, states, and those of other programs. Main thread."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal

from headstart.chat.agent.tools import ToolWork
from headstart.chat.broadcast import Broadcast
from headstart.chat.changes import ToolServersChanged
from headstart.chat.tool_servers.shown import ToolServerList
from headstart.core.errors import EnvironmentProblem
from headstart.core.settings.schema import ToolApproval
from headstart.core.told import Told
from headstart.core.tool_servers.entry import ToolServer
from headstart.core.tool_servers.imports import FoundServer
from headstart.core.tool_servers.state import ToolServerState
from headstart.ui.kit.tasks import Tasks

# a server may write many lines at once
_SHOW_MS = 250


class ToolServersController(QObject):
    listed = Signal(list)  # of ShownToolServer
    saved = Signal(str)  # id of an entry
    told = Signal(Told)  # a problem, or a notice
    found = Signal(str, object, str)  # program or file, FoundServers, path
    looked = Signal()  # every file of other programs was read
    taken = Signal(int)  # number of imported entries

    def __init__(self, tools: ToolWork, tasks: Tasks, broadcast: Broadcast) -> None:
        super().__init__()
        self._servers = tools.servers
        self._list = ToolServerList(tools.servers)
        self._permissions = tools.permissions
        self._tasks = tasks
        self._due = QTimer(self)
        self._due.setSingleShot(True)
        self._due.setInterval(_SHOW_MS)
        self._due.timeout.connect(self.show)
        self._watched = False
        broadcast.on(ToolServersChanged, lambda _change: self._later())

    # --- the list ------------------------------------------------------------------------

    def watch(self, on: bool) -> None:
        """Emit `listed` at each change while the list is on show."""
        self._watched = on
        if on:
            self.show()

    def show(self) -> None:
        """Emit `listed`."""
        self._tasks.spawn(self._emit_list())

    def _later(self) -> None:
        if self._watched and not self._due.isActive():
            self._due.start()

    async def _emit_list(self) -> None:
        self.listed.emit(await self._list.shown())

    # --- entries -------------------------------------------------------------------------

    def save(self, server: ToolServer, secrets: Mapping[str, str]) -> None:
        self._tasks.spawn(self._save(server, dict(secrets)))

    def remove(self, server_id: str) -> None:
        self._tasks.spawn(self._remove(server_id))

    def start(self, server_id: str) -> None:
        self._servers.running.start(server_id, asked=True)

    def restart(self, server_id: str) -> None:
        self._servers.running.restart(server_id)

    def end(self, server_id: str) -> None:
        self._servers.running.end(server_id)

    def switch_tool(self, server_id: str, tool: str, on: bool) -> None:
        self._servers.entries.switch_tool(server_id, tool, on)

    def set_brief(self, server_id: str, brief: bool) -> None:
        self._servers.entries.set_brief(server_id, brief)

    def ask_again(self, approval: ToolApproval) -> None:
        """Ask before this tool runs, from now on."""
        self._permissions.withdraw_approval(approval)

    async def _save(self, server: ToolServer, secrets: dict[str, str]) -> None:
        before = self._servers.entries.get(server.id)
        try:
            server_id, notice = await self._servers.entries.save(server, secrets)
        except EnvironmentProblem as problem:
            self.told.emit(problem.told)
            return
        if before is not None and self._servers.running.view(server_id).state is not (
            ToolServerState.OFF
        ):
            # what runs is the old entry
            self._servers.running.end(server_id)
        if notice is not None:
            self.told.emit(notice)
        self.saved.emit(server_id)

    async def _remove(self, server_id: str) -> None:
        await self._servers.running.forget(server_id)
        await self._servers.entries.remove(server_id)

    # --- entries of other programs -------------------------------------------------------

    def look(self) -> None:
        """Emit `found` for each file of other programs, then `looked`."""
        self._tasks.spawn(self._look())

    def read_file(self, path: str) -> None:
        self._tasks.spawn(self._read_file(Path(path)))

    def paste(self, text: str) -> None:
        self._tasks.spawn(self._paste(text))

    def take(self, found: list[FoundServer]) -> None:
        """Add entries; nothing starts."""
        self._tasks.spawn(self._take(found))

    async def _look(self) -> None:
        for one in await self._list.look():
            self.found.emit(one.program, one.found, str(one.path))
        self.looked.emit()

    async def _read_file(self, path: Path) -> None:
        try:
            one = await self._list.read(path)
        except EnvironmentProblem as problem:
            self.told.emit(problem.told)
            return
        self.found.emit(one.program, one.found, str(one.path))

    async def _paste(self, text: str) -> None:
        try:
            found = await self._list.paste(text)
        except EnvironmentProblem as problem:
            self.told.emit(problem.told)
            return
        self.found.emit("", found, "")

    async def _take(self, found: list[FoundServer]) -> None:
        notice = await self._list.take(found)
        if notice is not None:
            self.told.emit(notice)
        self.taken.emit(len(found))
