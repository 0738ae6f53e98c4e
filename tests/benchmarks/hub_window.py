"""The window while it searches and downloads: frames with 1,000 results and ten running downloads,
and how long an answer takes to be seen."""

from __future__ import annotations

import asyncio
import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import qasync
from PySide6.QtCore import QAbstractItemModel, QEvent, QObject, QTimer
from PySide6.QtWidgets import QWidget

from headstart.assembly import App, close_app, open_app
from headstart.core.hub.catalog import Search
from headstart.core.settings.library import LibrarySettings
from headstart.home import Home
from headstart.launch import make_application
from tests.benchmarks.hub_process import HubProcess
from tests.benchmarks.report import Report, spread

RESULTS, DOWNLOADS, SECONDS = 1_000, 10, 12.0
# bytes a second of each download: a line of 1 Gbit/s in all
RATE = 12.5e6
SIZE = 400 << 20


class Frames(QObject):
    """Asks for a frame every 8 ms, and notes how long each took from there to its paint."""

    def __init__(self, watched: QWidget, step: Any) -> None:
        super().__init__()
        self._watched, self._step = watched, step
        self.times: list[float] = []
        self._asked = 0.0
        self._timer = QTimer(self)
        self._timer.setInterval(8)
        self._timer.timeout.connect(self._ask)
        watched.installEventFilter(self)

    def start(self) -> None:
        self._timer.start()

    def stop(self) -> None:
        self._timer.stop()

    def _ask(self) -> None:
        now = time.perf_counter()
        if self._asked:
            # it was not painted yet: the frame is late
            return
        self._asked = now
        self._step()
        self._watched.update()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint and self._asked:
            asked, self._asked = self._asked, 0.0
            QTimer.singleShot(0, lambda: self.times.append(time.perf_counter() - asked))
        return False


class FirstPaint(QObject):
    """When a list is first painted with rows in it."""

    def __init__(self, watched: QWidget, rows: QAbstractItemModel) -> None:
        super().__init__()
        self._rows = rows
        self.at = 0.0
        watched.installEventFilter(self)

    def seen(self) -> bool:
        return self.at > 0

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint and self._rows.rowCount() and not self.at:
            self.at = time.perf_counter()
        return False


async def _wait(done: Any, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.01)


async def _searches(app: App, count: int) -> list[float]:
    """From the answer's end (the client's last byte) to painted results; milliseconds."""
    discover, view = app.controllers.discover, app.window.pages.show_models().discover
    shown: list[float] = []
    arrived = [0.0]

    from huggingface_hub import get_session

    session = get_session()

    def on_response(response: Any) -> None:
        response.read()
        arrived[0] = time.perf_counter()

    session.event_hooks["response"] = [on_response]
    for number in range(count):
        view.results.clear()
        watch = FirstPaint(view.list.viewport(), view.results)
        discover.search(Search(f"model{number % 10}", ("gguf",)))
        await _wait(watch.seen)
        view.list.viewport().removeEventFilter(watch)
        shown.append(1000 * (watch.at - arrived[0]))
        await asyncio.sleep(0.05)
    session.event_hooks["response"] = []
    return shown


async def _frames(app: App, hub: HubProcess) -> tuple[list[float], float]:
    view = app.window.pages.show_models().discover
    app.services.preferences.update(library=LibrarySettings(parallel=DOWNLOADS))
    discover = app.controllers.discover
    discover.search(Search("", ("gguf",)))
    await _wait(lambda: view.results.rowCount() >= 100)
    while view.results.rowCount() < RESULTS:
        before = view.results.rowCount()
        discover.more()
        await _wait(lambda b=before: view.results.rowCount() > b)
    for number in range(DOWNLOADS):
        details = await app.services.discover.details(f"maker/large{number}-GGUF")
        await app.services.downloads.add([details.wanted(details.variants[0])])
    queue = app.services.downloads
    await _wait(lambda: sum(one.received > 0 for one in queue.all) == DOWNLOADS)
    bar, direction = view.list.verticalScrollBar(), [1]

    def step() -> None:
        if bar.value() >= bar.maximum() or bar.value() <= 0:
            direction[0] = -direction[0] if bar.value() else 1
        bar.setValue(bar.value() + 37 * direction[0])

    frames = Frames(view.list.viewport(), step)
    received, began = sum(one.received for one in queue.all), time.monotonic()
    frames.start()
    await asyncio.sleep(SECONDS)
    frames.stop()
    speed = (sum(one.received for one in queue.all) - received) / (time.monotonic() - began)
    for one in queue.all:
        await queue.cancel([one.id])
    return frames.times, speed


def measure_window(report: Report) -> None:
    hub = HubProcess()
    files = {f"maker/large{n}-GGUF": {f"large{n}-Q4_K_M.gguf": [SIZE, n]} for n in range(DOWNLOADS)}
    hub.ask(files=files, models=RESULTS, rate=RATE)
    folder = Path(tempfile.mkdtemp())
    os.environ["HF_HUB_CACHE"] = str(folder / "cache")
    os.environ["HF_ENDPOINT"] = hub.endpoint
    from huggingface_hub import constants

    constants.ENDPOINT, constants.HF_HUB_CACHE = hub.endpoint, str(folder / "cache")
    address = f"{hub.endpoint}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
    constants.HUGGINGFACE_CO_URL_TEMPLATE = address
    application = make_application()
    loop = qasync.QEventLoop(application, already_running=False)
    asyncio.set_event_loop(loop)

    async def measure() -> tuple[list[float], list[float], float]:
        app = await open_app(Home(folder / "home"))
        app.window.show()
        await asyncio.sleep(1.0)
        shown = await _searches(app, 21)
        frames, speed = await _frames(app, hub)
        await close_app(app)
        return shown, frames, speed

    with loop:
        shown, frames, speed = loop.run_until_complete(measure())
    hub.close()
    report.add("search_shown_ms", statistics.median(shown), "at most 100", spread(shown))
    times = sorted(1000 * value for value in frames)
    note = f"(median {statistics.median(times):.1f}, worst {times[-1]:.1f}, n = {len(times)}; "
    note += f"{speed / 1e6:.0f} MB/s meanwhile)"
    report.add("frame_p99_ms", times[int(0.99 * len(times))], "at most 16", note)
