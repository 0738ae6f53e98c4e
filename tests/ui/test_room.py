"""A message that cannot fit is told before Enter, with what is possible here."""

from __future__ import annotations

from pathlib import Path

import pytest

from headstart.assembly import App
from headstart.core.models.room import Room, larger_context, prompt_limit
from headstart.core.settings.schema import EngineSettings, changed
from tests.conftest import OpenApp, until
from tests.support.driver import ask, use_sampling
from tests.support.plain import plain
from tests.ui.test_attachments import attach, report

LONG = "The river begins in the hills and ends in the sea. " * 400


def set_context(app: App, tokens: int) -> None:
    app.services.preferences.update(engine=changed(EngineSettings(), context_length=tokens))


def said(app: App) -> str:
    row = app.window.room
    return "" if row.isHidden() else plain(row.label.text())


def labels(app: App) -> list[str]:
    return [plain(button.text()) for button in app.window.room.buttons]


def press(app: App, label: str) -> None:
    (button,) = (one for one in app.window.room.buttons if plain(one.text()) == label)
    button.click()


@pytest.mark.words
async def test_it_is_told_before_the_model_is_loaded_and_then_for_certain(
    running: OpenApp,
) -> None:
    async with running() as app:
        use_sampling(app)
        set_context(app, 1024)
        app.window.composer.edit.insertPlainText(LONG)
        assert app.services.local.loader.idle
        await until(lambda: said(app) != "")
        assert "probably too long" in said(app)
        # the model counts it
        await until(lambda: "and there is room for 768" in said(app))
        await until(lambda: app.controllers.room.refuses)
        app.window.composer.button.click()
        await app.controllers.settle()
        # nothing was sent, and the words are there
        assert not app.controllers.open.stored
        assert app.window.composer.text() == LONG
        # a shorter one goes
        app.window.composer.edit.setPlainText("What is a river?")
        await until(lambda: said(app) == "")
        reply = await ask(app, "What is a river?")
        assert reply.text


@pytest.mark.words
async def test_a_larger_context_is_offered_where_the_model_has_one(running: OpenApp) -> None:
    async with running() as app:
        use_sampling(app)
        set_context(app, 1024)
        app.window.composer.edit.insertPlainText(LONG)
        await until(lambda: app.controllers.room.refuses)
        await until(lambda: "Use 8,192 tokens" in labels(app))
        press(app, "Use 8,192 tokens")
        await until(lambda: app.services.preferences.current.engine.context_length == 8192)
        await until(lambda: said(app) == "")
        await until(lambda: "of 8.2k" in plain(app.window.composer.context.text))


@pytest.mark.words
async def test_nothing_impossible_is_offered(running: OpenApp) -> None:
    """The starter model ends at 8,192 tokens, and no other one is here."""
    async with running() as app:
        use_sampling(app)
        app.window.composer.edit.insertPlainText(LONG * 5)
        await until(lambda: app.controllers.room.refuses)
        await app.controllers.settle()
        assert labels(app) == []


@pytest.mark.words
async def test_a_long_chat_can_leave_its_earlier_turns_out(running: OpenApp) -> None:
    async with running() as app:
        use_sampling(app)
        set_context(app, 1024)
        await ask(app, LONG[:2200] + "What is it?")
        app.window.composer.edit.insertPlainText(LONG[:1500])
        await until(lambda: "the chat is too long" in said(app))
        await until(lambda: "Leave out earlier messages" in labels(app))
        press(app, "Leave out earlier messages")
        await until(lambda: said(app) == "")
        assert app.controllers.open.chat.options.when_full == "drop_oldest"
        reply = await ask(app, LONG[:1500])
        assert reply.text


@pytest.mark.words
async def test_pages_of_a_file_are_offered(running: OpenApp, tmp_path: Path) -> None:
    async with running() as app:
        use_sampling(app)
        set_context(app, 1024)
        await attach(app, report(tmp_path, 20))
        await until(lambda: "Choose what fits…" in labels(app))
        press(app, "Choose what fits…")
        await until(lambda: app.window.attachments.pages is not None)
        pages = app.window.attachments.pages
        assert pages is not None
        pages.fitting.click()
        pages.use.click()
        await until(lambda: said(app) == "")


async def test_short_messages_ask_nothing(running: OpenApp) -> None:
    async with running() as app:
        app.window.composer.edit.insertPlainText("What is a river?")
        await app.controllers.settle()
        assert said(app) == ""


def test_an_estimate_is_told_only_when_it_is_clear() -> None:
    limit = prompt_limit(8192)
    assert Room(limit + 500, limit + 500, limit, 8192).fits
    assert not Room(2 * limit, 2 * limit, limit, 8192).fits
    assert not Room(limit + 1, limit + 1, limit, 8192, sure=True).fits
    # a chat that leaves its oldest turns out
    assert Room(5 * limit, 100, limit, 8192, drops=True, sure=True).fits


@pytest.mark.parametrize(
    ("needed", "most", "wanted"),
    [
        (1000, 8192, 4096),
        (5000, 8192, 8192),
        (8000, 8192, 0),
        (21_803, 32_768, 32_768),
        (21_803, 28_000, 28_000),
        (21_803, 0, 0),
    ],
)
def test_the_context_that_is_offered_is_the_least_that_fits(
    needed: int, most: int, wanted: int
) -> None:
    assert larger_context(needed, most) == wanted
