"""Tool servers: faults, real servers, consent, the window meanwhile, what a kill leaves behind.

`python -m tests.benchmarks.mcp --json FILE` (`--only faults,real,kill,consent,tokens`). The window
is a real one, offscreen; its frames are the times that its loop takes to come around while it
repaints. Real servers come from npm and PyPI.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import keyring
import psutil

from headstart.assembly import App
from headstart.core.errors import EnvironmentProblem
from headstart.core.settings.schema import ChatOptions, EngineSettings, SamplingChoice
from headstart.core.tool_servers.entry import ToolServer
from headstart.core.tool_servers.results import ImageContent, TextContent, ToolReturn
from headstart.core.tool_servers.state import ToolServerState
from tests.benchmarks import mcp_servers
from tests.benchmarks.report import Report
from tests.benchmarks.starting import run_watched
from tests.support.keyrings import MemoryKeyring
from tests.support.tool_servers import SCRIPT, scripted, until

KILLS, FRAME = 10, 0.016
ROOT = Path(__file__).parents[2]
_parts: frozenset[str] = frozenset()


def only(part: str) -> bool:
    return not _parts or part in _parts


# --- the window meanwhile --------------------------------------------------------------------


class Frames:
    """Seconds that the window's loop takes to come around, while it repaints at each turn."""

    def __init__(self, app: App) -> None:
        self._app = app
        self.seconds: list[float] = []
        self._task = asyncio.ensure_future(self._watch())

    async def _watch(self) -> None:
        last = time.perf_counter()
        while True:
            self._app.window.composer.update()
            await asyncio.sleep(0.004)
            now = time.perf_counter()
            self.seconds.append(now - last - 0.004)
            last = now

    def end(self) -> list[float]:
        self._task.cancel()
        return self.seconds


# --- faults ----------------------------------------------------------------------------------


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


async def _faults(app: App, report: Report) -> None:
    right, seconds = 0, list[float]()
    for name, fault in FAULTS.items():
        frames = Frames(app)
        began = time.perf_counter()
        try:
            good = await fault(Desk(app))
        except Exception as error:
            good = False
            print(f"{name}: {type(error).__name__}: {error}", flush=True)
        found = frames.end()
        seconds += found
        right += good
        took, worst = time.perf_counter() - began, max(found, default=0) * 1000
        print(f"{name}: {'right' if good else 'WRONG'}, {took:.1f} s, frame {worst:.0f} ms")
    report.add("faults_right", right, f"{len(FAULTS)} of {len(FAULTS)}")
    p99 = statistics.quantiles(seconds, n=100)[98] * 1000
    report.add("window_frame_p99_ms", p99, "at most 16", f"worst {max(seconds) * 1000:.0f}")


# --- real servers ----------------------------------------------------------------------------


async def _real(app: App, report: Report) -> None:
    mcp_servers.install()
    desk = Desk(app)
    with tempfile.TemporaryDirectory() as place:
        data = Path(place).resolve()
        (data / "day.txt").write_text("Rain.")
        entries = mcp_servers.real_servers(data)
        ids = {name: await desk.begin(one, 60) for name, one in entries.items()}
        lists = desk.servers.lists.known()
        tools = {name: [t.name for t in lists[one].tools] for name, one in ids.items()}
        right = [await good(desk, ids, tools, data) for good in REAL]
    for check, good in zip(REAL, right, strict=True):
        print(f"{check.__name__}: {'right' if good else 'WRONG'}", flush=True)
    report.add("real_servers_right", sum(right), f"{len(REAL)} of {len(REAL)}")


Ids = dict[str, str]
Names = dict[str, list[str]]


async def time_lists(desk: Desk, ids: Ids, tools: Names, data: Path) -> bool:
    return set(tools["time"]) == {"get_current_time", "convert_time"}


async def time_calls(desk: Desk, ids: Ids, tools: Names, data: Path) -> bool:
    found = await desk.call(ids["time"], "get_current_time", timezone="Asia/Tokyo")
    return "+09:00" in text(found)


async def time_errs(desk: Desk, ids: Ids, tools: Names, data: Path) -> bool:
    found = await desk.call(ids["time"], "get_current_time", timezone="Moon/Base")
    return found.failed or "Moon/Base" in text(found)


async def fetch_refuses_loopback(desk: Desk, ids: Ids, tools: Names, data: Path) -> bool:
    found = await desk.call(ids["fetch"], "fetch", url="http://127.0.0.1:9/")
    return found.failed and bool(text(found))


async def fetch_has_a_prompt(desk: Desk, ids: Ids, tools: Names, data: Path) -> bool:
    return [one.name for one in desk.servers.lists.known()[ids["fetch"]].prompts] == ["fetch"]


async def files_read(desk: Desk, ids: Ids, tools: Names, data: Path) -> bool:
    found = await desk.call(ids["filesystem"], "read_text_file", path=str(data / "day.txt"))
    # its structured value repeats the text
    return text(found) == "Rain."


async def files_write(desk: Desk, ids: Ids, tools: Names, data: Path) -> bool:
    path = data / "new.txt"
    await desk.call(ids["filesystem"], "write_file", path=str(path), content="Sun.")
    return path.read_text() == "Sun."


async def files_stay_in_their_folder(desk: Desk, ids: Ids, tools: Names, data: Path) -> bool:
    return (await desk.call(ids["filesystem"], "read_text_file", path="/etc/hostname")).failed


async def everything_echoes(desk: Desk, ids: Ids, tools: Names, data: Path) -> bool:
    return "hello" in text(await desk.call(ids["everything"], "echo", message="hello"))


async def everything_has_images(desk: Desk, ids: Ids, tools: Names, data: Path) -> bool:
    name = next(one for one in tools["everything"] if "image" in one)
    found = await desk.call(ids["everything"], name)
    return any(isinstance(one, ImageContent) and len(one.data) > 100 for one in found.content)


async def everything_tells_progress(desk: Desk, ids: Ids, tools: Names, data: Path) -> bool:
    name = next(one for one in tools["everything"] if "long" in one)
    told: list[float] = []
    given = json.dumps({"duration": 1, "steps": 4})
    await desk.servers.running.call(
        ids["everything"], name, given, lambda one: told.append(one.done)
    )
    return len(told) >= 3 and told == sorted(told)


async def everything_is_structured_once(desk: Desk, ids: Ids, tools: Names, data: Path) -> bool:
    name = next(one for one in tools["everything"] if "structured" in one.casefold())
    found = await desk.call(ids["everything"], name, location="New York")
    return len(found.content) == 1 and "temperature" in json.loads(text(found))


REAL = (
    time_lists,
    time_calls,
    time_errs,
    fetch_refuses_loopback,
    fetch_has_a_prompt,
    files_read,
    files_write,
    files_stay_in_their_folder,
    everything_echoes,
    everything_has_images,
    everything_tells_progress,
    everything_is_structured_once,
)


# --- a kill ----------------------------------------------------------------------------------

_PROGRAM = f"""
import asyncio, os, sys
sys.path.insert(0, {str(ROOT)!r})
from headstart.tools.session import ToolSession
from headstart.tools.wire import ServerStarted, StartServer
async def main():
    session, started = ToolSession(), []
    done = asyncio.Event()
    def on(news):
        if isinstance(news, ServerStarted):
            started.append(news.server)
            if len(started) == 3:
                done.set()
    session.listen(on)
    for number, fault in enumerate(("stubborn", "child", "")):
        script = ({str(SCRIPT)!r}, *([fault] if fault else []))
        entry = StartServer(str(number), "s", sys.executable, script,
                            variables={{"CHILD_FILE": sys.argv[1]}})
        session.start(entry)
    await done.wait()
    print(session.pid, flush=True)
    await asyncio.sleep(600)
asyncio.run(main())
"""


def kill(report: Report) -> None:
    """Processes that are left 10 s after `kill -9` of a program with three servers, one of which
    ignores signals and one of which has a child in a session of its own."""
    left = 0
    for _ in range(KILLS):
        with tempfile.TemporaryDirectory() as place:
            file = Path(place) / "child"
            process = subprocess.Popen(
                [sys.executable, "-c", _PROGRAM, str(file)], stdout=subprocess.PIPE, cwd=ROOT
            )
            assert process.stdout is not None
            host = psutil.Process(int(process.stdout.readline()))
            known = [host, *host.children(recursive=True), psutil.Process(int(file.read_text()))]
            process.send_signal(signal.SIGKILL)
            process.wait()
            process.stdout.close()
            _gone, alive = psutil.wait_procs(known, timeout=10)
            left += len(alive)
            for one in alive:
                one.kill()
    report.add("processes_left_after_kill", left, "0", f"{KILLS} kills")


# --- consent ---------------------------------------------------------------------------------


def consent(report: Report) -> None:
    """500 generated sequences; the test fails at the first call that nobody allowed."""
    command = [
        sys.executable, "-m", "pytest", "-q", "-m", "proof", "--timeout=3000",
        "tests/unit/chat/test_consent.py",
    ]  # fmt: skip
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stdout[-3000:], flush=True)
    report.add("calls_without_approval", float(done.returncode != 0), "0", "500 sequences")


# --- tokens ----------------------------------------------------------------------------------


async def _recomputed(app: App, first: bool) -> list[int]:
    """Tokens that are processed again in a chat with a server's tools; `first`: of three turns,
    with a restart of the server between; else of the next turn, in another run of the program."""
    services = app.services
    services.preferences.update(
        engine=EngineSettings(context_length=4_096),
        sampling=SamplingChoice(temperature=0.0, max_tokens=24),
    )
    desk, found = Desk(app), list[int]()
    if first:
        server_id = await desk.add(scripted())
        chat_id = services.chat_list.begin().id
        await services.choices.set_options(chat_id, ChatOptions(tools_from=(server_id,)))
    else:
        [server] = desk.servers.entries.all
        server_id = server.id
        [chat_id] = [one.id for one in await services.chat_list.summaries()]
    for number in range(3 if first else 2):
        if number == 2:
            desk.servers.running.restart(server_id)
        await services.conversation.send(chat_id, f"Tell me a fact about number {number}.")
        while services.replies.reply_in(chat_id) is not None:
            await asyncio.sleep(0.02)
        reply = (await services.branches.whole(chat_id))[-1]
        assert reply.stats is not None, reply.error
        found.append(reply.stats.prefix.recomputed)
        # what the reply computed is kept while nothing else happens
        await asyncio.sleep(1.5)
    return found


def tokens(report: Report) -> None:
    with tempfile.TemporaryDirectory(dir=Path.home() / ".cache") as home:
        counts = _child(Path(home), "tokens-first") + _child(Path(home), "tokens-again")
    report.add("tool_turn_recomputed_tokens", max(counts), "0", f"{len(counts)} turns: {counts}")


def _child(home: Path, what: str) -> list[int]:
    """A run of the program in a process of its own."""
    command = [sys.executable, "-m", "tests.benchmarks.mcp", "--child", what, str(home)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stdout[-2000:], done.stderr[-3000:], flush=True)
    found: list[int] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def child(what: str, home: Path) -> int:
    keyring.set_keyring(MemoryKeyring())

    async def measure(app: App) -> int:
        await app.controllers.settle()
        print(json.dumps(await _recomputed(app, what == "tokens-first")), flush=True)
        return 0

    return run_watched(home, lambda _app: None, measure)


def main() -> int:
    global _parts
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here too")
    parser.add_argument("--only", default="", help="parts, with commas between them")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return child(options.child[0], Path(options.child[1]))
    _parts = frozenset(filter(None, options.only.split(",")))
    report = Report("Tool servers")
    if only("faults") or only("real"):
        keyring.set_keyring(MemoryKeyring())

        async def measure(app: App) -> int:
            await app.controllers.settle()
            if only("faults"):
                await _faults(app, report)
            if only("real"):
                await _real(app, report)
            return 0

        with tempfile.TemporaryDirectory() as home:
            run_watched(Path(home), lambda _app: None, measure)
    if only("kill"):
        kill(report)
    if only("tokens"):
        tokens(report)
    if only("consent"):
        consent(report)
    report.write(options.json)
    return 0


if __name__ == "__main__":
    sys.exit(main())
