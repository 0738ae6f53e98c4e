"""The page of the local server: its switch, the set-ups, and the list of requests."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Iterator
from functools import partial
from typing import Any

import keyring
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from headstart.assembly import App
from headstart.core.serving.line import LineState, ServedLine
from headstart.core.serving.setups import SETUPS, Target
from headstart.core.told import told
from headstart.ui.settings.request_table import COLUMNS, details, shown
from headstart.ui.settings.server_page import ServerPage
from tests.conftest import OpenApp, until
from tests.support.keyrings import MemoryKeyring
from tests.support.plain import plain
from tests.support.program import Plain, beside, free_port


@pytest.fixture(autouse=True)
def kept_keys(shallow_starter: None) -> Iterator[None]:
    before = keyring.get_keyring()
    keyring.set_keyring(MemoryKeyring())
    yield
    keyring.set_keyring(before)


def is_shown(page: ServerPage, state: str) -> bool:
    lines = page.table.rows.lines
    return bool(lines) and plain(shown(lines[0], "state")) == state


async def page_of(app: App) -> ServerPage:
    settings = app.window.settings.open("server")
    await app.controllers.settle()
    return settings.server


async def test_switch_ask_stop_and_clear(running: OpenApp) -> None:
    async with running() as app:
        port = free_port()
        app.services.serving.change(port=port)
        page = await page_of(app)
        assert not page.address.isVisible()
        assert not page.setups["codex"].isEnabled()
        QTest.mouseClick(page.switch, Qt.MouseButton.LeftButton)
        await until(lambda: page.address.text() == f"http://127.0.0.1:{port}/v1")
        assert page.address.isVisible()
        key = await app.services.serving.key()
        await until(lambda: page.key.text().endswith(key[-4:]))
        assert key not in page.key.text()
        page.show_key_button.click()
        assert page.key.text() == key
        page.copy_address.click()
        assert QApplication.clipboard().text() == page.address.text()

        program = Plain(port, key)
        body = {"messages": [{"role": "user", "content": "A secret word."}], "max_tokens": 3}
        await beside(partial(program.post, "/v1/chat/completions", body))
        await until(partial(is_shown, page, "Done"))
        line = page.table.rows.lines[0]
        page.grab()
        texts = [plain(shown(line, column)) for column in COLUMNS] + [plain(details(line))]
        assert not any("secret" in text for text in texts)
        assert plain(page.totals.text()).startswith("1 request, ")

        long = {**body, "max_tokens": 4000, "stream": True}
        asking = beside(partial(program.ask, "POST", "/v1/chat/completions", long))
        task = asyncio.ensure_future(asking)
        await until(lambda: len(page.table.rows.lines) == 2)
        page.table.choose_row(0)
        await until(page.stop_button.isEnabled)
        page.stop_button.click()
        _, _, data = await task
        assert b"stopped this request" in data
        await until(partial(is_shown, page, "Stopped"))
        page.clear_button.click()
        await until(lambda: not page.table.rows.lines)
        QTest.mouseClick(page.switch, Qt.MouseButton.LeftButton)
        await until(lambda: not page.address.isVisible())


async def test_a_set_up_is_copied_and_tested(running: OpenApp) -> None:
    async with running() as app:
        app.services.serving.change(port=free_port(), on=True)
        page = await page_of(app)
        await until(page.setups["claude-code"].isEnabled)
        page.setups["claude-code"].click()
        sheet = app.window.findChild(type(page.open_setup(SETUPS[0])))
        assert sheet is not None
        sheet.copy_button.click()
        address = app.services.serving.state.address.removesuffix("/v1")
        assert f"ANTHROPIC_BASE_URL={address}" in QApplication.clipboard().text()
        sheet.reject()
        tested = page.open_setup(SETUPS[1])
        tested.test_button.click()
        await until(tested.test_button.isEnabled)
        assert plain(tested.told.text()).startswith("It works.")
        tested.reject()


async def test_a_new_key_is_asked_for_first(running: OpenApp) -> None:
    async with running() as app:
        app.services.serving.change(port=free_port(), on=True)
        page = await page_of(app)
        await until(lambda: page.key.text())
        before = await app.services.serving.key()
        page.new_key_wanted.emit()
        await app.controllers.settle()
        after = await app.services.serving.key()
        assert after != before
        await until(lambda: page.key.text().endswith(after[-4:]))
        # the server that stands at the same port has the new one
        program = Plain(app.services.preferences.current.server.port, before)
        await until(lambda: app.services.serving.state.address)
        assert (await beside(partial(program.ask, "GET", "/v1/models")))[0] == 401


@pytest.mark.logs("the server does not open")
async def test_a_port_that_is_taken_is_told(running: OpenApp) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        async with running() as app:
            page = await page_of(app)
            app.services.serving.change(port=other.getsockname()[1], on=True)
            await until(page.told.text)
            assert "Another program may use this port" in plain(page.told.text())


@pytest.mark.parametrize("setup", SETUPS, ids=lambda setup: setup.code)
@pytest.mark.parametrize("windows", [False, True])
def test_each_set_up_names_address_key_and_model(setup: Any, windows: bool) -> None:
    target = Target("http://127.0.0.1:4141/v1", "hs-abc", "qwen3.5-9b", 32_768, windows)
    text = setup.text(target)
    assert "127.0.0.1:4141" in text
    assert "qwen3.5-9b" in text
    # Zed and llm ask for it, or keep it elsewhere
    assert ("hs-abc" in text) == (setup.code != "zed")
    if setup.place.endswith(".json"):
        json.loads(text)


def test_cells() -> None:
    line = ServedLine(
        1, 0, "Codex", "qwen", LineState.DONE, 9_702, 9_702, 9_000, 0, 9_000, 0, 40, 1.5, 0.31,
        31.4, 20, 15, told("message-changed-unquoted", number=3),
    )  # fmt: skip
    cells = {column: plain(shown(line, column)) for column in COLUMNS}
    assert cells["tokens"] == "9,702"
    assert cells["first"] == "0.3 s"
    assert cells["speed"] == "31"
    assert cells["why"].startswith("message 3 changed")
    assert "15 of 20 draft tokens" in plain(details(line))
    waiting = ServedLine(2, 0, "Codex", "qwen")
    assert [shown(waiting, one) for one in ("tokens", "reused", "why")] == ["", "", ""]
    half = ServedLine(3, 0, "Codex", "qwen", LineState.PROCESSING, prompt=200, done=50)
    assert plain(shown(half, "state")) == "Processing 25 %"
