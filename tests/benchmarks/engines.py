"""MLX against mlx-lm, and servers through the app against the openai client alone.

`python -m tests.benchmarks.engines --json FILE`; `--only speed,memory,faults,mlx` chooses. Both
sides of a ratio run in turns in one process, with the same weights or the same local server.
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

import psutil

from headstart.assembly import App
from headstart.chat.changes import ReplyEvent
from headstart.core.chats.values import Role
from headstart.core.events import Finished, TextAdded
from headstart.core.models.ref import ModelRef
from headstart.core.requests import GenerationRequest, LoadRequest, PromptMessage
from headstart.core.servers import Connection
from headstart.core.settings.schema import EngineSettings, Sampling, SamplingChoice, Speculation
from headstart.engine.local import LocalGenerator
from headstart.engine.resources import Resources
from headstart.engine.stop import StopSignal
from headstart.home import Home
from headstart.hub.checked import CheckedModelsFile
from headstart.hub.library import open_model, starter_model
from headstart.launch import Start, run
from tests.benchmarks.answering import check_llama_server, stats_of
from tests.benchmarks.peers import bench_cache, peer
from tests.benchmarks.report import Report, paired_ratios, spread
from tests.e2e.test_remote_faults import survive, tell
from tests.models.mlx_folder import make_mlx
from tests.support.driver import stored_chat
from tests.support.prefix_engine import prose
from tests.support.scripted_server import Answer, Asked, ScriptedServer

QUESTION = "Tell me a short story about a lighthouse keeper."
PLAIN_TOKENS, PLAIN_PAIRS = 40, 5
DRAFT_TOKENS = 32
REMOTE_TOKENS, REMOTE_PAIRS = 120, 21
STREAMED = 10_000
FAULTS = 200


# --- MLX -------------------------------------------------------------------------------------


class Ours:
    """The program's own generator over one MLX folder."""

    def __init__(self, folder: Path, place: Path) -> None:
        self._model = open_model(folder)
        self._generator = LocalGenerator(Resources(CheckedModelsFile(place / "checked.json")))
        self._engine = EngineSettings(backend="mlx", context_length=1024)

    def speed(self, tokens: int, wanted: Speculation, draft: ModelRef | None = None) -> float:
        """Tokens per second after the first."""
        events: list[Any] = []
        self._generator.generate(
            GenerationRequest(
                LoadRequest(self._model, self._engine, draft),
                (PromptMessage(Role.USER, QUESTION, "q"),),
                Sampling(temperature=0, max_tokens=tokens),
                speculation=wanted,
            ),
            events.append,
            StopSignal(),
        )
        last = events[-1]
        assert isinstance(last, Finished)
        assert last.stats.tokens_per_second is not None
        return last.stats.tokens_per_second

    def close(self) -> None:
        self._generator.close()


class Theirs:
    """mlx-lm's own `stream_generate` over the same folder."""

    def __init__(self, folder: Path, draft: Path | None = None) -> None:
        from headstart.engine.backends.mlx.library import mlx_utils

        self._model, self._tokenizer = mlx_utils.load(str(folder))[:2]
        self._draft = mlx_utils.load(str(draft))[0] if draft is not None else None
        self._prompt = self._tokenizer.apply_chat_template(
            [{"role": "user", "content": QUESTION}], add_generation_prompt=True
        )

    def speed(self, tokens: int, depth: int = 0) -> float:
        from mlx_lm import stream_generate

        more = {"draft_model": self._draft, "num_draft_tokens": depth} if depth else {}
        first, count = 0.0, 0
        for _ in stream_generate(
            self._model, self._tokenizer, self._prompt, max_tokens=tokens, **more
        ):
            count += 1
            if count == 1:
                first = time.perf_counter()
        return (count - 1) / (time.perf_counter() - first)


def measure_mlx(report: Report, place: Path) -> None:
    starter = starter_model()
    assert starter is not None
    small, large = bench_cache() / "smollm2-mlx-stored", bench_cache() / "smollm2-mlx-8bit"
    if not (small / "tokenizer_config.json").exists():
        make_mlx(starter.path, small)
    if not (large / "tokenizer_config.json").exists():
        make_mlx(starter.path, large, bits=8)
    off = Speculation(enabled=False)
    ours, theirs = Ours(small, place), Theirs(small)
    ours.speed(4, off)
    theirs.speed(4)
    ratios = paired_ratios(
        lambda: ours.speed(PLAIN_TOKENS, off), lambda: theirs.speed(PLAIN_TOKENS), PLAIN_PAIRS
    )
    report.add("mlx_plain_vs_peer", statistics.median(ratios), ">= 0.95", spread(ratios))
    ours.close()
    ours, theirs = Ours(large, place), Theirs(large, small)
    draft = open_model(small)
    depths = {depth: theirs.speed(DRAFT_TOKENS, depth) for depth in (1, 2, 3, 4)}
    best = max(depths, key=lambda depth: depths[depth])
    wanted = Speculation(draft=draft.key)
    ours.speed(DRAFT_TOKENS, wanted, draft)
    ratios = paired_ratios(
        lambda: ours.speed(DRAFT_TOKENS, wanted, draft),
        lambda: theirs.speed(DRAFT_TOKENS, best),
        3,
    )
    told = ", ".join(f"{depth}: {speed:.2f}" for depth, speed in depths.items())
    report.add(
        "mlx_draft_vs_peer",
        statistics.median(ratios),
        ">= 1.0",
        f"{spread(ratios)} peer's tok/s by depth {told}",
    )
    ratios = paired_ratios(
        lambda: ours.speed(DRAFT_TOKENS, wanted, draft), lambda: ours.speed(DRAFT_TOKENS, off), 3
    )
    report.add("mlx_draft_vs_own_plain", statistics.median(ratios), ">= 0.99", spread(ratios))
    ours.close()


# --- servers ---------------------------------------------------------------------------------


@asynccontextmanager
async def llama_server(place: Path) -> AsyncIterator[str]:
    """llama.cpp's server with the starter model; one thread, the other core is the app's."""
    starter = starter_model()
    assert starter is not None
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = (place / "llama-server.log").open("wb")
    process = subprocess.Popen(
        [
            *(str(peer("llama-server")), "-m", str(starter.path), "-c", "4096", "-np", "1"),
            *("--host", "127.0.0.1", "--port", str(port), "-t", "1"),
        ],
        stdout=log,
        stderr=log,
    )
    try:
        await asyncio.to_thread(_wait_for, f"http://127.0.0.1:{port}/health")
        await asyncio.to_thread(check_llama_server, port, starter.path)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait()
        log.close()


def _wait_for(url: str) -> None:
    for _ in range(600):
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            time.sleep(0.1)
    raise SystemExit("the server did not start")


def _prompt(number: int) -> str:
    """500 tokens that no prompt before began with."""
    return f"Number {number * 7919}. {prose(440, number)} Go on with this list of words:"


async def through_app(app: App, number: int, key: str) -> tuple[float, float]:
    """Seconds to the first word, and tokens per second after it, as the window gets them; `key`:
    the model that answers."""
    stamps: list[float] = []

    def listen(change: ReplyEvent) -> None:
        if isinstance(change.event, TextAdded):
            stamps.append(time.perf_counter())

    stop = app.services.broadcast.on(ReplyEvent, listen)
    app.window.new_chat()
    app.window.composer.set_text(_prompt(number))
    # nobody clicks in the moment in which the last letter is typed
    await asyncio.sleep(0.3)
    began = time.perf_counter()
    app.window.composer.button.click()
    while not app.controllers.reply.writing:
        await asyncio.sleep(0.001)
    chat_id = stored_chat(app)
    assert chat_id is not None
    while app.controllers.reply.writing:
        await asyncio.sleep(0.01)
    stop()
    await app.controllers.settle()
    stats = stats_of((await app.services.branches.whole(chat_id))[-1], key)
    # from the first to the last piece of text that reached the window
    return stamps[0] - began, (stats.generated_tokens - 1) / (stamps[-1] - stamps[0])


async def client_alone(url: str, number: int) -> tuple[float, float]:
    """The same with nothing but the openai client."""
    from openai import AsyncOpenAI

    async with AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:
        # a connection is open when the app asks, too
        await client.models.list()
        began = time.perf_counter()
        stream = await client.chat.completions.create(
            model="m",
            messages=[{"role": "user", "content": _prompt(number)}],
            stream=True,
            temperature=0,
            max_tokens=REMOTE_TOKENS,
            stream_options={"include_usage": True},
        )
        first = last = 0.0
        count = 0
        async for chunk in stream:
            if chunk.choices and chunk.choices[0].delta.content:
                last = time.perf_counter()
                first = first or last
            if chunk.usage is not None:
                count = chunk.usage.completion_tokens
    return first - began, (count - 1) / (last - first)


async def measure_speed(app: App, report: Report, place: Path) -> None:
    app.services.preferences.update(
        sampling=SamplingChoice(temperature=0.0, max_tokens=REMOTE_TOKENS)
    )
    async with llama_server(place) as url:
        key = await _connect(app, url)
        firsts, speeds = [], []
        for pair in range(-1, REMOTE_PAIRS):
            sides: dict[str, tuple[float, float]] = {}
            for side in ("app", "client") if pair % 2 else ("client", "app"):
                number = 1000 + 2 * pair + (side == "app")
                sides[side] = (
                    await through_app(app, number, key)
                    if side == "app"
                    else await asyncio.to_thread(_alone, url, number)
                )
                await asyncio.sleep(0.3)
            if pair >= 0:
                # both as speeds: more is better
                firsts.append(sides["client"][0] / sides["app"][0])
                speeds.append(sides["app"][1] / sides["client"][1])
    report.add("remote_tok_vs_peer", statistics.median(speeds), ">= 0.97", spread(speeds))
    report.add("remote_ttft_vs_peer", statistics.median(firsts), ">= 0.97", spread(firsts))


def _alone(url: str, number: int) -> tuple[float, float]:
    return asyncio.run(client_alone(url, number))


async def _connect(app: App, url: str) -> str:
    """Have a server's first model answer; returns its key."""
    servers = app.services.servers
    connection, _ = await servers.save(Connection("", "bench", url), None)
    servers.allow(connection.id)
    (offered,) = [item for item in await servers.offers() if item.connection.id == connection.id]
    app.controllers.models.choose(offered.models[0])
    await app.controllers.settle()
    app.window.new_chat()
    await app.controllers.settle()
    return offered.models[0].key


async def measure_memory(app: App, report: Report) -> None:
    """A long stream: what the program has at 2,000 tokens is what it has at 10,000; also while
    it is shown, when every paragraph stands in the window."""
    sizes: dict[int, float] = {}

    async def long(asked: Asked, answer: Answer) -> None:
        await answer.stream()
        for number in range(STREAMED):
            await answer.words([f" {number % 100}" if number % 12 else "\n\nAnd"])
            if number % 20 == 0:
                await asyncio.sleep(0.02)
            if number + 1 in (2_000, STREAMED):
                await asyncio.sleep(1.0)
                gc.collect()
                sizes[number + 1] = psutil.Process().memory_info().rss / 1e6
        await answer.end()

    app.services.preferences.update(sampling=SamplingChoice(max_tokens=0))
    with ScriptedServer(handler=long) as server:
        key = await _connect(app, server.url)
        # the first one warms up: memory that was used once is used again
        for name in ("", "remote_stream_growth_mb", "remote_stream_shown_growth_mb"):
            await app.services.conversation.send(app.services.chat_list.begin().id, "A long one")
            await asyncio.sleep(0.5)
            chat_id = next(iter(app.services.replies.writing_chats()))
            if name == "remote_stream_shown_growth_mb":
                app.controllers.branch.open_chat(chat_id)
            while app.services.replies.reply_in(chat_id) is not None:
                await asyncio.sleep(0.1)
            reply = (await app.services.branches.whole(chat_id))[-1]
            assert stats_of(reply, key).generated_tokens == STREAMED
            if name:
                growth = sizes[STREAMED] - sizes[2_000]
                report.add(name, growth, "near 0", f"(from {sizes[2_000]:.0f} MB)")
    report.add("remote_stream_tokens", STREAMED, "10,000")


async def measure_faults(app: App, report: Report) -> None:
    with ScriptedServer(handler=tell) as server:
        began = time.perf_counter()
        wrong = await survive(app, server.port, range(1000, 1000 + FAULTS))
    for line in wrong:
        print(line)
    survived = FAULTS - len({line.partition(":")[0] for line in wrong})
    took = f"({time.perf_counter() - began:.0f} s)"
    report.add("remote_faults_survived", survived, str(FAULTS), took)


SECTIONS = ("speed", "memory", "faults", "mlx")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here too")
    parser.add_argument("--only", default=",".join(SECTIONS), help=f"of {', '.join(SECTIONS)}")
    options = parser.parse_args()
    chosen = options.only.split(",")
    report = Report("Engines: MLX and servers")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)

        async def script(app: App) -> int:
            app.window.resize(1360, 860)
            if "speed" in chosen:
                await measure_speed(app, report, folder)
            if "memory" in chosen:
                await measure_memory(app, report)
            if "faults" in chosen:
                await measure_faults(app, report)
            return 0

        code = run(Home(folder / "home"), Start(script=script)) if set(chosen) - {"mlx"} else 0
        if "mlx" in chosen:
            measure_mlx(report, folder)
    report.write(options.json)
    return code


if __name__ == "__main__":
    sys.exit(main())
