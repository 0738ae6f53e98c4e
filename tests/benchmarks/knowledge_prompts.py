"""Prompts of chats over files, in a real window: whole documents, and turns with passages."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.benchmarks import knowledge_sets as sets
from tests.benchmarks.knowledge_desk import Desk, write_all
from tests.benchmarks.report import Report

PLACES, DOCUMENTS = 500, 20


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
    document.write_text(prose(6_000)[:26_000], encoding="utf-8")
    home = folder / "home"
    first, second = _child(home, "first", wide(), document)["found"]
    (after,) = _child(home, "after", wide(), document)["found"]
    (shipped,) = _child(home, "as shipped", wide(), document)["found"]
    for one in (first, second, after, shipped):
        told = f"{one['step']}: {one['ttft']:.2f} s, {one['reused']} of {one['prompt']} reused"
        print(f"  {told}")
    read = first["ttft"]
    for name, one in (
        ("pinned_second_chat_ttft_vs_reading", shipped),
        ("pinned_nothing_ahead_ttft_vs_reading", second),
        ("pinned_nothing_ahead_after_restart", after),
    ):
        told = f"{one['prompt']:,} tokens, {read:.1f} s read, {one['ttft']:.2f} s then"
        report.add(name, read / one["ttft"], "at least 100", told)


async def every(report: Report, folder: Path) -> None:
    """A question asked of 20 documents of 4,000 tokens, and another one after a restart."""
    from tests.benchmarks.prefix import wide
    from tests.support.prefix_engine import prose

    docs = folder / "docs"
    docs.mkdir()
    text = prose(6_000 * DOCUMENTS)
    for number in range(DOCUMENTS):
        body = text[number * 26_000 : (number + 1) * 26_000]
        (docs / f"{number:02}.txt").write_text(f"Report {number}. {body}", encoding="utf-8")
    model, home = wide(), folder / "home"
    first = _child(home, "every first", model, docs)
    second = _child(home, "every second", model, docs)
    for name, one in (("first", first), ("second", second)):
        print(
            f"  {name}: {one['seconds']:.1f} s until the last note, {one['whole']:.1f} s with the"
            f" answer; {one['reused']:,} of {one['prompt']:,} tokens reused"
        )
    report.add(
        "ask_every_document_vs_reading", first["seconds"] / second["seconds"], "at least 20",
        f"{second['documents']} documents, {second['prompt']:,} tokens;"
        f" {first['seconds']:.0f} s, {second['seconds']:.1f} s after a restart",
    )  # fmt: skip


async def places(report: Report, folder: Path) -> None:
    """Planted words in PDFs of many pages, blank ones among them, and in texts; the page, or the
    line, and the range of each hit."""
    from PySide6.QtGui import QGuiApplication

    from tests.support.documents import pdf

    application = QGuiApplication.instance() or QGuiApplication([])
    draw, planted = random.Random(3), dict[str, tuple[str, int]]()
    docs = folder / "docs"
    docs.mkdir()
    fillers = [line for one in sets.others() for line in one.split("\n") if 20 < len(line) < 90]
    for number in range(100):
        pages = []
        for page in range(1, draw.randrange(4, 12)):
            lines = draw.choices(fillers, k=draw.randrange(0, 40)) if draw.random() > 0.2 else []
            if lines and len(planted) < PLACES:
                word = f"planted{len(planted)}word"
                lines.insert(draw.randrange(len(lines)), f"here is {word} now")
                planted[word] = (f"{number}", page)
            pages.append("\n".join(lines))
        if number % 2:
            (docs / f"{number}.pdf").write_bytes(pdf(pages))
        else:
            (docs / f"{number}.txt").write_text("\n\n".join(pages), encoding="utf-8")
    del application
    desk = Desk(folder)
    await desk.read(docs)
    right = 0
    for word, (name, page) in planted.items():
        found = (await desk.searching.find(word, limit=1)).hits
        if not found:
            print(f"  not found: {word} in {name}, page {page}")
            continue
        hit = found[0]
        place = hit.place
        text = await desk.searching.whole(place.digest) or ""
        exact = text[place.start : place.end] == hit.text and word in hit.text
        if place.page:
            there = place.page == page
        else:
            begins = place.start + len(hit.text) - len(hit.text.lstrip())
            there = place.line == text[:begins].count("\n") + 1
        right += exact and there and place.name.startswith(f"{name}.")
    report.add("places_exact", right / len(planted), "1.0", f"of {len(planted)}")
    await desk.close()


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
