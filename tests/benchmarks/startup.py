"""How fast the window is there, and how much memory it takes before any model is loaded.

Each run is a fresh process with the disk cache warm. It counts as interactive when a key typed
into the composer has been handled and painted, measured from the start of the process.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks.report import Report, json_path, spread

RUNS = 9


def child(home: str) -> int:
    from headstart.assembly import App
    from headstart.home import Home
    from headstart.launch import run

    async def measure(app: App) -> int:
        import psutil
        from PySide6.QtTest import QTest

        # typing loads the model ahead; the figures are about the time before that
        app.window.composer.typing_began.disconnect()
        QTest.keyClicks(app.window.composer.edit, "a")
        app.window.composer.edit.repaint()
        ready = time.monotonic()
        typed = app.window.composer.text() == "a"
        await asyncio.sleep(2)
        memory = psutil.Process().memory_info().rss
        print(json.dumps({"ready": ready, "typed": typed, "rss": memory}), flush=True)
        return 0

    return run(Home(Path(home)), script=measure)


def measure_once(home: Path) -> tuple[float, float]:
    """Seconds from the start of the process to an answering window, and MB of memory."""
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.startup", "--child", str(home)],
        env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        check=True,
    )
    result = json.loads(done.stdout.splitlines()[-1])
    assert result["typed"]
    return result["ready"] - started, result["rss"] / 1e6


def main() -> None:
    path = json_path(__doc__ or "")
    report = Report("startup (offscreen, warm disk cache, no model loaded)")
    with tempfile.TemporaryDirectory() as place:
        measure_once(Path(place))  # fills caches and makes the database
        runs = [measure_once(Path(place)) for _ in range(RUNS)]
    seconds = [run[0] for run in runs]
    memory = [run[1] for run in runs]
    report.add("window_interactive_s", statistics.median(seconds), "at most 1.0", spread(seconds))
    report.add("idle_rss_mb", statistics.median(memory), "at most 150", spread(memory))
    report.write(path)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        sys.exit(child(sys.argv[2]))
    main()
