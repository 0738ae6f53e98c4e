"""Questions to small folders through chats of a real window, beside a large folder in the same
index: `python -m tests.benchmarks.knowledge_folders HOME PAPERS LARGE`, a child of `knowledge`.

Each question is asked in a new chat that names one folder. The time is that from the press of Send
until the question is stored with its passages, less that of the same question without a folder.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from headstart.assembly import App
from headstart.core.chats.parts import PassagePart, SearchOutcome, SearchPart
from headstart.core.settings.schema import SamplingChoice
from headstart.ui.knowledge.doubted_sheet import DoubtedSheet
from tests.benchmarks.answering import starter_key, stats_of
from tests.benchmarks.knowledge_pinned import services_settled
from tests.benchmarks.starting import run_watched
from tests.support.alike_papers import AlikeQuestion

# passages of a question among which the right paper is
FIRST = 3


async def _measure(app: App, papers: Path, large: Path) -> dict[str, Any]:
    app.services.preferences.update(
        sampling=SamplingChoice(temperature=0.0, max_tokens=1), model=starter_key()
    )
    folders = {one.name: str(one) for one in sorted(papers.iterdir())}
    for source in (*folders.values(), str(large)):
        app.controllers.knowledge.add(source, asked=True)
        await app.controllers.settle(600)
        await services_settled(app)
    pieces = sum(one.pieces for one in await app.services.knowledge.knowledge.states())
    asked = [AlikeQuestion(**one) for one in json.loads(papers.with_suffix(".json").read_text())]
    right, strays, with_folder, without = list[bool](), 0, list[float](), list[float]()
    for one in asked:
        seconds, found = await _ask(app, one.text, folders[one.folder])
        plain, _ = await _ask(app, one.text, "")
        with_folder.append(seconds)
        without.append(plain)
        named = [part.name for part in found if isinstance(part, PassagePart)]
        if one.file:
            right.append(one.file in named[:FIRST])
        elif any(
            isinstance(part, SearchPart) and part.outcome is not SearchOutcome.NOTHING
            for part in found
        ):
            strays += 1
    _, told = await _ask(app, asked[0].text, str(large))
    assert any(isinstance(part, SearchPart) for part in told)
    more = [a - b for a, b in zip(with_folder, without, strict=True)]
    return {
        "pieces": pieces,
        "asked": len(right),
        "recall": sum(right) / len(right),
        "strays": strays,
        "milliseconds": [one * 1000 for one in more],
        "without": statistics.median(without) * 1000,
    }


async def _ask(app: App, text: str, source: str) -> tuple[float, tuple[object, ...]]:
    """Ask in a new chat; returns the seconds until the question is stored, and its parts. Where the
    user is asked, passages that only resemble the question are left out."""
    app.window.new_chat()
    if source:
        app.window.knowledge.switch_on(source)
    await app.controllers.settle()
    stored = asyncio.Event()
    ended = 0.0

    def note(_chat_id: str) -> None:
        nonlocal ended
        ended = time.perf_counter()
        stored.set()

    app.controllers.conversation.message_stored.connect(note)
    app.window.composer.set_text(text)
    began = time.perf_counter()
    app.window.composer.button.click()
    while not stored.is_set():
        for sheet in app.window.findChildren(DoubtedSheet):
            if sheet.isVisible():
                sheet.without.click()
        await asyncio.sleep(0.02)
    app.controllers.conversation.message_stored.disconnect(note)
    while app.controllers.reply.writing:
        await asyncio.sleep(0.02)
    await app.controllers.settle()
    branch = await app.services.branches.whole(app.controllers.open.id)
    stats_of(branch[-1], starter_key())
    return ended - began, branch[0].parts


def main() -> None:
    home, papers, large = sys.argv[1:4]
    out = Path(tempfile.gettempdir()) / f"folders-{Path(home).name}.json"

    async def script(app: App) -> int:
        out.write_text(json.dumps(await _measure(app, Path(papers), Path(large))))
        return 0

    run_watched(Path(home), lambda _app: None, script)
    print(out.read_text())
    out.unlink()


if __name__ == "__main__":
    main()
