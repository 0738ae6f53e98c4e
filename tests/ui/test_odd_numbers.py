"""Chats whose file or rows hold numbers that nobody has: the window shows every word of them."""

from __future__ import annotations

import json
import random
import sqlite3
import struct
import zlib
from pathlib import Path

import pytest
from PySide6.QtCore import QSize
from PySide6.QtWidgets import QApplication

from headstart.assembly import App
from headstart.core.chats.parts import text_part
from headstart.core.chats.values import Message, MessageStatus, Role
from headstart.home import Home
from headstart.storage.tables.rows import StoredPart
from headstart.ui.kit.formulas import picture
from headstart.ui.kit.pictures import decode, fitted
from headstart.ui.transcript.view import TranscriptView
from tests.conftest import OpenApp
from tests.support import odd_numbers
from tests.support.odd_numbers import ODD, WORDS
from tests.support.plain import plain
from tests.support.stored import behind_its_back
from tests.ui.test_import_export import import_file

CHAT = odd_numbers.conversation()
PLACES = list(odd_numbers.places(CHAT))
# both replies cannot be on show at once
SHOWN = (WORDS[0], WORDS[1])


async def shown_words(app: App, chat_id: str) -> str:
    """What a user copies out of the opened chat, with every message painted."""
    app.window.open_chat(chat_id)
    await app.controllers.settle()
    app.window.grab()
    view = app.window.transcript
    assert len(view.column.items) == 2
    view.select_all()
    return view.selecting.text()


async def open_all(app: App, count: int) -> None:
    """Open every chat, beside the panels with its numbers."""
    app.window.commands.run("view.inspector")
    chats = await app.services.chat_list.summaries()
    assert len(chats) == count
    for chat in chats:
        text = await shown_words(app, chat.id)
        for words in SHOWN:
            assert words in text, (chat.title, text)
        await app.services.branches.whole(chat.id)


@pytest.mark.parametrize(
    "odd_ones",
    [
        ("-1", "2147483648", "9223372036854775808", "1e999", "5e-324"),
        pytest.param(ODD, marks=pytest.mark.proof),
    ],
    ids=["some", "all"],
)
async def test_a_file_full_of_numbers_that_nobody_has_is_shown_with_all_words(
    odd_ones: tuple[str, ...], running: OpenApp, tmp_path: Path
) -> None:
    folder = tmp_path / "chats"
    folder.mkdir()
    for number, odd in enumerate(odd_ones):
        data = odd_numbers.written(odd_numbers.conversation(number), PLACES, odd)
        (folder / f"{number:02}.headstart.json").write_bytes(data)
    async with running() as app:
        await import_file(app, folder)
        window = app.window.transfer.importing
        assert window is not None
        assert plain(window.summary.text()).startswith(f"Imported {len(odd_ones)} new chats")
        window.end.click()
        await open_all(app, len(odd_ones))


@pytest.mark.parametrize("count", [6, pytest.param(len(PLACES), marks=pytest.mark.proof)])
async def test_one_number_that_nobody_has_costs_no_word(
    count: int, running: OpenApp, tmp_path: Path
) -> None:
    folder, rng = tmp_path / "chats", random.Random(count)
    folder.mkdir()
    for number, place in enumerate(rng.sample(PLACES, count)):
        document = odd_numbers.conversation(number)
        data = odd_numbers.written(document, [place], rng.choice(ODD))
        (folder / f"{number:03}.headstart.json").write_bytes(data)
    async with running() as app:
        await import_file(app, folder)
        window = app.window.transfer.importing
        assert window is not None
        window.end.click()
        await open_all(app, count)


@pytest.mark.parametrize("number", [1 << 31, float("inf"), "x"])
async def test_rows_of_earlier_versions_with_such_numbers_are_shown(
    number: object, running: OpenApp, home: Home, tmp_path: Path
) -> None:
    path = tmp_path / "a.headstart.json"
    path.write_bytes(odd_numbers.written(CHAT, [], ""))
    async with running() as app:
        await import_file(app, path)
    _spoil(home.database, number)
    async with running() as app:
        await open_all(app, 1)


def _spoil(path: Path, number: object) -> None:
    """Give every number of the database's chats another value, as whole rows."""
    with behind_its_back(path) as database:
        database.row_factory = sqlite3.Row
        for row in database.execute("SELECT rowid, * FROM parts WHERE data IS NOT NULL").fetchall():
            data = json.dumps(_with(json.loads(row["data"]), number))
            digest = StoredPart(row["kind"], row["text"], data, row["blob"], 0).whole_digest()
            database.execute(
                "UPDATE parts SET data = ?, digest = ? WHERE rowid = ?",
                (data, digest, row["rowid"]),
            )
        origins = json.dumps([[number, "draft"]])
        database.execute("UPDATE parts SET origins = ? WHERE data IS NULL", (origins,))
        for table, columns in (
            ("messages", ("created_at",)),
            ("chats", ("created_at", "updated_at")),
            (
                "turns",
                (
                    "prompt_tokens", "reused_tokens", "read_seconds", "first_token_seconds",
                    "generated_tokens", "generate_seconds", "seed", "rounds", "draft_tested",
                    "draft_accepted", "repeat_tested", "repeat_accepted", "plain_seconds",
                    "from_memory", "from_disk", "ahead", "reread", "reasoning_seconds",
                ),
            ),
        ):  # fmt: skip
            values = ", ".join(f"{column} = :number" for column in columns)
            database.execute(f"UPDATE {table} SET {values}", {"number": number})


def _with(value: object, number: object) -> object:
    if isinstance(value, dict):
        return {key: _with(one, number) for key, one in value.items()}
    if isinstance(value, list):
        return [_with(one, number) for one in value]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return number if is_number else value


@pytest.mark.parametrize("side", [-(1 << 63), -1, 0, 1, 1 << 31, 1 << 63])
def test_a_thumbnail_fits_whatever_size_is_said(side: int) -> None:
    within = QSize(320, 240)
    for size in (fitted(side, 1, within), fitted(1, side, within), fitted(side, side, within)):
        assert size.boundedTo(within) == size
        assert size.isValid()
        assert not size.isEmpty()


@pytest.mark.parametrize(
    "latex",
    [
        r"\rule{99999999999em}{1em}",
        r"\rule{1em}{99999999999em}",
        r"\hspace{99999999999em}x",
        r"x\kern 1e20em y",
        r"\Huge\rule{3000000000px}{2px}",
        r"\left(\rule{1em}{2147483648em}\right)",
        r"\raisebox{99999999999em}{x}",
        r"x\hspace{-99999999999em}y",
    ],
)
@pytest.mark.parametrize("around", ["$${}$$", "so ${}$ it is"])
def test_a_formula_that_no_screen_has_room_for_is_shown_as_written(
    latex: str, around: str, qapp: QApplication
) -> None:
    text = around.format(latex)
    view = TranscriptView()
    try:
        view.resize(700, 500)
        view.show()
        reply = Message("m", "c", None, Role.ASSISTANT, MessageStatus.COMPLETE, text_part(text), 0)
        view.set_branch([reply], same_chat=False)
        view.grab()
        view.select_all()
        assert latex in view.selecting.text()
    finally:
        view.host.highlighter.close()
        view.deleteLater()
    # in an exported document it is a picture
    page = picture(latex, display=True, em=20, ink="#000000", sharp=4)
    assert page is None or not page.isNull()


def test_a_picture_that_unpacks_to_gigabytes_is_not_decoded() -> None:
    side = 20_000
    head = struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0)
    rows = zlib.compress(bytes((side // 8 + 1) * side), 1)
    chunks = [
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in ((b"IHDR", head), (b"IDAT", rows), (b"IEND", b""))
    ]
    assert decode(b"\x89PNG\r\n\x1a\n" + b"".join(chunks), QSize(320, 240)) is None
