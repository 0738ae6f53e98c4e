"""News of a tool server that come after its next start, or after its end, change nothing."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from headstart.core.errors import EnvironmentProblem
from headstart.core.told import told
from headstart.core.tool_servers.entry import ToolServer
from headstart.core.tool_servers.lists import ServerLists, ToolDefinition
from headstart.core.tool_servers.results import ToolReturn
from headstart.core.tool_servers.state import ToolServerState
from headstart.tools.session import Progress, ServerGone, ToolSession
from headstart.tools.wire import ServerEnded, ServerStarted, StartServer
from tests.support.answers import Talk
from tests.support.patience import until

LISTS = ServerLists((ToolDefinition("echo"),))


class LateSession(ToolSession):
    """The edge: starts are noted, and their news come when the test says so."""

    def __init__(self) -> None:
        super().__init__()
        self.starts: list[StartServer] = []
        self.ended: list[str] = []
        self.gone = False

    def start(self, start: StartServer) -> None:
        self.starts.append(start)

    def end(self, server: str) -> None:
        self.ended.append(server)

    def started(self, which: int) -> None:
        one = self.starts[which]
        self._listener(ServerStarted(one.server, LISTS, True, one.start))

    def tell_end(self, which: int, crashed: bool) -> None:
        one = self.starts[which]
        problem = told("tool-server-ended", server=one.name) if crashed else None
        self._listener(ServerEnded(one.server, problem, one.start))

    async def call(
        self, server: str, tool: str, arguments: str, progress: Progress | None = None
    ) -> ToolReturn:
        if self.gone:
            raise ServerGone("tool-server-ended", server=server)
        return ToolReturn(())

    async def close(self) -> None:
        pass


async def _begun(session: LateSession, count: int) -> None:
    await until(lambda: len(session.starts) >= count)


@pytest.mark.parametrize("crashed", [True, False])
@pytest.mark.parametrize("stopped", [True, False])
async def test_late_news_of_an_end_do_not_end_the_next_start(
    tmp_path: Path, crashed: bool, stopped: bool
) -> None:
    session = LateSession()
    talk = Talk(tmp_path, session)
    try:
        running = talk.servers.running
        server_id, _ = await talk.servers.entries.save(ToolServer("", "A", command="a"), {})
        first = running.start(server_id)
        await _begun(session, 1)
        if stopped:
            running.end(server_id)
            with pytest.raises(EnvironmentProblem):
                await first
            assert session.ended == [server_id]
        else:
            session.started(0)
            await first
            session.gone = True
            with pytest.raises(EnvironmentProblem):
                await running.call(server_id, "echo", "{}")
            # known at once, before the news of it
            assert running.view(server_id).state is ToolServerState.ENDED
            session.gone = False
        again = asyncio.ensure_future(running.call(server_id, "echo", "{}"))
        await _begun(session, 2)
        if stopped:
            # a start that was given up ends late
            session.started(0)
            assert running.view(server_id).state is ToolServerState.STARTING
        session.tell_end(0, crashed)
        assert running.view(server_id).state is ToolServerState.STARTING
        session.started(1)
        await again
        session.tell_end(0, crashed)
        assert running.view(server_id).state is ToolServerState.READY
        session.tell_end(1, crashed)
        assert running.view(server_id).state is not ToolServerState.READY
    finally:
        await talk.close()
