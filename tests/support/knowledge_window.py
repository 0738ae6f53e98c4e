"""Steps in the window for questions about folders: a folder of manuals, named, asked, looked at."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from headstart.assembly import App
from headstart.ui.transcript.cited import CitedMark
from tests.conftest import until
from tests.support.scripted_server import Answer, Asked, Handler

PICTURES = os.environ.get("KNOWLEDGE_PICTURES", "")


def manuals(folder: Path) -> Path:
    """A folder with four files, one of them without text."""
    root = folder / "Manuals & more"
    root.mkdir()
    (root / "pump.md").write_text(
        "# Pump P-7\n\nThe pump was built in 1987.\n\n## Coolant\n\nThe tank holds 20 litres of "
        "coolant. Change it each spring.\n",
        encoding="utf-8",
    )
    (root / "garden.txt").write_text(
        "Tulips are planted in autumn, ten centimetres deep.\n" * 3, encoding="utf-8"
    )
    (root / "ドア.md").write_text("# 扉\n\n扉の鍵は箱の中にあります。\n", encoding="utf-8")
    (root / "photo.png").write_bytes(b"\x89PNG")
    return root


def say(words: str) -> Handler:
    """A reply that takes long enough to be seen being written."""

    async def answer(_asked: Asked, answer: Answer) -> None:
        await answer.stream()
        half = len(words) // 2
        await answer.words([words[:half], words[half:]], pause=0.15)
        await answer.end()

    return answer


async def picture(app: App, name: str) -> None:
    """A picture of the window, where pictures are wanted."""
    if PICTURES:
        await asyncio.sleep(0.4)
        app.window.grab().save(f"{PICTURES}/{name}.png")


async def read(app: App) -> None:
    await app.controllers.settle()
    await app.services.knowledge.knowledge.indexing.settled()
    app.controllers.knowledge.list()
    await app.controllers.settle()


async def with_folder(app: App, folder: Path) -> None:
    """The folder is indexed, and searched by the open chat."""
    app.controllers.knowledge.add(str(folder))
    await read(app)
    edit = app.window.composer.edit
    edit.setFocus()
    QTest.keyClicks(edit, "#man")
    menu = app.window.composer.source_menu
    await until(lambda: menu.isVisible())
    assert menu.titles == ["Manuals & more"]
    QTest.keyClick(edit, Qt.Key.Key_Return)
    await app.controllers.settle()
    assert edit.toPlainText() == ""


def marks(app: App) -> list[CitedMark]:
    host = app.window.transcript.host
    shown = app.window.transcript.column.shown_blocks()
    return [mark for _message, _number, block in shown for mark in host.cited_in(block)]
