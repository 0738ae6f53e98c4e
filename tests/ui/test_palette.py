"""One field leads to chats, messages, models and commands."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from headstart.assembly import App
from headstart.core.text.matching import score
from headstart.ui.shell.palette import Palette, PaletteEntry
from tests.conftest import OpenApp, until
from tests.support.plain import plain, type_words
from tests.ui.test_searching import store


def test_beginnings_of_words_come_first_and_every_word_counts() -> None:
    titles = ["New chat", "A chat about news", "Renew the lease", "Settings"]
    found = sorted(
        (points, title) for title in titles if (points := score("new", title)) is not None
    )
    assert [title for _, title in found] == ["New chat", "A chat about news", "Renew the lease"]
    assert score("chat new", "New chat") is not None
    assert score("chat old", "New chat") is None
    assert score("", "Anything") is not None


def opened(app: App) -> Palette:
    app.window.commands.run("app.palette")
    palette = app.window.palette_opener.palette
    assert palette is not None
    assert palette.isVisible()
    return palette


def entries(palette: Palette) -> list[PaletteEntry]:
    rows = range(palette.entries.rowCount())
    found = [palette.entries.entry(palette.entries.index(row)) for row in rows]
    return [entry for entry in found if entry is not None]


async def test_it_leads_to_chats_messages_models_and_commands(running: OpenApp) -> None:
    async with running() as app:
        chat, _messages = await store(app, "Rivers of the north", "Name a river", "The Nile.")
        palette = opened(app)
        await app.controllers.settle()
        assert {plain(entry.kind) for entry in entries(palette)} >= {"Chat", "Command"}
        QTest.keyClicks(palette.edit, "rivers nor")
        assert entries(palette)[0].title == "Rivers of the north"
        QTest.keyClick(palette.edit, Qt.Key.Key_Return)
        await until(lambda: app.controllers.open.id == chat.id)
        assert not palette.isVisible()
        palette = opened(app)
        QTest.keyClicks(palette.edit, "nile")
        await until(lambda: any(plain(entry.kind) == "Message" for entry in entries(palette)))
        (message,) = (entry for entry in entries(palette) if plain(entry.kind) == "Message")
        assert message.note == "Rivers of the north"
        message.run()
        await until(lambda: app.window.transcript.host.finding.query == "Nile")
        await app.controllers.settle()
        palette = opened(app)
        type_words(palette.edit, "new chat")
        assert plain(entries(palette)[0].kind) == "Command"
        QTest.keyClick(palette.edit, Qt.Key.Key_Return)
        await until(lambda: app.controllers.open.id != chat.id)
        palette = opened(app)
        await app.controllers.settle()
        palette = opened(app)
        QTest.keyClicks(palette.edit, "smol")
        assert [plain(entry.kind) for entry in entries(palette)] == ["Model"]


async def test_keys_go_through_it_and_escape_leaves(running: OpenApp) -> None:
    async with running() as app:
        palette = opened(app)
        QTest.keyClick(palette.edit, Qt.Key.Key_Down)
        assert palette.list.currentIndex().row() == 1
        QTest.keyClick(palette.edit, Qt.Key.Key_Up)
        QTest.keyClick(palette.edit, Qt.Key.Key_Up)
        assert palette.list.currentIndex().row() == 0
        QTest.keyClick(palette.edit, Qt.Key.Key_Escape)
        assert not palette.isVisible()
