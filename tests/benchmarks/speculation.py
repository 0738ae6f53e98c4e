"""Speculation against plain decoding, against its own best fixed depth, against llama.cpp.

Speed is tokens over (last token - request - the time that plain decoding took to read), so that
reading the draft is charged. Everything that is compared runs next to each other, prompt by
prompt; figures are medians of ratios.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable
from time import perf_counter
from typing import Any

import llama_cpp as lib
import numpy as np

from headstart.core.models.ref import ModelRef
from headstart.core.settings.schema import Speculation
from headstart.engine import reply_emitter
from headstart.engine.backends.cores import automatic_threads
from headstart.engine.backends.llama_cpp import sampler as llama_sampler
from headstart.hub.library import starter_model
from tests.benchmarks.peers import bench_cache, peer
from tests.benchmarks.report import Report, json_path, spread
from tests.benchmarks.speculation_first import first_replies
from tests.benchmarks.speculation_runs import OFF, Engine, Run, peer_speed, ref, replaying
from tests.benchmarks.speculation_texts import EARLIER, PROMPTS, code_lines, edited
from tests.models.drafts import drop_layers
from tests.models.wide import make_wide

TOKENS = 160
LONG, SHORT = 300, 50
FIXED = (1, 2, 3, 5, 7, 10, 15)
PEER_DEPTHS = (None, 1, 2, 3, 5, 7, 10)
AUTO = Speculation(draft="draft")
LOOKUP = Speculation()
WANTED = {"code": 1.5, "prose": 1.25, "chat": 1.25}
# half of the good draft's choose the best depth that the other half is compared with
GOOD_PROMPTS, COLD_PROMPTS = 3, 2
Speeds = dict[str, list[float]]


def models() -> dict[str, ModelRef]:
    """The target and the drafts, made where they are missing."""
    starter = starter_model()
    assert starter is not None
    cache = bench_cache()
    paths = {
        "wide": cache / "wide-1.2b-q8_0.gguf",
        "poor": cache / "smollm2-poor.gguf",
        "hostile": cache / "smollm2-hostile.gguf",
    }
    if not paths["wide"].exists():
        print("making the wide model (1.25 GB, half a minute)", flush=True)
        make_wide(starter.path, paths["wide"])
    for name, layers in (("poor", [12, 18, 24]), ("hostile", list(range(3, 23, 2)))):
        if not paths[name].exists():
            drop_layers(starter.path, paths[name], layers)
    return {"good": starter} | {name: ref(path) for name, path in paths.items()}


def fixed(depth: int) -> Speculation:
    return Speculation(draft="draft", depth_mode="fixed", depth=depth, prompt_lookup=False)


def best_of_other_half(speeds: list[Speeds], names: list[str], mine: str) -> list[float]:
    """mine / best of `names`, the best chosen on the prompts of the other half."""
    ratios = []
    for half in (0, 1):
        chosen = max(
            names,
            key=lambda name: sum(statistics.mean(one[name]) for one in speeds[1 - half :: 2]),
        )
        for one in speeds[half::2]:
            ratios += [statistics.mean(one[mine]) / statistics.mean(one[chosen])]
    return ratios


def good_draft(report: Report, found: dict[str, ModelRef]) -> None:
    """Auto with a kept profile: against plain, our fixed depths and the peer."""
    auto, other = Engine(found["wide"], found["good"]), Engine(found["wide"], found["good"])
    threads = automatic_threads()
    # the profile of an earlier run: “Calibrate” once, and four replies
    auto.calibrate()
    for prompt in EARLIER:
        auto.run(prompt, TOKENS, AUTO)
    differing = replies = 0
    for kind, prompts in PROMPTS.items():
        speeds: list[Speeds] = []
        for prompt in prompts[:GOOD_PROMPTS]:
            one: Speeds = {}
            texts: dict[str, str] = {}

            def add(
                name: str,
                run: Run,
                one: Speeds = one,
                texts: dict[str, str] = texts,
                kind: str = kind,
            ) -> None:
                reading = run.stats.prefill_seconds if name == "plain" else one["reading"][0]
                one.setdefault("reading", [reading])
                one.setdefault(name, []).append(run.speed(reading))
                texts[name] = run.text

            add("plain", other.run(prompt, TOKENS))
            add("auto", auto.run(prompt, TOKENS, AUTO))
            for depth in FIXED:
                add(f"fixed {depth}", other.run(prompt, TOKENS, fixed(depth)))
            add("auto", auto.run(prompt, TOKENS, AUTO))
            rendered = other.rendered(prompt)
            for peer_depth in PEER_DEPTHS:
                speed = peer_speed(
                    found["wide"], found["good"], rendered, TOKENS, threads, peer_depth
                )
                one[f"peer {peer_depth or 'default'}"] = [speed]
            add("auto", auto.run(prompt, TOKENS, AUTO))
            add("plain", other.run(prompt, TOKENS))
            replies += 1
            differing += texts["auto"] != texts["plain"]
            speeds.append(one)
            summary = ", ".join(
                f"{name} {statistics.mean(values):.1f}" for name, values in one.items()
            )
            print(f"  {kind}: {summary}", flush=True)
        mean = statistics.mean
        plain = [mean(one["auto"]) / mean(one["plain"]) for one in speeds]
        report.add(
            f"auto_vs_plain_{kind}", statistics.median(plain), f"at least {WANTED[kind]}",
            spread(plain),
        )  # fmt: skip
        ours = best_of_other_half(speeds, [f"fixed {depth}" for depth in FIXED], "auto")
        report.add(
            f"auto_vs_best_fixed_{kind}", statistics.median(ours), "at least 0.98", spread(ours)
        )
        names = [f"peer {depth or 'default'}" for depth in PEER_DEPTHS]
        peers = best_of_other_half(speeds, names, "auto")
        report.add(
            f"auto_vs_peer_best_{kind}", statistics.median(peers), "at least 1.0", spread(peers)
        )
        default = [mean(one["auto"]) / one["peer default"][0] for one in speeds]
        wanted = "at least 1.15" if kind == "code" else ""
        report.add(
            f"auto_vs_peer_default_{kind}", statistics.median(default), wanted, spread(default)
        )
    report.add("greedy_replies_that_differ", differing, "", f"of {replies}, with f16 KV")
    auto.close()
    other.close()


def cold_drafts(report: Report, found: dict[str, ModelRef]) -> None:
    """Poor and hostile drafts that were never seen before."""
    for name in ("poor", "hostile"):
        engine = Engine(found["wide"], found[name])
        for kind, prompts in PROMPTS.items():
            ratios: dict[int, list[float]] = {SHORT: [], LONG: []}
            own = []
            for prompt in prompts[:COLD_PROMPTS]:
                before = engine.run(prompt, LONG)
                engine.cold()
                run = engine.run(prompt, LONG, AUTO)
                after = engine.run(prompt, LONG)
                reading = before.stats.prefill_seconds
                # against the plain steps between its own rounds: the machine is the same then
                first, last = run.times[0][1], run.times[-1][1]
                assert run.stats.speculation is not None
                own.append(run.stats.speculation.plain_seconds / (last - first))
                for tokens in (SHORT, LONG):
                    plain = [before.speed(reading, tokens), after.speed(reading, tokens)]
                    ratios[tokens].append(run.speed(reading, tokens) / statistics.mean(plain))
            for tokens, bound in ((SHORT, 0.95), (LONG, 0.97)):
                values = ratios[tokens]
                report.add(
                    f"{name}_vs_plain_{kind}_{tokens}", statistics.median(values),
                    f"at least {bound}", spread(values),
                )  # fmt: skip
            report.add(
                f"{name}_vs_own_steps_{kind}", statistics.median(own), "at least 0.97", spread(own)
            )
            print(f"  {name} {kind}: {ratios}, against own steps {own}", flush=True)
        engine.close()


def sampled(report: Report, found: dict[str, ModelRef]) -> None:
    """The good draft at temperature 0.8, with a kept profile."""
    engine = Engine(found["wide"], found["good"])
    for prompt in EARLIER[:3]:
        engine.run(prompt, TOKENS, AUTO, 0.8)
    for kind, prompts in PROMPTS.items():
        ratios = []
        for prompt in prompts[:COLD_PROMPTS]:
            plain = engine.run(prompt, TOKENS, OFF, 0.8)
            auto = engine.run(prompt, TOKENS, AUTO, 0.8)
            reading = plain.stats.prefill_seconds
            ratios.append(auto.speed(reading) / plain.speed(reading))
        report.add(f"auto_vs_plain_{kind}_t08", statistics.median(ratios), "", spread(ratios))
    report.add("acceptance_efficiency_t08", efficiency(engine), "at least 0.9")
    engine.close()


def efficiency(engine: Engine) -> float:
    """Accepted of verified over the mean of the sum of min(p, q), position by position.

    Both distributions are taken where the loop draws: each draft token's from the draft, each
    verified position's from the target.
    """
    speculated: dict[int, tuple[dict[int, float], int]] = {}
    sums: list[float] = []
    hits: list[bool] = []
    real_draw, real_draft = (
        llama_sampler.LlamaCppSampler.draw,
        llama_sampler.LlamaCppSampler.predict,
    )

    def distribution(sampler: Any, row: int) -> dict[int, float]:
        ids, logits = sampler.candidates.survivors(sampler.chain, sampler.logits(row))
        weights = np.exp(logits - logits.max())
        return dict(zip(ids.tolist(), (weights / weights.sum()).tolist(), strict=True))

    def draw(sampler: Any, row: int, position: int) -> int:
        token = real_draw(sampler, row, position)
        if position in speculated:
            q, predict = speculated.pop(position)
            p = distribution(sampler, row)
            sums.append(sum(min(share, q.get(one, 0.0)) for one, share in p.items()))
            hits.append(predict == token)
            if predict != token:
                speculated.clear()
        return token

    def predict(sampler: Any, row: int, position: int) -> Any:
        result = real_draft(sampler, row, position)
        speculated[position] = (distribution(sampler, row), result.token)
        return result

    kind: Any = llama_sampler.LlamaCppSampler
    kind.draw, kind.predict = draw, predict
    wanted = Speculation(
        draft="draft", depth_mode="fixed", depth=4, prompt_lookup=False, tree_branches="never"
    )
    try:
        for prompts in PROMPTS.values():
            for prompt in prompts[:COLD_PROMPTS]:
                speculated.clear()
                engine.run(prompt, TOKENS, wanted, 0.8)
    finally:
        kind.draw, kind.predict = real_draw, real_draft
    print(f"  acceptance {np.mean(hits):.3f}, best possible {np.mean(sums):.3f}, n {len(hits)}")
    return float(np.mean(hits)) / float(np.mean(sums))


def editing(report: Report, found: dict[str, ModelRef]) -> None:
    """60 lines returned with small changes, against the bare cost of the same forwards."""
    lines = code_lines()
    prompt = "Rename some things in this code:\n\n" + "\n".join(lines)
    cases = (("auto", found["good"], AUTO), ("lookup", None, LOOKUP))
    for name, draft, wanted in cases:
        engine, replay = replaying(
            found["wide"],
            lambda draft=draft: Engine(found["wide"], draft),  # type: ignore[misc]
        )
        replay.reply = engine.decoder.encode("\n".join(edited(lines)))
        tokens = len(replay.reply) - 1
        plain = engine.run(prompt, tokens)
        engine.run(prompt, tokens, wanted)  # a profile from an earlier run
        ratios, tight, speedups = [], [], []
        for _ in range(3):
            run = engine.run(prompt, tokens, wanted)
            rounds = _rounds(replay, tokens)
            used = list(replay.forwards)
            costs = _forward_costs(engine, [count for count, _ in rounds + used])
            limit = sum(costs(count, context) for count, context in used)
            least = sum(costs(count, context) for count, context in rounds)
            reading = plain.stats.prefill_seconds
            ratios.append(limit * run.speed(reading) / tokens)
            tight.append(least * run.speed(reading) / tokens)
            speedups.append(run.speed(reading) / plain.speed(reading))
        print(f"  edit {name}: {tokens} tokens, {len(rounds)} rounds, {run.stats.speculation}")
        report.add(
            f"{name}_vs_limit_edit", statistics.median(ratios), "at least 0.9", spread(ratios)
        )
        # the same without rows that turned out wrong: no loop can know them beforehand
        report.add(f"{name}_vs_tight_limit_edit", statistics.median(tight), "", spread(tight))
        report.add(f"{name}_vs_plain_edit", statistics.median(speedups), "", spread(speedups))
        engine.close()


def _rounds(replay: Any, tokens: int) -> list[tuple[int, int]]:
    """(tokens emitted, context) of each round: where the next forward began tells it."""
    starts = [context for _, context in replay.forwards]
    ends = [*starts[1:], (replay.start or 0) + tokens - 1]
    return [(max(1, end - start), start) for start, end in zip(starts, ends, strict=True)]


def _forward_costs(engine: Engine, counts: list[int]) -> Callable[[int, int], float]:
    """Seconds of a forward by tokens and context, measured now: medians, and lines between."""
    decoder = engine.decoder
    context = decoder.n_past()
    text = engine.decoder.encode(" word" * (context + 40))
    places = [context // 2, context]
    table: dict[int, list[float]] = {}
    for place in places:
        decoder.truncate(place)
        while decoder.n_past() < place:
            decoder.forward(text[: min(256, place - decoder.n_past())], [])
        for count in sorted(set(counts)):
            times = []
            for _ in range(4):
                began = perf_counter()
                decoder.forward(text[:count], range(count))
                decoder.argmax(0)
                times.append(perf_counter() - began)
                decoder.truncate(place)
            table.setdefault(count, []).append(statistics.median(times[1:]))

    def seconds(count: int, at: int) -> float:
        low, high = table[count]
        share = (at - places[0]) / max(1, places[1] - places[0])
        return float(low + (high - low) * share)

    return seconds


def overhead(report: Report, found: dict[str, ModelRef]) -> None:
    """SmolLM2 as the target: the share of the wall time that is not inside llama_decode."""
    engine = Engine(found["good"])
    inside = 0.0
    reply_emitter.EMIT_SECONDS = 0.033  # as the program does it
    real = lib.llama_decode

    def timed(context: Any, batch: Any) -> int:
        nonlocal inside
        began = perf_counter()
        result = int(real(context, batch))
        inside += perf_counter() - began
        return result

    lib.llama_decode = timed
    shares = []
    try:
        for prompts in PROMPTS.values():
            for prompt in prompts:
                engine.run(prompt, TOKENS, LOOKUP)
                inside = 0.0
                began = perf_counter()
                engine.run(prompt, TOKENS, LOOKUP)
                wall = perf_counter() - began
                shares.append((wall - inside) / wall)
    finally:
        lib.llama_decode = real
    report.add("loop_overhead", statistics.median(shares), "at most 0.03", spread(shares))
    engine.close()


SECTIONS = {
    "first": first_replies,
    "overhead": overhead,
    "edit": editing,
    "cold": cold_drafts,
    "good": good_draft,
    "sampled": sampled,
}


def main() -> None:
    """`--only NAME` (before --json) runs one section."""
    chosen = list(SECTIONS)
    if "--only" in sys.argv:
        at = sys.argv.index("--only")
        chosen = sys.argv[at + 1].split(",")
        del sys.argv[at : at + 2]
    path = json_path(__doc__ or "")
    found = models()
    if "good" in chosen:
        peer("llama-speculative-simple")
    report = Report("speculation (wide 1.2 B target, engine without a window)")
    for name in chosen:
        print(f"{name} ...", flush=True)
        SECTIONS[name](report, found)
        report.write(path)


if __name__ == "__main__":
    main()
