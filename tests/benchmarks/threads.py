"""Threads that follow the computer: with another program on one core, and without.

SmolLM2 decodes one token after another with automatic threads and with each fixed number, in turns
of two seconds; `busy` runs an endless loop in a process of its own meanwhile.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import perf_counter

from headstart.core.settings.schema import EngineSettings
from headstart.engine.backends.cores import automatic_threads
from headstart.engine.backends.llama_cpp.decoder import LlamaCppDecoder
from headstart.hub.library import starter_model
from tests.benchmarks.report import Report, json_path, spread

SECONDS, ROUNDS, START = 2.0, 8, 100
TEXT = "The river carries stones from the hills to the sea, and the sea gives back rain. "


@contextmanager
def busy(processes: int = 1) -> Iterator[None]:
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


class Lane:
    """One decoder that writes on and on."""

    def __init__(self, threads: int) -> None:
        starter = starter_model()
        assert starter is not None
        self.decoder = LlamaCppDecoder(starter.path, EngineSettings(threads=threads))
        self.tokens = self.decoder.encode(TEXT * 20)
        self.decoder.forward(self.tokens[:START], [])

    def speed(self, seconds: float = SECONDS) -> float:
        """Tokens per second."""
        began, count = perf_counter(), 0
        while perf_counter() - began < seconds:
            self.decoder.forward([self.tokens[START + count % 200]], [0])
            count += 1
            if self.decoder.n_past() >= START + 200:
                self.decoder.truncate(START)
        return count / (perf_counter() - began)


def compare(lanes: dict[int, Lane]) -> tuple[list[float], dict[int, float]]:
    """Automatic (0) over the fixed count that is best on the whole, round by round."""
    rounds = [{count: lane.speed() for count, lane in lanes.items()} for _ in range(ROUNDS)]
    means = {count: statistics.mean(one[count] for one in rounds) for count in lanes}
    best = max((count for count in lanes if count), key=means.__getitem__)
    return [one[0] / one[best] for one in rounds], means


def main() -> None:
    path = json_path(__doc__ or "")
    report = Report("threads (SmolLM2, tokens one by one)")
    most = automatic_threads()
    lanes = {count: Lane(count) for count in sorted({0, 1, max(1, most // 2), most})}
    ratios, means = compare(lanes)
    print(f"  free: { ({count: round(mean, 1) for count, mean in means.items()}) }", flush=True)
    report.add("free_core_vs_best", statistics.median(ratios), "at least 0.98", spread(ratios))
    with busy():
        ratios, means = compare(lanes)
    print(f"  busy: { ({count: round(mean, 1) for count, mean in means.items()}) }", flush=True)
    report.add(
        "busy_core_vs_best_fixed_threads", statistics.median(ratios), "at least 0.9",
        spread(ratios),
    )  # fmt: skip
    report.add("busy_core_vs_all_threads", means[0] / means[most], "", "what it would be otherwise")
    began = perf_counter()
    while lanes[0].decoder.pace < most and perf_counter() - began < 30:
        lanes[0].speed(0.1)
    report.add("back_to_all_threads_s", perf_counter() - began)
    report.write(path)


if __name__ == "__main__":
    main()
