"""Tool servers: faults, real servers, consent, the window meanwhile, what a kill leaves behind.

`python -m tests.benchmarks.mcp --json FILE` (`--only faults,answers,real,kill,consent,tokens`).
The window is a real one, offscreen; its frames are the times that its loop takes to come around
while it repaints. Real servers come from npm and PyPI.
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
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import keyring
import psutil

from headstart.assembly import App
from headstart.core.settings.schema import ChatOptions, EngineSettings, SamplingChoice
from tests.benchmarks import mcp_servers
from tests.benchmarks.answering import starter_key, stats_of
from tests.benchmarks.mcp_answers import answers
from tests.benchmarks.mcp_faults import FAULTS, Desk
from tests.benchmarks.report import Report
from tests.benchmarks.starting import run_watched
from tests.support.keyrings import MemoryKeyring
from tests.support.tool_servers import SCRIPT, scripted

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
        right = [await good(desk, ids, tools, data) for good in mcp_servers.REAL]
    for check, good in zip(mcp_servers.REAL, right, strict=True):
        print(f"{check.__name__}: {'right' if good else 'WRONG'}", flush=True)
    report.add(
        "real_servers_right", sum(right), f"{len(mcp_servers.REAL)} of {len(mcp_servers.REAL)}"
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
        sys.executable, "-m", "pytest", "-q", "-m", "proof", "--timeout=3600",
        "-o", "faulthandler_timeout=4000",
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
        found.append(stats_of(reply, starter_key()).prefix.recomputed)
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
    if only("faults") or only("real") or only("answers"):
        keyring.set_keyring(MemoryKeyring())

        async def measure(app: App) -> int:
            await app.controllers.settle()
            if only("faults"):
                await _faults(app, report)
            if only("answers"):
                await answers(app, report)
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
