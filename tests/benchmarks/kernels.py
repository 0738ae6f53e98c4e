"""The kernels that the set-up puts into llama.cpp against llama.cpp as it comes.

`python -m tests.benchmarks.kernels --json FILE`; `--only rows,depth,prompts,busy` chooses. Both
sides are llama-bench with the same file and flags; one has our libraries. Pairs in turn.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path

from headstart.core.models.ref import ModelRef
from tests.benchmarks.decode import MIXES, mixed, run_sections
from tests.benchmarks.peers import peer, stock
from tests.benchmarks.report import Ratios, Report, paired_ratios, spread
from tests.benchmarks.threads import busy

PAIRS = 7
ROWS = (1, 2, 3, 4, 5, 6, 8, 16, 64)
DEPTH = 2048


def _medians(times: dict[int, list[float]]) -> str:
    return ", ".join(f"{rows}: {statistics.median(some):.1f}" for rows, some in times.items())


def milliseconds(program: Path, model: ModelRef, *flags: str, times: int = 3) -> dict[int, float]:
    """What forwards of so many rows take, each the best of some times after a warm-up."""
    command = [str(program), "-m", str(model.path), "-n", "0", "-fa", "1", "-o", "json"]
    done = subprocess.run(
        [*command, "-r", str(times), *flags], capture_output=True, text=True, check=True
    )
    return {one["n_prompt"]: min(one["samples_ns"]) / 1e6 for one in json.loads(done.stdout)}


def ratios_of(
    model: ModelRef, rows: Iterable[int], pairs: int, *flags: str, times: int = 3
) -> tuple[dict[int, Ratios], dict[int, list[float]]]:
    """Their time over ours for each number of rows, and our times; pairs that others disturbed are
    measured again."""
    counts = tuple(rows)
    sides: dict[bool, dict[int, float]] = {}

    def run(mine: bool) -> float:
        program = (peer if mine else stock)("llama-bench")
        wanted = ",".join(map(str, counts))
        sides[mine] = milliseconds(program, model, "-p", wanted, *flags, times=times)
        return 1.0

    found = {count: Ratios() for count in counts}
    ours: dict[int, list[float]] = {count: [] for count in counts}
    for _ in range(pairs):
        thrown = paired_ratios(lambda: run(True), lambda: run(False), 1).thrown
        for count in counts:
            found[count].append(sides[False][count] / sides[True][count])
            found[count].thrown += thrown
            ours[count].append(sides[True][count])
    return found, ours


def rows(report: Report, starter: ModelRef, wide: ModelRef) -> None:
    """A few rows, which is what verification computes, with as many threads as there are cores."""
    threads = ("-t", str(os.cpu_count() or 1))
    for name, model in [("q8_0", wide), *((name, mixed(name, wide)) for name in MIXES)]:
        found, ours = ratios_of(model, ROWS, PAIRS, *threads)
        print(f"  {name}: {_medians(ours)} ms", flush=True)
        for count, ratios in found.items():
            wanted = "at least 1.5" if count in (4, 8) and "q8" not in name else "at least 1.0"
            report.add(
                f"rows{count}_{name}_vs_stock", statistics.median(ratios), wanted, spread(ratios)
            )
        four = [a / b for a, b in zip(ours[4], ours[1], strict=True)]
        report.add(
            f"rows4_vs_row1_{name}", statistics.median(four), "at most 1.15 (q8_0)", spread(four)
        )


def depth(report: Report, starter: ModelRef, wide: ModelRef) -> None:
    """One row, four, and a prompt of 512 behind 2,048 cells, with each type of keys and values."""
    for name, model, pairs in (("smollm2", starter, 5), ("wide", wide, 3)):
        times: dict[str, list[float]] = {}
        for kv in ("f16", "bf16", "q8_0"):
            flags = ("-t", str(os.cpu_count() or 1), "-d", str(DEPTH), "-ctk", kv, "-ctv", kv)
            found, ours = ratios_of(model, (1, 4, 512), pairs, *flags, times=1)
            for count, key, wanted in (
                (1, "decode", "at least 1.25"), (4, "rows4", ""), (512, "prefill", "at least 1.6"),
            ):  # fmt: skip
                ratios = found[count]
                report.add(
                    f"{key}_at_{DEPTH}_{name}_{kv}_vs_stock",
                    statistics.median(ratios),
                    wanted,
                    spread(ratios),
                )
            times[kv] = ours[1]
            print(f"  {name} {kv}: {_medians(ours)} ms", flush=True)
        for kv in ("bf16", "q8_0"):
            share = statistics.median(times["f16"]) / statistics.median(times[kv])
            report.add(f"{kv}_vs_f16_at_{DEPTH}_{name}", share, "at least 0.9")


def prompts(report: Report, starter: ModelRef, wide: ModelRef) -> None:
    """Long prompts, whole."""
    threads = ("-t", str(os.cpu_count() or 1))
    for key, model, count, pairs, wanted in (
        ("prefill_512_vs_stock", starter, 512, 5, ""),
        ("prefill_4000_vs_stock", starter, 4000, 3, "at least 1.8"),
        ("prefill_20000_vs_stock", starter, 20000, 1, "at least 2.0"),
        ("wide_prefill_512_vs_stock", wide, 512, 3, "at least 1.15"),
        ("wide_prefill_4000_vs_stock", wide, 4000, 1, "at least 1.15"),
        ("wide_q4_k_m_prefill_512_vs_stock", mixed("q4_k_m", wide), 512, 3, "at least 1.15"),
    ):
        found, ours = ratios_of(model, (count,), pairs, *threads, times=1)
        took = statistics.median(ours[count]) / 1000
        report.add(
            key, statistics.median(found[count]), wanted, f"{spread(found[count])} {took:.1f} s"
        )
        print(f"  {key}: {report.stats[key]}", flush=True)


def busy_core(report: Report, starter: ModelRef, wide: ModelRef) -> None:
    """Another program keeps a core busy: nobody waits for the thread that it holds up."""
    threads = ("-t", str(os.cpu_count() or 1))

    def rate(program: Path) -> Callable[[], float]:
        return lambda: 1 / milliseconds(program, wide, "-p", "1", *threads, times=5)[1]

    with busy():
        ratios = paired_ratios(rate(peer("llama-bench")), rate(stock("llama-bench")), PAIRS, most=1)
    report.add("busy_core_vs_stock", statistics.median(ratios), "at least 1.0", spread(ratios))


SECTIONS = {"rows": rows, "depth": depth, "prompts": prompts, "busy": busy_core}


if __name__ == "__main__":
    run_sections(__doc__, "kernels (llama-bench with our libraries and as it comes)", SECTIONS)
