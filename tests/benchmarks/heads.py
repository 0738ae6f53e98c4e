"""Drafting from hidden states and from earlier chats: `python -m tests.benchmarks.heads`.

The head is an EAGLE-3 of SmolLM2, trained by `head_training` (once: some minutes), for the wide
1.2 B target, which has the same hidden states. Plain decoding before and after each reply; medians
and quartiles. `--only head,blocks,taps,recycling,history,server`.
"""

from __future__ import annotations

import argparse
import statistics
from pathlib import Path
from time import perf_counter

from headstart.core.models.ref import ModelRef
from headstart.core.settings.schema import EngineSettings, Speculation
from headstart.engine.backends.llama_cpp.decoder import LlamaCppDecoder
from headstart.hub.library import ref, starter_model
from tests.benchmarks.head_training import TAPS, make_head
from tests.benchmarks.peers import bench_cache
from tests.benchmarks.report import Report, spread
from tests.benchmarks.server_draft_runs import server_drafts
from tests.benchmarks.speculation_runs import OFF, Engine, Run
from tests.benchmarks.speculation_texts import EARLIER, PROMPTS
from tests.models.heads import random_block, random_eagle3
from tests.models.wide import make_wide

TOKENS = 160
HEAD = Speculation(draft="head", prompt_lookup=False, earlier_chats=False)
REPEATS = Speculation(earlier_chats=False)
CHATS = Speculation(prompt_lookup=False)
BOTH = Speculation()
# two conversations on one topic: the first is part of what earlier chats have
TOPICS = (
    ("How can I sleep better?", "Give me ten tips for a good night's sleep."),
    ("What should I see in Lisbon?", "Plan three days in Lisbon for me."),
    ("How do I start running?", "I want to run my first five kilometres. How do I train?"),
    ("What is inflation?", "Explain inflation to me with an example."),
    ("How do vaccines work?", "Why do vaccines protect us? Explain it simply."),
    ("What are the pros and cons of working from home?", "Should I work from home? Compare."),
)
TAP_TOKENS, TAP_ROUNDS = 24, 40


def models() -> tuple[ModelRef, ModelRef, ModelRef, ModelRef]:
    """The starter model, the wide one, the trained head and a random one for it."""
    starter = starter_model()
    assert starter is not None
    wide = bench_cache() / "wide-1.2b-q8_0.gguf"
    if not wide.exists():
        make_wide(starter.path, wide)
    head, hostile = bench_cache() / "head-1.gguf", bench_cache() / "head-random-1.gguf"
    if not head.exists():
        make_head(starter.path, {head: 1536})
    if not hostile.exists():
        random_eagle3(wide, hostile, layers=TAPS)
    return starter, ref(wide), ref(head), ref(hostile)


def against_plain(
    engine: Engine, prompt: str, wanted: Speculation, chat_id: str | None = None
) -> tuple[float, Run]:
    """Speed of one reply over that of plain decoding before and after it."""
    before = engine.run(prompt, TOKENS, OFF)
    run = engine.run(prompt, TOKENS, wanted, chat_id=chat_id)
    after = engine.run(prompt, TOKENS, OFF)
    reading = min(before.times[0][1], after.times[0][1])
    plain = (before.speed(before.times[0][1]) + after.speed(after.times[0][1])) / 2
    return run.speed(reading) / plain, run


def a_round(run: Run) -> float:
    """Tokens a round."""
    stats = run.stats.speculation
    assert stats is not None
    return (stats.rounds + stats.draft_accepted + stats.lookup_accepted) / stats.rounds


def heads(report: Report, wide: ModelRef, head: ModelRef, hostile: ModelRef) -> None:
    engine = Engine(wide, head)
    engine.calibrate()
    for prompt in EARLIER:
        engine.run(prompt, TOKENS, HEAD)
    for name, prompts in PROMPTS.items():
        ratios, limits, rounds = [], [], []
        for prompt in prompts[:4]:
            ratio, run = against_plain(engine, prompt, HEAD)
            curve = engine.state.curve(len(run.text) // 4)
            assert curve is not None
            best = max(speed for _, speed in curve.points)
            ratios.append(ratio)
            limits.append(run.speed(run.times[0][1]) / best)
            rounds.append(a_round(run))
            print(f"  {name}: {ratio:.2f}, {rounds[-1]:.2f} tokens a round", flush=True)
        wanted = "1.2 where the acceptance allows it" if name == "code" else ""
        report.add(f"head_vs_plain_{name}", statistics.median(ratios), wanted, spread(ratios))
        report.add(f"head_vs_limit_{name}", statistics.median(limits), "0.9", spread(limits))
        report.add(f"head_tokens_a_round_{name}", statistics.median(rounds), "", spread(rounds))
    pair = engine.state.pair
    assert pair is not None
    report.add("head_acceptance", pair.margins.mean)
    engine.close()
    engine = Engine(wide, hostile)
    ratios = []
    for prompts in PROMPTS.values():
        for prompt in prompts[:2]:
            ratio, _ = against_plain(engine, prompt, HEAD)
            ratios.append(ratio)
    report.add("hostile_head_vs_plain", statistics.median(ratios), "0.97", spread(ratios))
    engine.close()


def blocks(report: Report, wide: ModelRef) -> None:
    """Heads that draft blocks of nonsense: the bound holds for them too."""
    for kind in ("dflash", "dspark"):
        path = bench_cache() / f"{kind}-random-1.gguf"
        if not path.exists():
            random_block(wide.path, path, kind, taps=TAPS, block=8)
        engine, ratios = Engine(wide, ref(path)), []
        for prompts in PROMPTS.values():
            for prompt in prompts[:2]:
                ratio, _ = against_plain(engine, prompt, HEAD)
                ratios.append(ratio)
        report.add(f"hostile_{kind}_vs_plain", statistics.median(ratios), "0.97", spread(ratios))
        engine.close()


def seconds(decoder: LlamaCppDecoder, taken: bool) -> float:
    """Of a plain token, with its states or without: the median of a few, since whatever else runs
    here takes more time from some of them than the states cost."""
    tokens = decoder.encode("A river runs to the sea, and the sea is wide and deep.")
    decoder.states.keep(TAPS if taken else ())
    decoder.truncate(0)
    decoder.forward(tokens, [len(tokens) - 1])
    times = []
    for _ in range(TAP_TOKENS):
        began = perf_counter()
        decoder.forward([tokens[3]], [0])
        decoder.argmax(0)
        if taken:
            decoder.states.rows(0, 1)
        times.append(perf_counter() - began)
    return statistics.median(times)


def taps(report: Report, named: dict[str, ModelRef]) -> None:
    for name, model in named.items():
        decoder = LlamaCppDecoder(model.path, EngineSettings(context_length=1024).as_run)
        shares = []
        for number in range(TAP_ROUNDS):
            order = (True, False) if number % 2 else (False, True)
            took = {taken: seconds(decoder, taken) for taken in order}
            shares.append(took[True] / took[False] - 1)
        report.add(f"tap_overhead_{name}", statistics.median(shares), "0.01", spread(shares))
        decoder.close()


def recycling(report: Report, wide: ModelRef) -> None:
    engine = Engine(wide)
    for prompt in (*EARLIER, *(prompt for prompts in PROMPTS.values() for prompt in prompts[3:])):
        engine.run(prompt, TOKENS, CHATS, chat_id="earlier")
    for name in ("prose", "chat", "code"):
        ratios, rounds = [], []
        for prompt in PROMPTS[name][:3]:
            ratio, run = against_plain(engine, prompt, CHATS, "a")
            ratios.append(ratio)
            rounds.append(a_round(run))
            print(f"  {name}: {ratio:.2f}, {rounds[-1]:.2f} tokens a round", flush=True)
        report.add(f"recycling_vs_plain_{name}", statistics.median(ratios), "0.98", spread(ratios))
        report.add(f"recycling_tokens_a_round_{name}", statistics.median(rounds))
    engine.close()


def history(report: Report, wide: ModelRef) -> None:
    """Tokens a round of second conversations, with and without the first ones; which of the two is
    written first changes nothing, since a reply to measure is written by a fresh engine."""
    engine = Engine(wide)
    for first, _ in TOPICS:
        engine.run(first, 2 * TOKENS, BOTH, chat_id="earlier")
    earlier = engine.state.earlier
    assert earlier is not None
    for _ in earlier.build(engine.decoder.encode):
        pass
    shares = []
    for _, second in TOPICS:
        repeats = a_round(engine.run(second, TOKENS, REPEATS))
        both = a_round(engine.run(second, TOKENS, BOTH, chat_id="a"))
        shares.append(both / repeats)
        print(f"  {second}: {repeats:.2f}, {both:.2f} tokens a round", flush=True)
    report.add("history_vs_repeats_chat", statistics.median(shares), "1.05", spread(shares))
    engine.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--only", default="head,blocks,taps,recycling,history,server")
    given = parser.parse_args()
    only = given.only.split(",")
    if given.only == "blocks":
        # no head has to be trained for these
        report = Report("Heads that draft blocks")
        blocks(report, ref(bench_cache() / "wide-1.2b-q8_0.gguf"))
        report.write(given.json)
        return
    starter, wide, head, hostile = models()
    report = Report("Heads and earlier chats")
    if "taps" in only:
        taps(report, {"smollm2": starter, "wide": wide})
    if "recycling" in only:
        recycling(report, wide)
    if "history" in only:
        history(report, wide)
    if "head" in only:
        heads(report, wide, head, hostile)
    if "blocks" in only:
        blocks(report, wide)
    if "server" in only:
        server_drafts(report, wide, starter)
    report.write(given.json)


if __name__ == "__main__":
    main()
