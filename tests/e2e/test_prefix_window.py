"""Prefixes as the user meets them: restarts, typing, the panel, private chats."""

from __future__ import annotations

import asyncio
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest
from PySide6.QtTest import QTest

from headstart.assembly import App
from headstart.chat.answering import battery
from headstart.chat.changes import AheadState
from headstart.core.settings.prefix import PrefixSettings
from headstart.core.settings.schema import SamplingChoice
from headstart.home import Home
from headstart.ui.transcript.words import figures_of
from tests.conftest import OpenApp, until
from tests.support.driver import ask, reply_done, stored_chat, use_sampling
from tests.support.prefix_engine import prose

pytestmark = pytest.mark.usefixtures("shallow_starter")

LONG = "Please remember this: " + prose(300)


def _short(app: App) -> None:
    use_sampling(app, SamplingChoice(temperature=0.0, max_tokens=8))


async def _saved(app: App) -> None:
    """Wait until what was read is on disk."""

    async def written() -> bool:
        use = await app.services.prefixes.use()
        return use is not None and use.total > 0

    await until(written)


async def test_a_chat_that_is_opened_after_a_restart_is_restored_before_anything_is_asked(
    running: OpenApp,
) -> None:
    async with running() as app:
        _short(app)
        await ask(app, LONG)
        await _saved(app)
    async with running() as app:
        _short(app)
        (chat,) = await app.services.chat_list.summaries()
        app.window.open_chat(chat.id)
        told: list[int] = []
        app.services.broadcast.on(AheadState, lambda _change: told.append(1))
        await until(lambda: told)
        answer = await ask(app, "And now?")
        assert answer.stats is not None
        stats = answer.stats
        assert stats.prefix.from_disk > 300
        assert stats.prompt_tokens - stats.reused_tokens < 16
        panel = app.window.inspector.prefix
        assert "from disk" in panel.told.text()
        assert panel.meter.value() == stats.reused_tokens
        await until(lambda: "MB" in panel.values["inspector.chat-on-disk"].text())
        assert "of 8.0 GB" in panel.values["inspector.all-chats"].text()


async def test_what_is_typed_is_read_meanwhile_and_the_composer_says_so(running: OpenApp) -> None:
    async with running() as app:
        _short(app)
        await ask(app, "Hello there")
        QTest.keyClicks(app.window.composer.edit, "Tell me a long story about the river and the ")
        label = app.window.composer.ahead
        await until(label.isVisible)
        assert "processed" in label.full_text
        QTest.keyClicks(app.window.composer.edit, "sea")
        app.window.composer.button.click()
        await until(lambda: app.controllers.reply.writing)
        assert not label.isVisible()
        answer = await reply_done(app)
        assert answer.stats is not None
        assert answer.stats.prefix.ahead > 5


async def test_reading_ahead_can_be_switched_off_and_pauses_on_a_low_battery(
    running: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running() as app:
        _short(app)
        ahead = app.services.local.ahead
        assert await ahead.allowed()
        app.services.preferences.update(prefix=PrefixSettings(prefill_ahead=False))
        assert not await ahead.allowed()
        assert app.window.composer.edit.placeholderText() == "Ask anything"
        await ask(app, "Hello there")
        QTest.keyClicks(app.window.composer.edit, "Tell me a long story about the river and the ")
        await asyncio.sleep(0.5)
        assert not app.window.composer.ahead.isVisible()
        app.services.preferences.update(prefix=PrefixSettings())
        monkeypatch.setattr(battery, "ASK_SECONDS", 0.0)
        state = SimpleNamespace(power_plugged=False, percent=15)
        monkeypatch.setattr(psutil, "sensors_battery", lambda: state, raising=False)
        assert not await ahead.allowed()
        state.power_plugged = True
        assert await ahead.allowed()


async def test_a_private_chat_leaves_nothing_on_disk(
    running: OpenApp, home: Home, logged: None
) -> None:
    """Neither in chats nor in KV state, traces, profiles, settings and logs."""
    secret = "xylophone-marmalade"
    async with running() as app:
        _short(app)
        app.window.new_private_chat()
        await app.controllers.settle()
        assert app.window.header.private.isVisible()
        assert app.window.header.title.full_text == "New private chat"
        answer = await ask(app, f"{secret} {LONG}")
        assert answer.text
        assert app.controllers.open.private
        assert app.controllers.open.stored
        assert app.window.sidebar.model.data(app.window.sidebar.model.index(0)) == ("Private")
        again = await ask(app, "And now?")
        assert again.stats is not None
        assert again.stats.reused_tokens > 300
        await app.services.chat_list.rename(stored_chat(app) or "", secret)
        assert "nothing of this chat" in app.window.inspector.prefix.note.text()
    files = [path for path in home.path.rglob("*") if path.is_file()]
    for path in files:
        assert secret.encode() not in path.read_bytes(), path
    assert {home.database, home.log} <= set(files)
    assert list(home.prefixes.rglob("*.kv")) == []
    async with running() as app:
        assert await app.services.chat_list.summaries() == []


async def test_a_chat_can_be_kept_off_the_disk(running: OpenApp, home: Home) -> None:
    async with running() as app:
        _short(app)
        await ask(app, LONG)
        await _saved(app)
        app.window.inspector.prefix.keep.click()
        await app.controllers.settle()
        await until(lambda: list(home.prefixes.rglob("*.kv")) == [])
        await ask(app, "And now?")
    assert list(home.prefixes.rglob("*.kv")) == []
    async with running() as app:
        (chat,) = await app.services.chat_list.summaries()
        app.window.open_chat(chat.id)
        await until(lambda: stored_chat(app) == chat.id)
        await app.controllers.settle()
        assert not app.window.inspector.prefix.keep.isChecked()


async def test_sizes_are_listed_by_chat_and_cleared(running: OpenApp, home: Home) -> None:
    async with running() as app:
        _short(app)
        await ask(app, LONG)
        await _saved(app)
        app.window.sizes.open()
        window = app.window.sizes.window
        assert window is not None
        await until(lambda: window.list.topLevelItemCount() == 1)
        item = window.list.topLevelItem(0)
        assert item is not None
        assert item.text(0).startswith("Remember this") or "remember" in item.text(0).lower()
        assert item.text(1).endswith("MB")
        window.clear_all.click()
        await until(lambda: window.list.topLevelItemCount() == 0)
        await until(lambda: list(home.prefixes.rglob("*.kv")) == [])
        window.accept()


async def test_a_changed_system_prompt_is_named_as_the_reason(running: OpenApp) -> None:
    async with running() as app:
        _short(app)
        await ask(app, LONG)
        app.window.inspector.system_prompt.setPlainText("Answer in verse.")
        app.window.inspector.flush()
        await app.controllers.settle()
        answer = await ask(app, "And now?")
        assert answer.stats is not None
        again = dict(figures_of(answer.stats))["Recomputed"]
        begin = f"{answer.stats.prefix.recomputed:,} tokens: the system prompt changed"
        assert again.startswith(begin)
        widget = app.window.transcript.widget_of(answer.id)
        assert widget is not None
        assert "the system prompt changed" in widget.figures.accessibleDescription()
        assert "recomputed: the system prompt changed" in app.window.inspector.prefix.told.text()


@pytest.mark.words
async def test_the_tail_is_on_disk_when_the_program_ends(running: OpenApp, home: Home) -> None:
    async with running() as app:
        _short(app)
        await ask(app, "Hello there")
        # less than one chunk: nothing is written while the chat is open
        await asyncio.sleep(0.3)
        assert list(home.prefixes.rglob("*.kv")) == []
    (file,) = home.prefixes.rglob("*.kv")
    assert isinstance(file, Path)
