"""Tool servers in place of the child process: what they define is set, what is called is noted."""

from __future__ import annotations

import asyncio

from headstart.core.tool_servers.lists import ServerLists, ToolDefinition
from headstart.core.tool_servers.results import TextContent, ToolReturn
from headstart.tools.session import Progress, ToolSession
from headstart.tools.wire import ListsChanged, ServerEnded, ServerStarted, StartServer


class NotedSession(ToolSession):
    """The edge: `tools` by server id; `called` with server, tool and the definition's digest."""

    def __init__(self) -> None:
        super().__init__()
        self.tools: dict[str, dict[str, ToolDefinition]] = {}
        self._starts: dict[str, int] = {}
        self.called: list[tuple[str, str, str]] = []

    def _lists(self, server: str) -> ServerLists:
        return ServerLists(tuple(self.tools[server].values()))

    def start(self, start: StartServer) -> None:
        self._starts[start.server] = start.start
        started = ServerStarted(start.server, self._lists(start.server), True, start.start)
        asyncio.get_running_loop().call_soon(self._listener, started)

    def end(self, server: str) -> None:
        start = self._starts.get(server)
        if start is not None:
            asyncio.get_running_loop().call_soon(self._listener, ServerEnded(server, None, start))

    def define(self, server: str, tool: ToolDefinition) -> None:
        """Define a tool, which a server that runs tells at once."""
        self.tools.setdefault(server, {})[tool.name] = tool
        self._listener(ListsChanged(server, self._lists(server)))

    async def call(
        self, server: str, tool: str, arguments: str, progress: Progress | None = None
    ) -> ToolReturn:
        self.called.append((server, tool, self.tools[server][tool].digest))
        return ToolReturn((TextContent("done"),))

    async def close(self) -> None:
        pass
