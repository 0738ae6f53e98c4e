"""Memory over many short turns in the whole program: does it stay?

The window offscreen, SmolLM2, 25 chats of 20 turns of 8 tokens each. Resident memory is read after
each chat; what is kept of prefixes has its own budget and is taken off. The figure is the growth
after the first 100 turns. And in a process of its own: what stays of a model that is unloaded, over
and over.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import psutil

from headstart.assembly import App
from headstart.core.settings.schema import SamplingChoice
from headstart.home import Home
from headstart.hub.library import starter_model
from headstart.launch import Start, run
from tests.benchmarks.answering import starter_key, stats_of
from tests.benchmarks.report import Report, json_path
from tests.support.prefix_engine import PrefixEngine, user

TURNS, CHAT, WARM_UP = 500, 20, 100
_QUESTIONS = ("What is a river?", "Say it shorter.", "And a lake?", "Name three of them.", "Why?")
# a model is unloaded so often; the first ones fill caches
CYCLES, CYCLES_BEFORE = 14, 4


def unload_again_and_again(folder: Path) -> int:
    """Prints how much memory is resident before the first model, and after each cycle."""
    starter = starter_model()
    assert starter is not None
    engine = PrefixEngine(folder, starter)
    chat = engine.chat("chat")
    found = [resident_mb()]
    for _ in range(CYCLES):
        engine.ask(chat, [user("Tell me a story about a lighthouse keeper.")], 24)
        engine.generator.unload()
        gc.collect()
        found.append(resident_mb())
    print(json.dumps(found), flush=True)
    engine.stop()
    return 0


def _unloading(report: Report) -> None:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "tests.benchmarks.memory", "--unload", folder]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    before, *cycles = json.loads(done.stdout.splitlines()[-1])
    settled = cycles[CYCLES_BEFORE:]
    growth = (settled[-1] - settled[0]) / (len(settled) - 1)
    report.add("unload_growth_mb_per_cycle", growth, "at most 0.3")
    report.add("unloaded_stays_mb", settled[-1] - before, "", "most of it the engine's libraries")


def resident_mb() -> float:
    return float(psutil.Process().memory_info().rss) / 1e6


async def _turns(app: App, report: Report, turns: int) -> None:
    app.services.preferences.update(sampling=SamplingChoice(temperature=0.7, seed=1, max_tokens=8))
    samples: list[tuple[int, float, float]] = []
    for number in range(turns):
        if number % CHAT == 0:
            app.window.new_chat()
        app.controllers.conversation.send(f"{_QUESTIONS[number % len(_QUESTIONS)]} ({number})")
        await app.controllers.settle()
        while app.services.replies.writing_chats():
            await asyncio.sleep(0.005)
        await app.controllers.settle()
        if (number + 1) % CHAT == 0:
            branch = await app.services.branches.whole(app.controllers.open.id)
            stats_of(branch[-1], starter_key())
            use = app.prefix_store.controls.use_of_disk()
            samples.append((number + 1, resident_mb(), use.in_memory / 1e6))
            print(
                f"  {number + 1:>4} turns: {samples[-1][1]:.1f} MB, "
                f"of that prefixes {samples[-1][2]:.1f} MB",
                flush=True,
            )
    start = next(sample for sample in samples if sample[0] >= min(WARM_UP, turns // 2))
    end = samples[-1]
    report.add("memory_growth_mb", end[1] - start[1], "", f"from {start[1]:.0f} MB")
    report.add("kept_prefixes_growth_mb", end[2] - start[2], "within its budget")
    report.add(
        "memory_growth_beyond_prefixes_mb", end[1] - end[2] - start[1] + start[2], "at most 10"
    )


def main() -> None:
    """`--turns N` for a shorter run."""
    turns = TURNS
    if "--turns" in sys.argv:
        at = sys.argv.index("--turns")
        turns = int(sys.argv[at + 1])
        del sys.argv[at : at + 2]
    path = json_path(__doc__ or "")
    report = Report("memory (SmolLM2, the whole program, offscreen)")
    _unloading(report)

    async def script(app: App) -> int:
        await _turns(app, report, turns)
        return 0

    with tempfile.TemporaryDirectory() as folder:
        run(Home(Path(folder) / "home"), Start(script=script))
    report.write(path)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--unload"]:
        sys.exit(unload_again_and_again(Path(sys.argv[2])))
    main()
