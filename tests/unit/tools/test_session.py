"""The child process that speaks with tool servers: both ages of the protocol, over pipes and HTTP,
and its end."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from socket import create_connection
from typing import TypeVar

import psutil
import pytest

from headstart.core.errors import EnvironmentProblem
from headstart.core.tool_servers.questions import QuestionEnd
from headstart.core.tool_servers.results import TextContent, ToolReturn
from headstart.tools.session import ServerGone, ServerNews, ToolSession
from headstart.tools.wire import (
    CallProgressed,
    QuestionAsked,
    QuestionGone,
    ServerEnded,
    ServerLogged,
    ServerStarted,
    StartServer,
)
from tests.support.patience import PATIENCE
from tests.support.program import free_port
from tests.support.tool_servers import SCRIPT, until

MODERN = Path(SCRIPT).with_name("modern_tool_server.py")
N = TypeVar("N")


class Desk:
    """A session, and the news that it had."""

    def __init__(self) -> None:
        self.session = ToolSession()
        self.news: list[ServerNews] = []
        self.session.listen(self.news.append)

    async def next(self, kind: type[N]) -> N:
        def look() -> N | None:
            for one in self.news:
                if isinstance(one, kind):
                    self.news.remove(one)
                    return one
            return None

        return await until(look)

    def start(self, *arguments: str, script: Path = MODERN) -> None:
        self.session.start(StartServer("a", "A", sys.executable, (str(script), *arguments)))


@asynccontextmanager
async def desk() -> AsyncIterator[Desk]:
    one = Desk()
    yield one
    await one.session.close()


def _text(found: ToolReturn) -> str:
    return "".join(one.text for one in found.content if isinstance(one, TextContent))


async def _uses(one: Desk) -> None:
    """All that a server of the newer age is asked for."""
    started = await one.next(ServerStarted)
    assert not started.handshake
    assert started.lists.name == "modern"
    assert [tool.name for tool in started.lists.tools] == ["add", "weather", "count", "greet"]
    assert [prompt.name for prompt in started.lists.prompts] == ["summary"]
    assert [found.uri for found in started.lists.resources] == ["note://today"]
    call = one.session.call
    assert _text(await call("a", "add", '{"a": 2, "b": 3}')) == "5"
    found = await call("a", "weather", '{"city": "Lima"}')
    # the library repeats the structured value as text
    assert len(found.content) == 1
    assert "21.5" in _text(found)
    bad = await call("a", "add", '{"a": "two"}')
    assert bad.failed
    told: list[CallProgressed] = []
    assert _text(await call("a", "count", '{"upto": 5}', told.append)) == "counted"
    # progress comes at most ten times in a second
    assert told[0].total == 5
    prompt = await one.session.prompt("a", "summary", {"topic": "rain"})
    assert _text(prompt) == "Summarize rain."
    read = await one.session.read("a", "note://today")
    assert getattr(read.content[0], "data", b"") == b"Rain."
    for end, said in (
        (QuestionEnd.ACCEPTED, "Hello Ann"),
        (QuestionEnd.DECLINED, "The user would not say: decline"),
    ):
        asking = asyncio.ensure_future(call("a", "greet", "{}"))
        question = await one.next(QuestionAsked)
        assert (question.message, [f.name for f in question.fields]) == ("Who are you?", ["name"])
        one.session.answer(question.number, end, {"name": "Ann"})
        assert _text(await asking) == said


async def test_the_newer_age_over_pipes() -> None:
    async with desk() as one:
        one.start("stdio")
        await _uses(one)


async def test_the_newer_age_over_http_with_a_secret_header() -> None:
    port = free_port()
    process = subprocess.Popen([sys.executable, str(MODERN), "http", str(port), "k3y"])

    def answers() -> bool | None:
        try:
            with closing(create_connection(("127.0.0.1", port), 1)):
                return True
        except OSError:
            return None

    try:
        await until(answers)
        url = f"http://127.0.0.1:{port}/mcp"
        async with desk() as one:
            one.session.start(StartServer("a", "A", url=url))
            refused = await one.next(ServerEnded)
            assert refused.problem is not None
            assert refused.problem.code == "tool-server-refused"
            values = {"Authorization": "Bearer k3y"}
            one.session.start(StartServer("a", "A", url=url, variables=values))
            await _uses(one)
            process.kill()
            process.wait(PATIENCE)
            with pytest.raises(EnvironmentProblem) as problem:
                await one.session.call("a", "add", '{"a": 1, "b": 1}')
            assert problem.value.told.code == "tool-server-unreachable"
            # the next call connects again
            ended = await one.next(ServerEnded)
            assert ended.problem == problem.value.told
    finally:
        process.kill()
        process.wait(PATIENCE)


async def test_a_question_whose_call_is_cancelled_is_withdrawn() -> None:
    async with desk() as one:
        one.start(script=SCRIPT)
        await one.next(ServerStarted)
        asking = asyncio.ensure_future(one.session.call("a", "ask", "{}"))
        question = await one.next(QuestionAsked)
        one.session.end("a")
        assert (await one.next(QuestionGone)).number == question.number
        with pytest.raises(ServerGone):
            await asking


async def test_no_pattern_of_a_server_is_run() -> None:
    async with desk() as one:
        one.start("schema", script=Path(SCRIPT))
        await one.next(ServerStarted)
        found = await one.session.call("a", "structured", "{}")
        assert "aaa!" in _text(found)
        assert _text(await one.session.call("a", "echo", '{"text": "still here"}')) == "still here"


@pytest.mark.logs("the child that speaks with tool servers ended")
async def test_every_request_fails_when_the_child_dies_and_the_next_starts_another() -> None:
    async with desk() as one:
        one.start(script=SCRIPT)
        await one.next(ServerStarted)
        asking = asyncio.ensure_future(one.session.call("a", "wait", '{"seconds": 60}'))
        await asyncio.sleep(0.2)
        first = one.session.pid
        assert first is not None
        psutil.Process(first).kill()
        with pytest.raises(ServerGone):
            await asking
        ended = await one.next(ServerEnded)
        assert ended.problem is not None
        one.start(script=SCRIPT)
        await one.next(ServerStarted)
        assert one.session.pid != first
        assert _text(await one.session.call("a", "echo", '{"text": "again"}')) == "again"


async def test_a_tool_with_too_large_a_schema_is_left_out_alone() -> None:
    async with desk() as one:
        one.start("large-schemas", script=SCRIPT)
        started = await one.next(ServerStarted)
        assert [tool.name for tool in started.lists.tools] == ["echo"]
        assert started.lists.left_out == 2


async def test_a_flood_of_lines_is_counted_and_secrets_in_it_are_masked() -> None:
    async with desk() as one:
        values = {"API_KEY": "hush-hush"}
        script = (
            "import sys, os\n"
            "for n in range(5000): print(n, os.environ['API_KEY'], file=sys.stderr)\n"
            "print('\\x1b[31mred\\x1b[0m', file=sys.stderr)\n"
        )
        one.session.start(StartServer("a", "A", sys.executable, ("-c", script), variables=values))
        ended = await one.next(ServerEnded)
        assert ended.problem is not None
        lines: list[str] = []

        def last() -> bool | None:
            for news in [one_ for one_ in one.news if isinstance(one_, ServerLogged)]:
                lines.extend(news.lines)
                one.news.remove(news)
            return any("red" in line for line in lines) or None

        await until(last)
        assert not any("hush" in line for line in lines)
        assert any("•••" in line for line in lines)
        assert any("left out" in line for line in lines)
        assert all(line.isprintable() for line in lines)
        # how many come in a tenth of a second is the computer's; none is lost without a word
        left = [int(line.split()[0][1:]) for line in lines if "left out" in line]
        assert sum(left) + len(lines) - len(left) == 5_001
