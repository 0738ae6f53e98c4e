"""A table whose heads are Hebrew or Arabic begins at the right; its text keeps its own order."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor

from headstart.assembly import App
from headstart.core.text.shown import begins_at_right
from headstart.ui.transcript.document_text import text_between
from headstart.ui.transcript.table_block import TableBlock
from tests.conftest import OpenApp, until
from tests.ui.test_searching import store

HEBREW = """| שם | גיל | עיר | Code |
|---|---|---|---|
| דוד | 34 | תל אביב | `x = 1` |
| Anna | 7 | Haifa | `print(1)` |
"""
LATIN = """| Name | עיר |
|---|---|
| דוד | Haifa |
"""
ARABIC_ALONE = """| مدينة |
|---|
| القاهرة |
"""
WIDE = "| שם |" + " מלים אחדות כאן וגם שם |" * 12 + "\n|" + "---|" * 13 + "\n| דוד |" + " א |" * 12


async def table(app: App, text: str) -> TableBlock:
    chat, _ = await store(app, "Table", "Show a table.", text)
    app.window.open_chat(chat.id)
    await until(lambda: bool(app.window.transcript.findChildren(TableBlock)))
    (found,) = app.window.transcript.findChildren(TableBlock)
    return found


def cell_at(block: TableBlock, x: float, y: float = 14) -> str:
    position = block.position_at(QPointF(x, y))
    return block.document.findBlock(position).text()


async def test_columns_stand_from_the_right_and_text_in_its_order(running: OpenApp) -> None:
    async with running() as app:
        block = await table(app, HEBREW)
        width = block.width()
        assert cell_at(block, width - 12) == "שם"
        # what is pointed at from the right to the left are the heads in their order
        heads = list(dict.fromkeys(cell_at(block, x) for x in range(width - 8, width - 200, -6)))
        assert heads == ["שם", "גיל", "עיר", "Code"]
        # copied as it was written
        whole = text_between(block.document, 0, block.text_length())
        assert whole.splitlines()[1].split("\t") == ["שם", "גיל", "עיר", "Code"]
        # nothing is painted where it does not stand
        image = block.grab().toImage()
        ground = image.pixelColor(2, 2)
        left = {image.pixelColor(x, y).name() for x in range(40) for y in range(4, 60, 4)}
        assert left == {ground.name()}
        right = {image.pixelColor(image.width() - 20, y).name() for y in range(4, 60)}
        assert right != {ground.name()}


async def test_a_place_is_shown_where_it_is_pointed_at(running: OpenApp) -> None:
    async with running() as app:
        block = await table(app, HEBREW)
        heard = block.heard()
        for position in range(1, block.text_length()):
            part = block.document.findBlock(position)
            if position >= part.position() + part.length() - 1:
                continue
            place = heard.place_of(position)
            found = block.position_at(QPointF(place.center()))
            assert block.document.findBlock(found).text() == part.text()


async def test_a_latin_head_begins_at_the_left(running: OpenApp) -> None:
    async with running() as app:
        block = await table(app, LATIN)
        assert cell_at(block, 14) == "Name"
        assert not block.block.from_right


async def test_one_column_stands_at_the_right(running: OpenApp) -> None:
    async with running() as app:
        block = await table(app, ARABIC_ALONE)
        image = block.grab().toImage()
        assert image.pixelColor(block.width() - 12, 3) != QColor(image.pixelColor(2, 2))


async def test_a_wide_one_begins_where_reading_begins(running: OpenApp) -> None:
    async with running() as app:
        block = await table(app, WIDE)
        assert block.bar.maximum() > 0
        assert block.bar.value() == block.bar.maximum()
        assert cell_at(block, block.width() - 12) == "שם"
        # its last column is revealed
        block.reveal(block.text_length() - 1)
        assert block.bar.value() < block.bar.maximum() // 2


@pytest.mark.parametrize(
    ("text", "right"),
    [("שם", True), ("**שם**", True), ("1. الاسم", True), ("Name שם", False), ("12", False)],
)
def test_the_first_letter_decides(text: str, right: bool) -> None:
    assert begins_at_right(text) == right
