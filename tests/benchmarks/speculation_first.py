"""What a user sees who has just chosen a draft: the first replies, with nothing known.

Every reply is compared with plain decoding of the same prompt right before and after it; the
second one with the best fixed depth, chosen on the other prompts. Greedy, replies of 120 tokens.
The target has read nothing before, and the draft what it read while the engine was idle.
"""

from __future__ import annotations

import statistics
import threading
from collections.abc import Callable, Sequence

from headstart.core.models.ref import ModelRef
from headstart.core.settings.schema import Speculation
from headstart.engine.stop import StopSignal
from tests.benchmarks.report import Report, spread
from tests.benchmarks.speculation_runs import Engine
from tests.benchmarks.speculation_texts import PROMPTS

TOKENS = 120
IDLE_SECONDS = 10.0
BETWEEN_SECONDS = 5.0
DEPTHS = (4, 7, 10)
AUTO = Speculation(draft="draft")
WANTED = {"code": 1.5, "prose": 1.3, "chat": 1.3}


def idle(engine: Engine, seconds: float) -> None:
    """Nobody asks for anything for so long."""
    token = StopSignal()
    timer = threading.Timer(seconds, token.stop)
    timer.start()
    try:
        while not token.stopped and engine.generator.learn_when_idle(token, lambda _event: None):
            pass
    finally:
        timer.cancel()


def plain_speed(engine: Engine, prompt: str) -> tuple[float, float]:
    """Tokens per second, and the seconds that reading the prompt took."""
    run = engine.run(prompt, TOKENS)
    reading = run.stats.prefill_seconds
    return run.speed(reading), reading


def first_replies(report: Report, found: dict[str, ModelRef]) -> None:
    """A good draft: asked after a while, and at once; the second reply; then a hostile one."""
    engine, other = Engine(found["wide"], found["good"]), Engine(found["wide"], found["good"])
    for kind, prompts in PROMPTS.items():
        first, at_once = [], []
        seconds: list[dict[str, float]] = []
        for number, prompt in enumerate(prompts[:3]):
            before, reading = plain_speed(other, prompt)
            engine.cold()
            idle(engine, IDLE_SECONDS)
            speed = engine.run(prompt, TOKENS, AUTO, rested=True).speed(reading)
            middle, reading_again = plain_speed(other, prompt)
            first.append(speed / statistics.mean((before, middle)))
            idle(engine, BETWEEN_SECONDS)
            next_prompt = prompts[number + 3]
            seconds.append(_second(engine, other, next_prompt))
            engine.cold()
            speed = engine.run(prompt, TOKENS, AUTO).speed(reading_again)
            after, _ = plain_speed(other, prompt)
            at_once.append(speed / statistics.mean((middle, after)))
            print(
                f"  {kind}: first {first[-1]:.2f}, at once {at_once[-1]:.2f}, second "
                + ", ".join(f"{name} {value:.1f}" for name, value in seconds[-1].items()),
                flush=True,
            )
        bound = f"at least {WANTED[kind]}"
        name = f"first_reply_vs_plain_{kind}"
        report.add(name, statistics.median(first), bound, spread(first))
        name = f"first_reply_at_once_vs_plain_{kind}"
        report.add(name, statistics.median(at_once), "at least 1.0", spread(at_once))
        best = _against_best(seconds)
        name = f"second_reply_vs_best_fixed_{kind}"
        report.add(name, statistics.median(best), "at least 0.95", spread(best))
    engine.close()
    other.close()
    _hostile(report, found)


def _second(engine: Engine, other: Engine, prompt: str) -> dict[str, float]:
    """Fixed depths run before and after: computers get faster and slower by the minute."""
    _, reading = plain_speed(other, prompt)
    speeds: dict[str, list[float]] = {}

    def run_fixed(depths: Sequence[int]) -> None:
        for depth in depths:
            wanted = Speculation(
                draft="draft", depth_mode="fixed", depth=depth, prompt_lookup=False
            )
            speed = other.run(prompt, TOKENS, wanted).speed(reading)
            speeds.setdefault(f"fixed {depth}", []).append(speed)

    run_fixed(DEPTHS)
    speeds["auto"] = [engine.run(prompt, TOKENS, AUTO, rested=True).speed(reading)]
    run_fixed(DEPTHS[::-1])
    return {name: statistics.mean(values) for name, values in speeds.items()}


def _against_best(speeds: list[dict[str, float]]) -> list[float]:
    """Auto over the depth that is best on the other prompts."""
    ratios = []
    for number, one in enumerate(speeds):
        others = [speed for index, speed in enumerate(speeds) if index != number]

        def total(depth: int, others: list[dict[str, float]] = others) -> float:
            return sum(speed[f"fixed {depth}"] for speed in others)

        best: int = max(DEPTHS, key=total)
        ratios.append(one["auto"] / one[f"fixed {best}"])
    return ratios


def _hostile(report: Report, found: dict[str, ModelRef]) -> None:
    engine = Engine(found["wide"], found["hostile"])
    first, waited, later = [], [], []
    for prompts in PROMPTS.values():
        engine.cold()
        first.append(_against_plain(engine, prompts[0], lambda: None))
        later += [
            _against_plain(engine, prompt, lambda: idle(engine, BETWEEN_SECONDS))
            for prompt in prompts[1:5]
        ]
        engine.cold()
        waited.append(_against_plain(engine, prompts[0], lambda: idle(engine, IDLE_SECONDS)))
        rest = ", ".join(f"{ratio:.3f}" for ratio in later[-4:])
        print(f"  hostile: {first[-1]:.3f}, then {rest}, waited {waited[-1]:.3f}", flush=True)
    report.add(
        "hostile_first_vs_plain", statistics.median([*first, *waited]), "at least 0.94",
        spread([*first, *waited]),
    )  # fmt: skip
    report.add("hostile_first_at_once_vs_plain", statistics.median(first), "", spread(first))
    report.add("hostile_later_vs_plain", statistics.median(later), "at least 0.99", spread(later))
    engine.close()


def _against_plain(engine: Engine, prompt: str, wait: Callable[[], None]) -> float:
    """One reply over the mean of plain ones before and after it."""
    before, reading = plain_speed(engine, prompt)
    wait()
    speed = engine.run(prompt, TOKENS, AUTO).speed(reading)
    after, _ = plain_speed(engine, prompt)
    return speed / statistics.mean((before, after))
