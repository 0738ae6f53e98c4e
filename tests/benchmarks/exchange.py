"""Chats in and out: 10,000 of them as one ChatGPT export, while another chat is written and the
window is looked at.

`python -m tests.benchmarks.exchange [--json FILE]`. Round trips, mutated files and kills are tests
(`make proof`); here are times, memory and frames.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import tempfile
import threading
import time
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import psutil
import qasync

from headstart.assembly import App, close_app, open_app
from headstart.chat.transfer.export_request import ExportJobRun as ExportRun
from headstart.chat.transfer.intake import ImportJobRun
from headstart.core.settings.schema import SamplingChoice
from headstart.home import Home
from headstart.launch import make_application
from tests.benchmarks.answering import starter_key, stats_of
from tests.benchmarks.hub_window import Frames
from tests.benchmarks.report import Report, json_path
from tests.support.driver import begin, use_sampling
from tests.support.large_export import write_export

CHATS, SIZE = 10_000, 200_000_000
# seconds of frames without anything else than the reply, to compare with
ALONE = 8.0


class Memory:
    """The most that the process has of memory while it is watched; bytes."""

    def __init__(self) -> None:
        self._process = psutil.Process()
        self.before = self.most = self._process.memory_info().rss
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while not self._stop.wait(0.05):
            self.most = max(self.most, self._process.memory_info().rss)

    def end(self) -> float:
        """Megabytes more than before."""
        self._stop.set()
        self._thread.join()
        return (self.most - self.before) / 1e6


async def _write_on(app: App, stop: asyncio.Event, speeds: list[float]) -> None:
    """Another chat that is always being written."""
    while not stop.is_set():
        await begin(app, "Tell me a long story about a river.")
        while app.controllers.reply.writing and not stop.is_set():
            await asyncio.sleep(0.05)
        app.controllers.conversation.stop()
        while app.controllers.reply.writing:
            await asyncio.sleep(0.02)
        await app.controllers.settle()
        branch = await app.services.branches.whole(app.controllers.open.id)
        # it may be stopped before its first word
        stats = branch[-1].stats and stats_of(branch[-1], starter_key())
        if stats is not None and stats.tokens_per_second:
            speeds.append(stats.tokens_per_second)


async def _measure(report: Report, folder: Path) -> None:
    source = folder / "conversations.json"
    write_export(source, CHATS, SIZE)
    app = await open_app(Home(folder / "home"))
    app.window.show()
    use_sampling(app, SamplingChoice(temperature=0.7, max_tokens=2_000))
    await app.controllers.settle()
    stop, speeds = asyncio.Event(), list[float]()
    writing = asyncio.ensure_future(_write_on(app, stop, speeds))
    await asyncio.sleep(4)
    alone = await _frames(app, asyncio.sleep(ALONE))
    memory = Memory()
    began = time.monotonic()
    run = ImportJobRun()
    frames = await _frames(app, app.services.importing.run([source], run))
    report.add("import_10000_s", time.monotonic() - began, "at most 60", _size(source))
    report.add("import_memory_mb", memory.end(), "at most 300", "with the mapped file")
    _add_frames(report, "import_frame_p99_ms", frames, "at most 16")
    _add_frames(report, "reply_frame_p99_ms", alone, "")
    stop.set()
    await writing
    report.add("reply_tokens_s", statistics.median(speeds), "", "the other chat, all the while")
    began = time.monotonic()
    await app.services.importing.run([source], ImportJobRun())
    report.add("import_again_s", time.monotonic() - began, "", "nothing is new")
    for form, name in (("headstart", "all.headstart.zip"), ("markdown", "all.zip")):
        wanted = app.services.exporting.wanted(
            (), form, reasoning=True, stats=False, branches=False
        )
        began = time.monotonic()
        target = folder / name
        count = await app.services.exporting.write(wanted, target, ExportRun())
        key = "export_10000_s" if form == "headstart" else f"export_{form}_s"
        report.add(key, time.monotonic() - began, "at most 60", f"{count:,} chats, {_size(target)}")
    began = time.monotonic()
    await app.services.chat_list.summaries()
    report.add("list_10000_ms", 1000 * (time.monotonic() - began), "", "from the database")
    await close_app(app)


async def _frames(app: App, meanwhile: object) -> list[float]:
    """Times of frames of the window's middle, in milliseconds, until `meanwhile` is over."""
    frames = Frames(app.window.transcript, lambda: None)
    frames.start()
    await meanwhile  # type: ignore[misc]
    frames.stop()
    return [1000 * value for value in frames.times]


def _add_frames(report: Report, name: str, times: list[float], wanted: str) -> None:
    ordered = sorted(times)
    note = f"median {statistics.median(ordered):.1f}, worst {ordered[-1]:.1f}, n = {len(ordered)}"
    report.add(name, ordered[int(0.99 * len(ordered))], wanted, note)


def _size(path: Path) -> str:
    return f"{path.stat().st_size / 1e6:.0f} MB"


def main() -> None:
    path = json_path("chats in and out")
    report = Report(
        "exchange (10,000 chats, offscreen, a reply being written by the starter model)"
    )
    application = make_application()
    loop = qasync.QEventLoop(application, already_running=False)
    asyncio.set_event_loop(loop)
    with tempfile.TemporaryDirectory() as folder, loop:
        loop.run_until_complete(_measure(report, Path(folder)))
    report.write(path)


if __name__ == "__main__":
    main()
