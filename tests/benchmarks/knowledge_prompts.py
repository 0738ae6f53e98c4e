"""Prompts of chats over files, in a real window: whole documents, and turns with passages."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.benchmarks import knowledge_sets as sets
from tests.benchmarks.knowledge_desk import write_all
from tests.benchmarks.report import Report


def _child(home: Path, step: str, model: Path, document: Path) -> dict[str, Any]:
    """One start of the program; returns its figures."""
    command = [sys.executable, "-m", "tests.benchmarks.knowledge_pinned"]
    command += [str(home), step, str(model), str(document)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=1_800)
    found: dict[str, Any] = json.loads(done.stdout.decode().strip().split("\n")[-1])
    return found


async def pinned(report: Report, folder: Path) -> None:
    """A document of 4,000 tokens, read once, then in chats with other instructions."""
    from tests.benchmarks.prefix import wide
    from tests.support.prefix_engine import prose

    document = folder / "report.txt"
    document.write_text(prose(4_000)[:16_000], encoding="utf-8")
    home = folder / "home"
    first, second = _child(home, "first", wide(), document)["found"]
    (after,) = _child(home, "after", wide(), document)["found"]
    for one in (first, second, after):
        told = f"{one['step']}: {one['ttft']:.2f} s, {one['reused']} of {one['prompt']} reused"
        print(f"  {told}")
    report.add(
        "pinned_second_chat_ttft_vs_reading", first["ttft"] / second["ttft"], "at least 100",
        f"{first['prompt']:,} tokens, {first['ttft']:.1f} s read, {second['ttft']:.2f} s second",
    )  # fmt: skip
    report.add(
        "pinned_after_restart_ttft_vs_reading", first["ttft"] / after["ttft"], "at least 100",
        f"{after['ttft']:.2f} s",
    )  # fmt: skip


async def turns(report: Report, folder: Path) -> None:
    """20 turns with passages of a folder; tokens that are processed again."""
    from tests.benchmarks.prefix import starter

    pairs = sets.english()
    write_all(folder / "docs", [pair.answer for pair in pairs])
    questions = [pair.question for pair in pairs if len(pair.answer) < 500][:40]
    (folder / "questions.json").write_text(json.dumps(questions), encoding="utf-8")
    found = _child(folder / "home", "turns", starter(), folder / "docs")
    again = found["recomputed"]
    report.add(
        "turns_recomputed", sum(one > 0 for one in again), "0",
        f"of {len(again)} turns, {found['passages']} passages, {sum(again)} tokens",
    )  # fmt: skip
