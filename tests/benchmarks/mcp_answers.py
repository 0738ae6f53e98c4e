"""Answers of tool servers that are too large, or as large as they may be: the memory that the
program and its child take, the time until the call ends, and the window meanwhile."""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path

import psutil

from headstart.assembly import App
from headstart.core.errors import EnvironmentProblem
from headstart.core.tool_servers.entry import ToolServer
from tests.benchmarks.mcp_faults import Desk
from tests.benchmarks.report import Report, spread
from tests.support import odd_tool_server as odd

_SCRIPT = Path(odd.__file__)


class Memory:
    """The most that the processes take meanwhile, in MB beyond what they took before."""

    def __init__(self, *processes: int) -> None:
        self._processes = [psutil.Process(one) for one in processes]
        self._ended = threading.Event()
        self._began = [one.memory_info().rss for one in self._processes]
        self.most = list(self._began)
        self._thread = threading.Thread(target=self._watch)

    def __enter__(self) -> Memory:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._ended.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._ended.wait(0.005):
            for place, one in enumerate(self._processes):
                self.most[place] = max(self.most[place], one.memory_info().rss)

    @property
    def growth(self) -> list[float]:
        return [(most - began) / 1e6 for most, began in zip(self.most, self._began, strict=True)]


async def answers(app: App, report: Report) -> None:
    """Each answer in a server of its own, all in one child."""
    desk, running = Desk(app), app.services.tools.servers.running
    ours, child, seconds = list[float](), list[float](), list[float]()
    for what in (*odd.ANSWERS, *odd.LARGE):
        entry = ToolServer("", what, command=sys.executable, arguments=(str(_SCRIPT), what))
        server_id = await desk.begin(entry, 120)
        assert running.child is not None
        began = time.perf_counter()
        with Memory(psutil.Process().pid, running.child) as memory:
            try:
                found = await desk.call(server_id, "odd")
                said = f"{sum(len(str(one)) for one in found.content):,} characters"
            except EnvironmentProblem as problem:
                said = problem.told.code
        seconds.append(time.perf_counter() - began)
        ours.append(memory.growth[0])
        child.append(memory.growth[1])
        running.end(server_id)
        print(
            f"{what}: {said} after {seconds[-1]:.2f} s, program {ours[-1]:.0f} MB, "
            f"child {child[-1]:.0f} MB",
            flush=True,
        )
    report.add("hostile_answer_growth_mb_program", max(ours), "at most 300", spread(ours))
    report.add("hostile_answer_growth_mb_child", max(child), "at most 300", spread(child))
    report.add("hostile_answer_ends_s", max(seconds), "at once", spread(seconds))
