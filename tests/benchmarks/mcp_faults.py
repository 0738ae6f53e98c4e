"""Faults of tool servers, each with what must come of it."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable

from headstart.assembly import App
from headstart.core.errors import EnvironmentProblem
from headstart.core.tool_servers.entry import ToolServer
from headstart.core.tool_servers.results import TextContent, ToolReturn
from headstart.core.tool_servers.state import ToolServerState
from tests.support.tool_servers import scripted, until


class Desk:
    """A server of the app, started and called as a reply would."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.servers = app.services.tools.servers

    async def add(self, server: ToolServer) -> str:
        server_id, _ = await self.servers.entries.save(server, {})
        return server_id

    async def begin(self, server: ToolServer, seconds: float = 30) -> str:
        server_id = await self.add(server)
        await self.servers.running.ready(server_id, seconds)
        return server_id

    async def call(self, server_id: str, tool: str, **arguments: object) -> ToolReturn:
        return await self.servers.running.call(server_id, tool, json.dumps(arguments))

    def state(self, server_id: str) -> ToolServerState:
        return self.servers.running.view(server_id).state

    async def problem(self, work: Awaitable[object]) -> str:
        """The code of the problem that the work ends with; "" for none."""
        try:
            await work
        except EnvironmentProblem as problem:
            return problem.told.code
        return ""


def text(found: ToolReturn) -> str:
    return "\n".join(one.text for one in found.content if isinstance(one, TextContent))


async def _exits(desk: Desk) -> bool:
    return await desk.problem(desk.begin(scripted("exit"))) == "tool-server-exited"


async def _crashes(desk: Desk) -> bool:
    server_id = await desk.begin(scripted())
    ended = await desk.problem(desk.call(server_id, "crash")) == "tool-server-ended"
    # the next call starts it again
    return ended and text(await desk.call(server_id, "echo", text="again")) == "again"


async def _is_mute(desk: Desk) -> bool:
    server_id = await desk.add(scripted("mute"))
    slow = await desk.problem(desk.servers.running.ready(server_id, 3)) == "tool-server-slow"
    desk.servers.running.end(server_id)
    return slow and desk.state(server_id) is ToolServerState.OFF


async def _junk(desk: Desk) -> bool:
    server_id = await desk.begin(scripted("junk"))
    await until(lambda: "{not json" in desk.servers.running.view(server_id).log or None)
    return text(await desk.call(server_id, "echo", text="hi")) == "hi"


async def _huge(desk: Desk) -> bool:
    server_id = await desk.begin(scripted())
    return len(text(await desk.call(server_id, "long", size=20_000_000))) == 20_000_000


async def _many(desk: Desk) -> bool:
    server_id = await desk.begin(scripted("many"))
    return len(desk.servers.lists.known()[server_id].tools) == 2_000


async def _changes(desk: Desk) -> bool:
    server_id = await desk.begin(scripted())
    before = desk.servers.lists.known()[server_id].tools[0]
    await desk.call(server_id, "change")

    def changed() -> bool | None:
        now = desk.servers.lists.known()[server_id].tools[0]
        return (now.name == before.name and now.digest != before.digest) or None

    return await until(changed)


async def _starts_slowly(desk: Desk) -> bool:
    server_id = await desk.begin(scripted("slow"))
    return desk.state(server_id) is ToolServerState.READY


async def _hangs(desk: Desk) -> bool:
    server_id = await desk.begin(scripted())
    call = asyncio.ensure_future(desk.call(server_id, "wait", seconds=600))
    await asyncio.sleep(0.5)
    began = time.perf_counter()
    call.cancel()
    await asyncio.gather(call, return_exceptions=True)
    at_once = time.perf_counter() - began < 0.5
    return at_once and text(await desk.call(server_id, "echo", text="on")) == "on"


async def _is_missing(desk: Desk) -> bool:
    gone = ToolServer("", "Gone", command="/no/such/program")
    return await desk.problem(desk.begin(gone)) == "tool-server-not-found"


async def _is_noisy(desk: Desk) -> bool:
    server_id = await desk.begin(scripted("noisy"))
    return text(await desk.call(server_id, "echo", text="quiet")) == "quiet"


async def _ignores_the_new_age(desk: Desk) -> bool:
    """An old server that does not answer the probe: 10 s the first time, none the second."""
    server_id = await desk.begin(scripted("mute-new"))
    desk.servers.running.end(server_id)
    began = time.perf_counter()
    await desk.servers.running.ready(server_id)
    return time.perf_counter() - began < 5


FAULTS: dict[str, Callable[[Desk], Awaitable[bool]]] = {
    "exit": _exits,
    "crash": _crashes,
    "mute": _is_mute,
    "junk": _junk,
    "20 MB": _huge,
    "2,000 tools": _many,
    "changed": _changes,
    "slow start": _starts_slowly,
    "hang": _hangs,
    "missing": _is_missing,
    "noise": _is_noisy,
    "old age": _ignores_the_new_age,
}
