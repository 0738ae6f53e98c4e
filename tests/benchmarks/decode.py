"""The engine against llama.cpp's own benchmark, and what a second turn, a stop and storage cost.

Plain decoding is compared in interleaved pairs with llama-bench: same file, same threads, flash
attention on, 128 greedy tokens. `_vs_stock`: llama-bench with llama.cpp's own libraries, which is
what somebody else would use, also with one thread. `_vs_peer`: llama-bench with the libraries that
the engine has, so that what is compared is everything but the kernels. Everything runs without a
window.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from headstart.chat.preferences import Preferences
from headstart.chat.services import make_services
from headstart.core.chats.values import Role, TurnStats
from headstart.core.events import Failed, Finished, GenerationEvent, Prefilling, TextAdded
from headstart.core.models.ref import ModelRef
from headstart.core.requests import GenerationRequest, LoadRequest, PromptMessage
from headstart.core.settings.schema import (
    EngineSettings,
    Sampling,
    SamplingChoice,
    Settings,
    Speculation,
)
from headstart.engine.local import LocalGenerator
from headstart.engine.prompt import PromptEncoder
from headstart.engine.resources import Resources
from headstart.engine.runner import Runner
from headstart.engine.stop import StopSignal
from headstart.engine.template import ChatTemplate
from headstart.hub.checked import CheckedModelsFile
from headstart.hub.library import starter_model
from headstart.storage.adapters.keychain import Keychain
from headstart.storage.adapters.settings_file import SettingsFile
from headstart.storage.worker import Storage
from tests.benchmarks.answering import stats_of
from tests.benchmarks.gemma import gemma
from tests.benchmarks.peers import bench_cache, peer, stock
from tests.benchmarks.report import Report, paired_ratios, spread
from tests.models.requantized import requantized
from tests.models.wide import make_wide

# llama.cpp's numbers of file types
MIXES = {"q4_k_m": 15, "q5_k_m": 17, "q6_k": 18}
# a run of the small model is over in half a second, and single ones scatter by a tenth
PAIRS_SMALL, PAIRS_WIDE = 31, 9
RUNS = 5
TOKENS = 128
STREAMED = 300
# single tokens; the first that a model goes on from for long enough is taken
BEGINNINGS = ("The", "A", "In", "We", "How", "def")
STORY = "Tell a very long story about a dog, a cat and a river, at least 1000 words."
WORDS = ["river", "stone", "window", "garden", "winter", "letter", "market", "silver", "bridge"]
WORDS += ["candle", "forest", "island", "mirror", "orange", "pepper", "rabbit", "shadow", "ticket"]


def generator() -> LocalGenerator:
    return LocalGenerator(Resources(CheckedModelsFile(bench_cache() / "checked-models.json")))


def request(model: ModelRef, *texts: str, tokens: int) -> GenerationRequest:
    """A chat of alternating user and assistant texts, decoded greedily and one by one: what
    repeats in a text would otherwise be guessed, which no peer here does."""
    roles = (Role.USER, Role.ASSISTANT)
    messages = tuple(
        PromptMessage(roles[index % 2], text, str(index)) for index, text in enumerate(texts)
    )
    return GenerationRequest(
        LoadRequest(model),
        messages,
        Sampling(temperature=0, max_tokens=tokens),
        speculation=Speculation(enabled=False),
    )


def turn(engine: LocalGenerator, wanted: GenerationRequest) -> tuple[TurnStats, str]:
    """Run one turn on this thread; its figures and its text."""
    stats: list[TurnStats] = []
    text: list[str] = []

    def emit(event: GenerationEvent) -> None:
        if isinstance(event, Finished):
            stats.append(event.stats)
        elif isinstance(event, TextAdded):
            text.extend(piece.text for piece in event.pieces)

    engine.generate(wanted, emit, StopSignal())
    return stats[0], "".join(text)


def llama_bench_speed(program: Path, model: ModelRef, threads: int) -> float:
    """Tokens per second of llama-bench: nothing read, 128 generated, once after a warm-up."""
    command = [str(program), "-m", str(model.path), "-p", "0", "-n", str(TOKENS)]
    command += ["-r", "1", "-t", str(threads), "-fa", "1", "-o", "json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(json.loads(done.stdout)[0]["avg_ts"])


def against(program: Path, model: ModelRef, pairs: int, threads: int) -> list[float]:
    """Our speed over llama-bench's, pair by pair, both with so many threads."""
    engine = generator()
    settings = EngineSettings(threads=threads)
    # a template that adds nothing: one token is read, and the context is as empty as the peer's
    bare = ChatTemplate("{{ messages[0].content }}")
    engine.preload(LoadRequest(model, settings), lambda _event: None, StopSignal())
    loaded = engine.loaded
    encoder = PromptEncoder(loaded.decoder, bare)
    loaded.template, loaded.parts = bare, msgspec.structs.replace(loaded.parts, encoder=encoder)
    for beginning in BEGINNINGS:
        wanted = request(model, beginning, tokens=TOKENS + 1)
        wanted = msgspec.structs.replace(wanted, load=LoadRequest(model, settings))
        stats, _ = turn(engine, wanted)
        assert stats.prompt_tokens in (1, 2), stats.prompt_tokens
        if stats.generated_tokens == TOKENS + 1:
            break
    warm_up = msgspec.structs.replace(wanted, sampling=Sampling(temperature=0, max_tokens=16))

    def ours() -> float:
        # a few tokens to warm up, as the peer does after it has loaded the model
        turn(engine, warm_up)
        stats, _ = turn(engine, wanted)
        assert stats.generated_tokens == TOKENS + 1
        return stats.tokens_per_second or 0.0

    ratios = paired_ratios(ours, lambda: llama_bench_speed(program, model, threads), pairs)
    engine.close()
    return ratios


def second_turn(model: ModelRef) -> list[float]:
    """Time to first token of a second turn over that of reading the 1,000-token chat."""
    engine = generator()
    ratios = []
    for number in range(RUNS + 1):
        long = " ".join(WORDS[(index * (number + 3)) % len(WORDS)] for index in range(900))
        first, reply = turn(engine, request(model, f"{number}: {long}", tokens=24))
        assert 900 <= first.prompt_tokens <= 1200
        short = "Which of these words would you use for a poem about winter?"
        assert len(short.split()) == 12
        again = request(model, f"{number}: {long}", reply, short, tokens=4)
        second, _ = turn(engine, again)
        assert first.first_token_seconds is not None
        assert second.first_token_seconds is not None
        ratios.append(second.first_token_seconds / first.first_token_seconds)
    engine.close()
    return ratios[1:]


async def cancel_times(model: ModelRef) -> tuple[list[float], list[float]]:
    """Milliseconds from Stop to the end event: while reading 4,000 tokens, and while writing."""
    runner = Runner(generator)
    reading, writing = [], []
    for number in range(RUNS):
        long = " ".join(WORDS[(index * 7 + number) % len(WORDS)] for index in range(3900))
        elapsed = await _stop(runner, request(model, f"{number} {long}", tokens=50), _is_reading)
        reading.append(elapsed)
        elapsed = await _stop(runner, request(model, STORY, tokens=2000), _is_writing)
        writing.append(elapsed)
    await asyncio.to_thread(runner.close)
    return reading, writing


def _is_reading(event: GenerationEvent) -> bool:
    return isinstance(event, Prefilling)


def _is_writing(event: GenerationEvent) -> bool:
    return isinstance(event, TextAdded) and event.tokens > 10


async def _stop(
    runner: Runner, wanted: GenerationRequest, when: Callable[[GenerationEvent], bool]
) -> float:
    """Stop a moment after `when`, in the middle of a forward; milliseconds to the end event."""
    stream = runner.stream(wanted)
    stopped_at = 0.0
    async for event in stream:
        assert not isinstance(event, Failed), event
        if not stopped_at and when(event):
            await asyncio.sleep(0.15)
            stopped_at = time.perf_counter()
            stream.cancel()
    assert stopped_at
    return (time.perf_counter() - stopped_at) * 1000


def written_bytes() -> int:
    """What this process wrote so far, files and pipes."""
    lines = Path("/proc/self/io").read_text(encoding="ascii").splitlines()
    return int(next(line for line in lines if line.startswith("wchar")).split()[1])


async def journal_bytes(model: ModelRef) -> list[float]:
    """Bytes that storing a reply of 300 tokens writes, over the same without storage, in kB."""
    results = []
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        runner = Runner(generator)
        sampling = SamplingChoice(temperature=0, max_tokens=STREAMED)
        preferences = Preferences(
            Settings(model=model.key, sampling=sampling), SettingsFile(home / "settings.json")
        )
        storage = Storage(home / "a.db", home / "backups")
        await storage.ready()
        services = make_services(storage, runner, preferences, Keychain())
        for _ in range(RUNS):
            before = written_bytes()
            async for _event in runner.stream(request(model, STORY, tokens=STREAMED)):
                pass
            bare = written_bytes() - before
            before = written_bytes()
            chat_id = services.chat_list.begin().id
            await services.conversation.send(chat_id, STORY)
            while services.replies.reply_in(chat_id) is not None:
                await asyncio.sleep(0.05)
            stats_of((await services.branches.whole(chat_id))[-1], model.key)
            results.append((written_bytes() - before - bare) / 1000)
        await services.ending.close(services)
        storage.close()
        preferences.close()
    return results


def opened(path: Path) -> ModelRef:
    return ModelRef(path, path.stem, path.stat().st_size)


def wide_model(starter: ModelRef) -> ModelRef:
    path = bench_cache() / "wide-1.2b-q8_0.gguf"
    if not path.exists():
        print("making the wide model (1.25 GB, half a minute)", flush=True)
        make_wide(starter.path, path)
    return opened(path)


def mixed(name: str, wide: ModelRef) -> ModelRef:
    """The wide model in a mix of types that people download."""
    return opened(requantized(wide.path, bench_cache() / f"wide-1.2b-{name}.gguf", MIXES[name]))


def speeds(report: Report, starter: ModelRef, wide: ModelRef) -> None:
    """Plain decoding against llama-bench: stock's libraries, with as many threads as the engine
    takes and with one, and ours."""
    from headstart.engine.backends.cores import automatic_threads

    theirs, ours, threads = stock("llama-bench"), peer("llama-bench"), automatic_threads()
    real = opened(gemma(bench_cache()))
    models = (
        ("smollm2", starter, PAIRS_SMALL),
        ("wide", wide, PAIRS_WIDE),
        ("gemma_q4_k_m", real, PAIRS_SMALL),
        *((f"wide_{name}", mixed(name, wide), PAIRS_WIDE) for name in MIXES),
    )
    for name, model, pairs in models:
        wanted = "at least 0.99" if model is real else "at least 1.0"
        for key, count in ((f"{name}_vs_stock", threads), (f"{name}_vs_stock_one_thread", 1)):
            print(f"{key}: {pairs} pairs", flush=True)
            ratios = against(theirs, model, pairs, count)
            report.add(key, statistics.median(ratios), wanted, spread(ratios))
    for name, model, pairs in models[:2]:
        print(f"{name}_vs_peer: {pairs} pairs", flush=True)
        ratios = against(ours, model, pairs, threads)
        report.add(f"{name}_vs_peer", statistics.median(ratios), "at least 0.97", spread(ratios))


def around(report: Report, starter: ModelRef, wide: ModelRef) -> None:
    """A second turn, stops and storage."""
    ratios = second_turn(starter)
    report.add("second_turn_ratio", statistics.median(ratios), "at most 0.1", spread(ratios))
    worst, notes = 0.0, []
    for model in (starter, wide):
        reading, writing = asyncio.run(cancel_times(model))
        worst = max(worst, *reading, *writing)
        notes.append(f"{model.name}: reading {max(reading):.0f}, writing {max(writing):.0f}")
    report.add("cancel_ms", worst, "at most 200", f"worst of all; {'; '.join(notes)}")
    kilobytes = asyncio.run(journal_bytes(wide))
    report.add("journal_kb", statistics.median(kilobytes), "at most 500", spread(kilobytes))


def guard(report: Report, starter: ModelRef, wide: ModelRef) -> None:
    """What it costs to look after each forward whether a mapped file was lost."""
    from headstart.engine.backends.llama_cpp.context import LlamaContext
    from headstart.engine.backends.llama_cpp.decoder import LlamaCppDecoder

    decoder = LlamaCppDecoder(starter.path, EngineSettings(context_length=1024, threads=1))
    check = LlamaContext.check_mapped

    def rate() -> float:
        decoder.truncate(0)
        began = time.perf_counter()
        for token in range(100, 200):
            decoder.forward([token], [0])
        return 100 / (time.perf_counter() - began)

    ratios = []
    for _ in range(40):
        LlamaContext.check_mapped = lambda _: None  # type: ignore[method-assign, assignment]
        without = rate()
        LlamaContext.check_mapped = check  # type: ignore[method-assign]
        ratios.append(rate() / without)
    decoder.close()
    report.add("guarded_vs_not", statistics.median(ratios), "at least 0.995", spread(ratios))


SECTIONS = {"speed": speeds, "around": around, "guard": guard}


Section = Callable[[Report, ModelRef, ModelRef], None]


def run_sections(description: str | None, title: str, sections: Mapping[str, Section]) -> None:
    """The sections that the command line names, or all, with the starter and the wide model."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here")
    parser.add_argument("--only", help="some of: " + ",".join(sections))
    options = parser.parse_args()
    starter = starter_model()
    assert starter is not None
    wide = wide_model(starter)
    report = Report(title)
    for name in options.only.split(",") if options.only else sections:
        sections[name](report, starter, wide)
    report.write(options.json)


if __name__ == "__main__":
    run_sections(__doc__, "decode (engine without a window)", SECTIONS)
