"""The server for other programs: an agent's turns, restarts, cancels, and the window beside it.

`python -m tests.benchmarks.server --json FILE`, `--only` with any of cost, window, agent, cancel,
restart, turns, idle, bodies.
The peer is llama.cpp's server of the same version as it comes, with the same model file, threads
and context, its prompt cache on.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import keyring
import psutil

from headstart.assembly import App
from headstart.core.settings.schema import EngineSettings, SamplingChoice, changed
from tests.benchmarks.answering import served_name, starter_key, stats_of
from tests.benchmarks.prefix import starter, wide
from tests.benchmarks.report import Report, spread
from tests.benchmarks.server_agents import (
    CONTEXT,
    Answer,
    ask,
    hang_up,
    ours,
    question,
    slot,
    system,
    theirs,
    tools,
)
from tests.benchmarks.server_limits import bodies, idle
from tests.benchmarks.starting import run_watched
from tests.conftest import until
from tests.support.keyrings import MemoryKeyring

# words of a system text that make 20,000 tokens with the tools below
LONG, TOOLS = 11_000, 20
TURNS = 30
STORY = "Tell me a long story about a river and a town."
_GIB = 1 << 30


# parts of a section that run; all of them if this is empty
_parts: list[str] = []


def only(part: str) -> bool:
    return not _parts or part in _parts


def folder() -> tempfile.TemporaryDirectory[str]:
    """A home on a disk, not in memory."""
    return tempfile.TemporaryDirectory(dir=Path.home() / ".cache")


# --- an agent --------------------------------------------------------------------------------


def agent(report: Report) -> None:
    """The second turn of a session of 12,000 tokens with tools: tokens that were there before."""
    with folder() as place, ours(starter(), Path(place)) as port:
        again = []
        for session in range(3):
            messages: list[Any] = [system(5_000, session), question(session)]
            first = ask(port, messages, 24, tools=tools(TOOLS))
            messages += [{"role": "assistant", "content": first.text}, question(session + 50)]
            second = ask(port, messages, 24, tools=tools(TOOLS))
            new = ask(port, [messages[-1]], 1)
            before = first.processed + first.reused + first.written
            again.append(max(0, second.processed - (new.processed + new.reused)))
            print(f"agent: {before} tokens before, {second.processed} processed", flush=True)
    report.add("agent_second_turn_recomputed", max(again), "at most 256", spread(again))


def restart(report: Report) -> None:
    """First word after a restart in a session of 20,000 tokens, against llama-server with its slot
    saved and restored by hand."""
    for name, model, wanted, runs in (
        ("smollm2", starter(), "at most 0.3", 5),
        ("wide", wide(), "at most 1.0", 3),
    ):
        if not only(name):
            continue
        with folder() as place:
            home = Path(place)
            messages: list[Any] = [system(LONG), question(1)]
            more = {"tools": tools(TOOLS)}
            with ours(model, home / "ours") as port:
                first = ask(port, messages, 8, **more)
            print(f"{name}: {first.processed} tokens in {first.first:.1f} s", flush=True)
            with theirs(model, home / "peer") as port:
                peer_first = ask(port, messages, 8, **more)
                slot(port, "save")
            messages += [{"role": "assistant", "content": first.text}, question(2, 10)]
            peer_messages = [*messages]
            peer_messages[2] = {"role": "assistant", "content": peer_first.text}
            seconds, ratios = [], []
            for number in range(runs):
                again = [*messages[:-1], question(3 + number, 10)]
                with ours(model, home / "ours") as port:
                    found = ask(port, again, 4, **more)
                with theirs(model, home / "peer") as port:
                    restoring = slot(port, "restore")
                    peer = ask(port, [*peer_messages[:-1], again[-1]], 4, **more)
                seconds.append(found.first)
                ratios.append((restoring + peer.first) / found.first)
                print(
                    f"{name}: ours {found.first:.3f} s ({found.processed} processed), peer "
                    f"{restoring:.3f} + {peer.first:.3f} s ({peer.processed} processed)",
                    flush=True,
                )
        report.add(
            f"agent_restart_ttft_s_{name}", statistics.median(seconds), wanted, spread(seconds)
        )
        report.add(
            f"agent_restart_vs_llama_server_{name}",
            statistics.median(ratios), "at least 2", spread(ratios),
        )  # fmt: skip


def turns(report: Report) -> None:
    """30 turns, both cold: total time of llama-server over ours."""
    for name, model, draft, wanted in (
        ("plain", starter(), "", "at least 1.0"),
        ("draft", wide(), str(starter()), "at least 1.3"),
    ):
        if not only(name):
            continue
        words = 2_500 if name == "plain" else 1_200
        with folder() as place:
            home = Path(place)
            with ours(model, home / "ours", draft) as port:
                own = _talk(port, words)
            with theirs(model, home / "peer") as port:
                peer = _talk(port, words)
        print(f"turns {name}: ours {own:.1f} s, peer {peer:.1f} s", flush=True)
        report.add(f"agent_30_turns_vs_llama_server_{name}", peer / own, wanted)


def _talk(port: int, words: int) -> float:
    messages: list[Any] = [system(words)]
    began = time.perf_counter()
    for number in range(TURNS):
        messages.append(question(number, 40))
        found: Answer = ask(port, messages, 40)
        messages.append({"role": "assistant", "content": found.text or "."})
    return time.perf_counter() - began


def cancel(report: Report) -> None:
    """A program that gives up during its prompt and asks again: the share that is processed again
    of what was processed before it gave up."""
    shares = []
    with folder() as place, ours(starter(), Path(place)) as port:
        for number in range(3):
            messages: list[Any] = [system(6_000, 70 + number), question(number)]
            hang_up(port, messages, 12.0)
            again = ask(port, messages, 4)
            total = again.processed + again.reused
            whole = _slices(again, total)
            shares.append(whole / total)
            print(f"cancel: {again.reused} of {total} reused", flush=True)
    report.add("cancelled_retry_recomputed_share", max(shares), "at most 0.06", spread(shares))


def _slices(again: Answer, total: int) -> float:
    """Tokens that may have been processed twice: at most the slice that was under way, 256."""
    return min(256, total - again.reused) if again.reused else total


# --- the window beside it --------------------------------------------------------------------


def beside(report: Report) -> None:
    """Figures of one program with a window and a server."""
    with folder() as place:
        done = subprocess.run(
            [sys.executable, "-m", "tests.benchmarks.server", "--child", str(Path(place) / "home")],
            env={**os.environ, "QT_QPA_PLATFORM": "offscreen"},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    extra = found["extra"]
    report.add(
        "window_during_agent_extra_s", statistics.median(extra), "at most 0.15", spread(extra)
    )
    report.add("paused_text_equal", found["equal"], "1.0", f"{found['pauses']} pauses")
    speeds = found["speeds"]
    report.add("http_vs_window_speed", statistics.median(speeds), "at least 0.99", spread(speeds))
    added = found["added_ms"]
    report.add("added_ms_per_token", statistics.median(added), "at most 1", spread(added))
    free = found["free_ms"]
    report.add("disconnect_free_ms", max(free), "at most 50", spread(free))
    report.add("idle_rss_mb_added", found["rss_mb"], "at most 10")


def child(home: str) -> int:
    keyring.set_keyring(MemoryKeyring())

    async def measure(app: App) -> int:
        await app.controllers.settle()
        print(json.dumps(await _measure(app)), flush=True)
        return 0

    return run_watched(Path(home), lambda _app: None, measure)


async def _measure(app: App) -> dict[str, Any]:
    from tests.support.program import opened

    process = psutil.Process()
    gc.collect()
    before = process.memory_info().rss
    port, key = await opened(app)
    await asyncio.sleep(1.0)
    rss = (process.memory_info().rss - before) / 1e6
    from tests.benchmarks import server_agents

    server_agents.KEY = key
    server_agents.meant[port] = served_name(starter())
    app.services.preferences.update(
        engine=EngineSettings(context_length=CONTEXT, exact=True),
        sampling=SamplingChoice(temperature=0.0, max_tokens=12),
    )
    found: dict[str, Any] = {"rss_mb": rss}
    found |= await _pauses(app, port)
    found |= await _speed(app, port)
    found["free_ms"] = await _hang_ups(app, port)
    return found


async def _window(app: App, text: str) -> tuple[float, float | None]:
    """Ask in the window; the seconds to the first token, and the speed."""
    from tests.support.driver import begin, reply_done

    await begin(app, text)
    stats = stats_of(await reply_done(app), starter_key())
    assert stats.first_token_seconds is not None
    return stats.first_token_seconds, stats.tokens_per_second


async def _pauses(app: App, port: int) -> dict[str, Any]:
    """The window's wait while an agent writes, over its wait alone; the agent's words."""
    messages: list[Any] = [{"role": "user", "content": STORY}]
    whole = await asyncio.to_thread(ask, port, messages, 240)
    assert whole.written > 150, whole.text
    alone, during, equal, pauses = [], [], [], 0
    for number in range(5):
        await _window(app, f"Warm up {number}.")
        alone.append((await _window(app, f"Question {number}."))[0])
        log = app.services.serving.log
        before = log.lines[0].number
        writing = asyncio.ensure_future(asyncio.to_thread(ask, port, messages, 240))
        await until(partial(_begun, app, before), 10)
        await until(partial(_has_written, app, 20), 30)
        during.append((await _window(app, f"Another {number}."))[0])
        pauses += 1
        equal.append((await writing).text == whole.text)
    extra = [one - statistics.median(alone) for one in during]
    return {"extra": extra, "equal": sum(equal) / len(equal), "pauses": pauses}


def _has_written(app: App, tokens: int) -> bool:
    return app.services.serving.log.lines[0].written > tokens


def _begun(app: App, before: int) -> bool:
    return app.services.serving.log.lines[0].number > before


async def _speed(app: App, port: int) -> dict[str, Any]:
    """The same question by HTTP and in the window, in turns, each in a chat of its own. Without
    drafts, which would know the second reply from the first."""
    speculation = changed(app.services.preferences.current.speculation, enabled=False)
    app.services.preferences.update(
        sampling=SamplingChoice(temperature=0.0, max_tokens=200), speculation=speculation
    )
    ratios, added = [], []
    for number in range(9):
        text = f"Tell me a story about the number {number}."
        app.controllers.branch.new_chat()
        await app.controllers.settle()
        _, own = await _window(app, text)
        said = [{"role": "user", "content": text}]
        found = await asyncio.to_thread(ask, port, said, 200)
        assert own is not None
        outside = (found.written - 1) / (found.seconds - found.first)
        ratios.append(outside / own)
        # what the way to the program adds to what the engine takes
        line = app.services.serving.log.lines[0]
        assert line.speed is not None
        added.append(1000 * (1 / outside - 1 / line.speed))
    return {"speeds": ratios, "added_ms": added}


async def _hang_ups(app: App, port: int) -> list[float]:
    """Milliseconds by which another program's first word comes later after a program hung up."""

    async def first(number: int) -> float:
        found = await asyncio.to_thread(ask, port, [question(number, 5)], 1)
        return found.first

    alone = statistics.median([await first(900 + number) for number in range(9)])
    waits = []
    for number in range(20):
        messages = [{"role": "user", "content": STORY}]
        await asyncio.to_thread(hang_up, port, messages, 0.5, 4_000)
        waits.append(max(0.0, 1000 * (await first(number) - alone)))
        assert app.services.serving.log.lines[1].state == "gone"
    return waits


# --- costs -----------------------------------------------------------------------------------


def cost(report: Report) -> None:
    """Modules of the server that a start with the server off imports."""
    code = (
        "import sys; from headstart.launch import run; "
        "print(sum(n.split('.')[0] in ('starlette', 'uvicorn', 'h11') for n in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    report.add("off_start_modules", int(done.stdout), "0")
    times = []
    for _ in range(9):
        code = (
            "import time; import headstart.chat.services; began = time.perf_counter(); "
            "import headstart.server.thread; print(time.perf_counter() - began)"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        times.append(float(done.stdout) * 1000)
    report.add("off_start_cost_ms", statistics.median(times), "0", spread(times))


SECTIONS: dict[str, Callable[[Report], None]] = {
    "cost": cost,
    "idle": idle,
    "bodies": bodies,
    "window": beside,
    "agent": agent,
    "cancel": cancel,
    "restart": restart,
    "turns": turns,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--only", default=",".join(SECTIONS))
    parser.add_argument("--part", action="append", default=[], help="smollm2, wide, plain, draft")
    options = parser.parse_args()
    report = Report("server (starter model and the wide one)")
    if shutil.disk_usage(Path.home()).free < 20 * _GIB:
        print("less than 20 GiB are free: prefixes may not be kept")
    _parts.extend(options.part)
    for name in options.only.split(","):
        SECTIONS[name](report)
    report.write(options.json)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        sys.exit(child(sys.argv[2]))
    main()
