"""Prefixes that are never read twice: reopening, bytes on disk, switching, typing, preempting.

Each reopening is a fresh process, with the files in the page cache; comparisons with reading and
with llama-server are interleaved. `--only reopen,bytes,switch,preempt,typing,audiences,peer`
chooses.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from time import perf_counter
from typing import Any

from headstart.core.chats.values import Role
from headstart.core.events import TextAdded
from headstart.core.requests import AheadRequest, LoadRequest, PromptMessage
from headstart.core.retention import Retention
from headstart.engine.runner import Runner
from headstart.engine.stop import NEVER, StopSignal
from headstart.hub.library import starter_model
from tests.benchmarks.peers import bench_cache
from tests.benchmarks.prefix_audiences import audience_figures
from tests.benchmarks.prefix_child import CHAT, Program
from tests.benchmarks.prefix_peer import Server
from tests.benchmarks.prefix_typing import typing_figures
from tests.benchmarks.report import Report, spread
from tests.models.wide import make_wide
from tests.support.prefix_engine import prose

LENGTH = 4000
SECTIONS = ("reopen", "bytes", "switch", "preempt", "typing", "audiences", "peer")
# layers that give random models of these families at least 100 million weights at scale 6
LARGE = {"gemma3": 24, "granitehybrid": 24}


def starter() -> Path:
    model = starter_model()
    assert model is not None
    return model.path


def wide() -> Path:
    path = bench_cache() / "wide-1.2b-q8_0.gguf"
    if not path.exists():
        make_wide(starter(), path)
    return path


def large(family: str) -> Path:
    """A random model of at least 100 million weights, made once."""
    path = bench_cache() / f"large-{family}.gguf"
    if not path.exists():
        command = [sys.executable, "-m", "tests.models.tiny", family, str(starter()), str(path)]
        environment = {**os.environ, "HEADSTART_MODEL_SCALE": "6"}
        subprocess.run([*command, str(LARGE[family])], env=environment, check=True)
    return path


@contextmanager
def folder() -> Iterator[Path]:
    """A home beside the models: on a disk, not in memory."""
    path = Path(tempfile.mkdtemp(dir=bench_cache()))
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)


def messages(*texts: str) -> list[tuple[str, str]]:
    return [(("user", "assistant")[index % 2], text) for index, text in enumerate(texts)]


def prompt(chat: Sequence[tuple[str, str]]) -> list[PromptMessage]:
    return [PromptMessage(Role(role), text, str(index)) for index, (role, text) in enumerate(chat)]


def long_chat(tokens: int, last: str = "What do you make of it?") -> list[tuple[str, str]]:
    """A chat of about so many tokens: four long messages and a short one."""
    each = int((tokens - 60) / 4)
    return messages(*(prose(each, seed) for seed in range(4)), last)


def child(
    home: Path, model: Path, chat: Sequence[tuple[str, str]], *options: str
) -> dict[str, Any]:
    path = home / "chat.json"
    home.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(chat))
    command = [sys.executable, "-m", "tests.benchmarks.prefix_child"]
    done = subprocess.run(
        [*command, str(home), str(model), str(path), *options],
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise SystemExit(done.stderr[-3000:])
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return result


def warm_cache(home: Path) -> None:
    """The files are in the page cache, as after a quick restart."""
    for path in home.rglob("*"):
        if path.is_file():
            path.read_bytes()


# --- reopening -------------------------------------------------------------------------------


def reopen(report: Report, name: str, model: Path, wanted: tuple[float, int], runs: int) -> None:
    with folder() as home:
        chat = long_chat(LENGTH)
        saved = child(home, model, chat, "--save")
        print(f"{name}: {saved['prompt_tokens']} tokens saved, read in {saved['seconds']:.2f} s")
        reopened, read = [], []
        for number in range(runs):
            warm_cache(home)
            result = child(home, model, chat)
            assert result["reused"] == result["prompt_tokens"] - 1
            reopened.append(result["seconds"])
            if number % 3 == 0:
                read.append(child(home, model, chat, "--recompute")["seconds"])
            print(f"  reopened in {reopened[-1]:.3f} s, read in {read[-1]:.2f} s")
    report.add(f"reopen_s_{name}", statistics.median(reopened), f"<= {wanted[0]}", spread(reopened))
    report.add(
        f"reopen_speedup_{name}",
        statistics.median(read) / statistics.median(reopened),
        f">= {wanted[1]}",
        f"(read in {statistics.median(read):.2f} s)",
    )


# --- bytes on disk ---------------------------------------------------------------------------


def _hold(program: Program, tokens: list[int], chat_id: str) -> None:
    """Have the engine hold these tokens, as a turn would."""
    prefiller = program.generator.loaded.prefiller
    assert prefiller is not None
    prefiller.enter(chat_id, Retention.DISK)
    prefiller.reuse(tokens, NEVER)
    prefiller.prefill(tokens, lambda _event: None, NEVER, ahead=True)


def bytes_on_disk(report: Report) -> None:
    for key, shared_tokens in (("branches_bytes_ratio", 3072), ("branches_bytes_unaligned", 3000)):
        with folder() as home:
            program = Program(home, starter())
            program.load()
            shared = [300 + (at * 7919) % 4000 for at in range(shared_tokens)]
            sizes = []
            for branch in range(10):
                own = [500 + (at * 104729 + branch * 31) % 4000 for at in range(256)]
                _hold(program, [*shared, *own], CHAT)
                program.save()
                sizes.append(program.store.controls.use_of_disk().total)
            # ten branches over one branch and what the other nine have of their own
            per_token = sizes[0] / (shared_tokens + 256)
            ideal = per_token * (shared_tokens + 10 * 256)
            wanted = "<= 1.1" if key == "branches_bytes_ratio" else ""
            report.add(key, sizes[-1] / ideal, wanted)
            program.close()
    with folder() as home:
        program = Program(home, starter())
        program.load()
        chat: list[tuple[str, str]] = []
        for turn in range(20):
            chat.append(("user", f"{prose(40, turn)}?"))
            answer = program.ask(prompt(chat), 40)
            chat.append(("assistant", answer[2]))
            program.generator.save_when_idle(StopSignal())
        tokens = len(program.generator.loaded.resident.tokens)
        program.close()
        files = list((home / "prefixes").rglob("*.kv"))
        kept = sum(path.stat().st_size for path in files)
        import sqlite3

        with closing(sqlite3.connect(home / "a.db")) as database:
            (written,) = database.execute("SELECT sum(bytes) FROM prefix_written").fetchone()
        print(f"20 turns: {tokens} tokens, {kept:,} bytes kept, {written:,} written")
        report.add("written_bytes_ratio", written / kept, "<= 1.1")


# --- switching -------------------------------------------------------------------------------


def switch(report: Report, name: str, model: Path, switches: int) -> None:
    with folder() as home:
        program = Program(home, model)
        program.load()
        shared = prose(200)
        branches = [prompt(messages(f"{shared} {prose(1600, seed)}?")) for seed in (1, 2)]
        for branch in branches:
            program.ask(branch, 1)
            program.generator.save_when_idle(StopSignal())
        _, ended, _ = program.ask(branches[0], 24)
        stats = ended.stats
        step = stats.generate_seconds / max(1, stats.generated_tokens - 1)
        program.generator.save_when_idle(StopSignal())
        times = []
        for number in range(switches):
            seconds, ended, _ = program.ask(branches[(number + 1) % 2], 1)
            assert ended.stats.reused_tokens == ended.stats.prompt_tokens - 1
            times.append(seconds)
            program.generator.save_when_idle(StopSignal())
        program.close()
    print(f"{name}: {ended.stats.prompt_tokens} tokens, step {step * 1000:.1f} ms")
    report.add(
        f"branch_switch_steps_{name}",
        statistics.median(times) / step,
        "<= 3",
        f"{spread([time / step for time in times])} {statistics.median(times) * 1000:.1f} ms",
    )


# --- preempting ------------------------------------------------------------------------------


def preempt(report: Report, name: str, model: Path, runs: int) -> None:
    with folder() as home:
        late = asyncio.run(_preempt(Program(home, model), runs))
    for kind, values in late.items():
        values = sorted(1000 * value for value in values)
        report.add(
            f"preempt_ms_{kind}_{name}",
            statistics.median(values),
            "<= 50",
            f"{spread(values)} worst {values[-1]:.1f}",
        )


async def _preempt(program: Program, runs: int) -> dict[str, list[float]]:
    """How much later the first token of a new chat comes, by what was going on."""
    program.make_chat("other")
    runner = Runner(lambda: program.generator)
    background = prompt(long_chat(LENGTH))

    async def first_token(number: int) -> float:
        began = perf_counter()
        at = 0.0
        request = program.request(prompt(messages(f"Number {number}: {prose(12)}")), 2, "other")
        async for event in runner.stream(request):
            if isinstance(event, TextAdded) and not at:
                at = perf_counter() - began
        return at

    async def settle() -> None:
        await asyncio.sleep(0.3)
        await asyncio.to_thread(program.store.flush, 30)

    async for _ in runner.preload(LoadRequest(program.model, program.settings)):
        pass
    await first_token(0)
    late: dict[str, list[float]] = {"reading": [], "saving": []}
    for number in range(1, runs + 1):
        await settle()
        idle = await first_token(number * 10)
        # while another chat is prefilled ahead
        await settle()
        text = background[: 1 + number % 4]
        text = [
            PromptMessage(text[0].role, f"{number} {text[0].text}", "0"),
            *text[1:],
        ]
        ahead = runner.ahead(
            AheadRequest(LoadRequest(program.model, program.settings), tuple(text), CHAT)
        )
        await asyncio.sleep(0.15 + 0.05 * (number % 7))
        busy = await first_token(number * 10 + 1)
        async for _ in ahead:
            pass
        late["reading"].append(busy - idle)
        # while what another chat has read is saved
        await settle()
        idle = await first_token(number * 10 + 2)
        question = prompt(messages(f"{number}. {prose(1200, number)}"))
        async for _ in runner.stream(program.request(question, 2)):
            pass
        await asyncio.sleep(0.01 * (number % 10))
        busy = await first_token(number * 10 + 3)
        late["saving"].append(busy - idle)
    await asyncio.to_thread(runner.close)
    program.store.close(10)
    program.storage.close()
    return late


# --- the peer --------------------------------------------------------------------------------


def against_peer(
    report: Report,
    key: str,
    model: Path,
    wanted: str,
    runs: int,
    edit: str = "",
) -> None:
    """Time to first token of a reopened chat: llama-server's over ours."""
    with folder() as home:
        chat = long_chat(LENGTH)
        saved = child(home / "ours", model, chat, "--save")
        edited = [*chat[:-1], ("user", edit)] if edit else chat
        asked = child(home / "ours", model, edited)["prompt"]
        server = Server(model, home / "peer")
        server.complete(saved["prompt"])
        server.save("slot.bin")
        server.close()
        ratios, ours, theirs = [], [], []
        for _ in range(runs):
            warm_cache(home)
            result = child(home / "ours", model, edited)
            ours.append(result["seconds"])
            server = Server(model, home / "peer")
            restoring = server.restore("slot.bin")
            seconds, _ = server.complete(asked)
            server.close()
            theirs.append(restoring + seconds)
            ratios.append(theirs[-1] / ours[-1])
            print(
                f"{key}: ours {ours[-1]:.3f} s ({result['reused']} of "
                f"{result['prompt_tokens']} reused), peer {restoring:.3f} + {seconds:.3f} s"
            )
    report.add(key, statistics.median(ratios), wanted, spread(ratios))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--only", default=",".join(SECTIONS))
    parser.add_argument("--runs", type=int, default=7)
    options = parser.parse_args()
    chosen = options.only.split(",")
    report = Report("Prefixes that are never read twice")
    runs = options.runs
    sections: dict[str, Callable[[], None]] = {
        "reopen": lambda: _reopen(report, runs),
        "bytes": lambda: bytes_on_disk(report),
        "switch": lambda: _switch(report),
        "preempt": lambda: _preempt_all(report),
        "typing": lambda: typing_figures(report, starter(), wide()),
        "audiences": lambda: audience_figures(report, starter()),
        "peer": lambda: _peers(report, runs),
    }
    for name in SECTIONS:
        if name in chosen:
            sections[name]()
            # a long run that is stopped has said what it knew
            report.write(options.json)


def _reopen(report: Report, runs: int) -> None:
    reopen(report, "smollm2", starter(), (0.15, 100), runs)
    reopen(report, "wide", wide(), (0.4, 200), runs)


def _switch(report: Report) -> None:
    switch(report, "smollm2", starter(), 100)
    switch(report, "wide", wide(), 100)


def _preempt_all(report: Report) -> None:
    preempt(report, "smollm2", starter(), 12)
    preempt(report, "wide", wide(), 8)


def _peers(report: Report, runs: int) -> None:
    against_peer(report, "restore_vs_peer", starter(), ">= 0.9", runs)
    against_peer(report, "restore_vs_peer_window", large("gemma3"), ">= 10", min(3, runs))
    edit = "Now something else: what would you change?"
    against_peer(
        report,
        "restore_vs_peer_hybrid_edited",
        large("granitehybrid"),
        ">= 5",
        min(3, runs),
        edit,
    )


if __name__ == "__main__":
    main()
