"""Tool servers as the window lists them, and entries of other programs. On the event loop's thread;
files are read on other threads."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from headstart.chat.agent.costs import estimate
from headstart.chat.tool_servers.making import ToolServers
from headstart.core.errors import EnvironmentProblem
from headstart.core.told import Told
from headstart.core.tool_servers.entry import ToolServer
from headstart.core.tool_servers.imports import FoundServer, FoundServers, read_config
from headstart.core.tool_servers.offer import brief_offer
from headstart.core.tool_servers.state import ToolServerView
from headstart.core.tools import ToolSpec
from headstart.tools.places import FoundConfig, found_configs, read_file


class ShownToolServer(Struct, frozen=True):
    """An entry with its state; `tokens`: those of each tool, estimated, by its name. `offered`:
    the tokens of what a chat would be offered."""

    server: ToolServer
    view: ToolServerView
    tokens: Mapping[str, int] = {}
    offered: int = 0

    @property
    def tools_on(self) -> int:
        return sum(name not in self.server.off for name in self.tokens)


class ToolServerList:
    """The user's list of servers; a view of `ToolServers`."""

    def __init__(self, servers: ToolServers) -> None:
        self._servers = servers

    async def shown(self) -> list[ShownToolServer]:
        """Every entry, with the list that its server gave last."""
        entries = self._servers.entries
        await self._servers.lists.load(one.id for one in entries.all)
        return [self._one(server) for server in entries.all]

    def _one(self, server: ToolServer) -> ShownToolServer:
        view = self._servers.running.view(server.id)
        known = self._servers.lists.known().get(server.id)
        if known is None:
            return ShownToolServer(server, replace(view, lists=None))
        tokens = {
            tool.name: estimate([ToolSpec(tool.name, tool.description, tool.schema)])
            for tool in known.tools
        }
        if server.brief:
            offered = estimate([one.spec for one in brief_offer(server)])
        else:
            offered = sum(n for name, n in tokens.items() if name not in server.off)
        return ShownToolServer(server, view, tokens, offered)

    # --- entries of other programs -------------------------------------------------------

    async def look(self) -> list[FoundConfig]:
        """The files of other programs on this computer that have entries."""
        return await asyncio.to_thread(found_configs)

    async def read(self, path: Path) -> FoundConfig:
        """A file that the user chose. Raises EnvironmentProblem."""
        return await asyncio.to_thread(read_file, path)

    async def paste(self, text: str) -> FoundServers:
        """Pasted entries. Raises EnvironmentProblem."""
        return await asyncio.to_thread(read_config, text)

    async def take(self, found: list[FoundServer]) -> Told | None:
        """Add entries; nothing starts. Returns a notice, if any; an entry that cannot be added is
        one, and the others are."""
        notice: Told | None = None
        known = {(one.name, one.binding) for one in self._servers.entries.all}
        for one in found:
            if (one.server.name, one.server.binding) not in known:
                try:
                    _id, told = await self._servers.entries.save(one.server, one.secrets)
                except EnvironmentProblem as problem:
                    told = problem.told
                notice = notice or told
        return notice
