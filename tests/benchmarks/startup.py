"""How fast the window is there, and how much memory it takes before any model is loaded.

Each run is a fresh process with the disk cache warm, with the program compiled to bytecode as the
set-up leaves it, and without. The window counts as interactive when a key
that is typed as soon as the composer was painted has been handled and painted too, and as ready
when the database is open and the list of chats is there; both from the start of the process.
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from tests.benchmarks.starting import run_watched

# isort: split
from PySide6.QtCore import QEvent, QObject, Qt, QTimer
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication

from headstart.assembly import App
from headstart.ui.composer.composer import Composer
from headstart.ui.shell.caret import REST_MS
from tests.benchmarks.report import Report, json_path, spread

ROOT = Path(__file__).resolve().parents[2]
RUNS = 9
IDLE_SECONDS = 30


class _FirstKey(QObject):
    """Types into the composer when it has been painted for the first time."""

    def __init__(self, application: QApplication) -> None:
        super().__init__(application)
        # the moment, and the processor's seconds until then
        self.ready = self.processor = 0.0
        self._began = False
        application.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:  # noqa: N802
        composer = watched.parent()
        while composer is not None and not isinstance(composer, Composer):
            composer = composer.parent()
        if event.type() == QEvent.Type.Paint and composer is not None and not self._began:
            self._began = True
            QTimer.singleShot(0, lambda: self._type(composer))
        return False

    def _type(self, composer: Composer) -> None:
        QApplication.instance().removeEventFilter(self)  # type: ignore[union-attr]
        # typing loads the model ahead; the figures are about the time before that
        composer.typing_began.disconnect()
        none = Qt.KeyboardModifier.NoModifier
        for kind in (QEvent.Type.KeyPress, QEvent.Type.KeyRelease):
            QApplication.sendEvent(composer.edit, QKeyEvent(kind, Qt.Key.Key_A, none, "a"))
        composer.edit.repaint()
        assert composer.text() == "a"
        self.ready, self.processor = time.monotonic(), time.process_time()


def child(home: str) -> int:
    from headstart.launch import make_application

    first, there = _FirstKey(make_application()), 0.0

    def watch(app: App) -> None:
        def listed(*_: object) -> None:
            nonlocal there
            there = there or time.monotonic()

        app.controllers.chat_list.listed.connect(listed)

    async def measure(_app: App) -> int:
        import psutil

        await asyncio.sleep(2)
        memory = psutil.Process().memory_info().rss
        found = {"ready": first.ready, "there": there, "rss": memory, "cpu": first.processor}
        print(json.dumps(found), flush=True)
        return 0

    return run_watched(Path(home), watch, measure)


def _switches() -> int:
    """How often this thread was woken up so far."""
    status = Path(f"/proc/self/task/{threading.get_native_id()}/status").read_text("ascii")
    line = next(line for line in status.splitlines() if line.startswith("voluntary"))
    return int(line.split()[1])


def idle_child(home: str) -> int:
    """Prints how often a second the main thread is woken up while nothing happens."""

    async def measure(app: App) -> int:
        app.window.activateWindow()
        app.window.composer.edit.setFocus()
        await asyncio.sleep(REST_MS / 1000 + 6)
        before = _switches()
        await asyncio.sleep(IDLE_SECONDS)
        # the last one is the end of this pause
        print((_switches() - before - 1) / IDLE_SECONDS, flush=True)
        return 0

    return run_watched(Path(home), lambda _app: None, measure)


def _run(kind: str, home: Path, source: Path | None = None) -> str:
    """`source`: the program's, where it has no bytecode and gets none."""
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen"}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    if source is not None:
        environment |= {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(source)}
    done = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.startup", kind, str(home)],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def idle_wakeups(home: Path) -> float:
    done = _run("--idle", home)
    return float(done.splitlines()[-1])


def measure_once(home: Path, source: Path | None = None) -> tuple[float, float, float]:
    """Seconds from the start of the process to an answering window and to the list of chats, and
    MB of memory."""
    started = time.monotonic()
    done = _run("--child", home, source)
    result = json.loads(done.splitlines()[-1])
    assert result["ready"]
    return result["ready"] - started, result["there"] - started, result["rss"] / 1e6


def main() -> None:
    path = json_path(__doc__ or "")
    report = Report("startup (offscreen, warm disk cache, no model loaded)")
    with tempfile.TemporaryDirectory() as place:
        home, source = Path(place, "home"), Path(place, "app")
        shutil.copytree(ROOT / "app", source, ignore=shutil.ignore_patterns("__pycache__"))
        (source.parent / "resources").symlink_to(ROOT / "resources")
        measure_once(home)  # fills caches and makes the database
        runs, uncompiled = [], []
        for _ in range(RUNS):
            runs.append(measure_once(home))
            uncompiled.append(measure_once(home, source))
        woken = [idle_wakeups(home) for _ in range(3)]
    for measured, at, name, wanted in (
        (runs, 0, "window_interactive_s", "at most 0.55"),
        (runs, 1, "window_ready_s", ""),
        (uncompiled, 0, "window_interactive_s_without_bytecode", "at most 0.8"),
        (runs, 2, "idle_rss_mb", "at most 125"),
    ):
        values = [run[at] for run in measured]
        report.add(name, statistics.median(values), wanted, spread(values))
    report.add("idle_wakeups_per_s", statistics.median(woken), "at most 0.2", spread(woken))
    report.write(path)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        sys.exit(child(sys.argv[2]))
    if sys.argv[1:2] == ["--idle"]:
        sys.exit(idle_child(sys.argv[2]))
    main()
