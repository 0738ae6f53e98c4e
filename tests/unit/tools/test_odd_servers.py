"""Tool servers with odd entries, broken answers, and answers of any size: each costs itself."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from headstart.core.errors import EnvironmentProblem
from headstart.core.tool_servers.lists import ServerLists
from headstart.core.tool_servers.results import TextContent
from headstart.tools.session import ServerNews, ToolSession
from headstart.tools.wire import ServerEnded, ServerLogged, ServerStarted, StartServer
from tests.support import odd_tool_server as odd
from tests.support.tool_servers import until

SCRIPT = Path(odd.__file__)
# events are read as answers over HTTP are, but for their frames
WAYS = ("", "http", pytest.param("events", marks=pytest.mark.proof))
EVERY_WAY = ("", "http", "events")


class Odd:
    """A server that has started, in a session with others."""

    def __init__(self, what: str, session: ToolSession, news: list[ServerNews]) -> None:
        self.what, self.session, self._news = what, session, news
        self.lists = ServerLists()

    @property
    def news(self) -> list[ServerNews]:
        return [one for one in self._news if getattr(one, "server", "") == self.what]

    async def begin(self, start: StartServer) -> Odd:
        self.session.start(start)
        kinds = ServerStarted | ServerEnded

        def begun() -> ServerNews | None:
            return next((one for one in self.news if isinstance(one, kinds)), None)

        found = await until(begun)
        assert isinstance(found, ServerStarted), (self.what, found)
        self.lists = found.lists
        return self

    async def call(self, tool: str, text: str = "on") -> str:
        found = await self.session.call(self.what, tool, f'{{"text": "{text}"}}')
        return "\n".join(one.text for one in found.content if isinstance(one, TextContent))

    @property
    def log(self) -> str:
        lines = [line for one in self.news if isinstance(one, ServerLogged) for line in one.lines]
        return "\n".join(lines)


class Servers:
    """Servers in one session, over pipes, HTTP, or a stream of events."""

    def __init__(self, way: str) -> None:
        self._way = way
        self.session, self._news = ToolSession(), list[ServerNews]()
        self.session.listen(self._news.append)
        self._processes: list[subprocess.Popen[str]] = []

    async def begin(self, what: str) -> Odd:
        start = StartServer(what, what, sys.executable, (str(SCRIPT), what))
        if self._way:
            command = [sys.executable, str(SCRIPT), what, self._way]
            process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            self._processes.append(process)
            assert process.stdout is not None
            port = await asyncio.to_thread(process.stdout.readline)
            start = StartServer(what, what, url=f"http://127.0.0.1:{port.strip()}/mcp")
        return await Odd(what, self.session, self._news).begin(start)

    async def close(self) -> None:
        await self.session.close()
        for process in self._processes:
            process.kill()
            process.wait()
            assert process.stdout is not None
            process.stdout.close()


@asynccontextmanager
async def servers(way: str = "") -> AsyncIterator[Servers]:
    found = Servers(way)
    try:
        yield found
    finally:
        await found.close()


async def _logged(one: Odd, words: str) -> None:
    await until(lambda: words in one.log or None)


@pytest.mark.parametrize("way", WAYS)
async def test_one_odd_entry_is_left_out_and_named(way: str) -> None:
    async with servers(way) as desk:
        for what, lists in odd.LISTS.items():
            if way and what == "deep schema":
                # over HTTP the library itself reads no more than 200 levels of an answer
                continue
            one = await desk.begin(what)
            assert await one.call("echo") == "on", what
            assert {"echo", "odd"} <= {tool.name for tool in one.lists.tools}, what
            assert one.lists.left_out == 1, what
            (reason,) = one.lists.reasons
            assert next(iter(lists)) in reason.message
            assert "bad" in reason.message or what == "prompts as text", reason.message
            await _logged(one, reason.message)
            names = [entry.name for entry in one.lists.prompts]
            names += [entry.name for entry in one.lists.resources]
            wanted = {"odd prompt": ["good", "bad"], "odd argument": ["bad"]}
            wanted |= {"odd resource": ["a"], "odd template": ["a"]}
            assert names == wanted.get(what, []), what
            if what == "odd argument":
                assert [found.name for found in one.lists.prompts[0].arguments] == ["a"]


async def test_odd_values_that_nothing_needs_do_no_harm() -> None:
    async with servers() as desk:
        for what in odd.SOUND:
            one = await desk.begin(what)
            assert await one.call("echo") == "on", what
            assert {"echo", "odd"} <= {tool.name for tool in one.lists.tools}, what


@pytest.mark.parametrize("way", EVERY_WAY)
async def test_a_call_whose_answer_cannot_be_read_fails_at_once(way: str) -> None:
    async with servers(way) as desk:
        for what in odd.ANSWERS:
            one = await desk.begin(what)
            with pytest.raises(EnvironmentProblem) as caught:
                await one.call("odd")
            codes = ("tool-server-flooded", "tool-server-unreadable")
            assert caught.value.told.code in codes, what
            # the server goes on as if nothing had happened
            assert await one.call("echo", "again") == "again", what
            assert not [news for news in one.news if isinstance(news, ServerEnded)], what


@pytest.mark.parametrize("way", WAYS)
async def test_odd_answers_are_read_as_far_as_they_can_be(way: str) -> None:
    async with servers(way) as desk:
        for what, (_made, text) in odd.READ.items():
            one = await desk.begin(what)
            try:
                assert text in await one.call("odd"), what
            except EnvironmentProblem as problem:
                # over HTTP the library reads the bytes itself
                if not way or problem.told.code != "tool-server-unreadable":
                    raise
            assert await one.call("echo", "again") == "again", what
