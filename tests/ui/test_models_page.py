"""The page about models, as a user walks through it: a hub of our own, the real window."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from headstart.core.downloads import DownloadState
from headstart.core.values import MessageStatus
from headstart.home import Home
from tests.conftest import OpenApp, until
from tests.support.driver import ask, use_sampling
from tests.support.hub_server import Fault, HubServer
from tests.support.models_page import REPO, open_page, search


async def test_nothing_is_asked_of_the_hub_before_the_user_does(
    running: OpenApp, hub: HubServer
) -> None:
    async with running() as app:
        page = open_page(app)
        await app.controllers.settle()
        page.discover.row.field.setText("qwen")
        await app.controllers.settle()
        # a list for this computer stands there all the same
        assert page.discover.results.rowCount() >= 3
    assert hub.requests == []


async def test_from_a_search_to_a_reply_with_what_was_downloaded(
    running: OpenApp, hub: HubServer
) -> None:
    async with running() as app:
        use_sampling(app)
        page = open_page(app)
        assert await search(app, "small") == ["Small-1B-GGUF"]
        view = page.discover
        QTest.mouseClick(
            view.list.viewport(),
            Qt.MouseButton.LeftButton,
            pos=view.list.visualRect(view.results.index(0)).center(),
        )
        await app.controllers.settle()
        assert view.details.details is not None
        (variant,) = view.details.details.variants
        assert "recommended" in view.details.reason.text().lower()
        view.details.variants.chosen.emit(variant)
        await app.controllers.settle()
        done: list[str] = []
        app.controllers.downloads.done.connect(lambda one: done.append(one.wanted.title))
        await until(lambda: done)
        assert done == ["Small-1B Q4_1"]
        await app.controllers.settle()
        page.tabs.setCurrentIndex(1)
        await until(lambda: page.installed.list.count() == 2)
        page.installed.list.setCurrentRow(1)
        await app.controllers.settle()
        assert page.installed.model.title.text() == "Small-1B-Q4_1"
        QTest.mouseClick(page.installed.model.use, Qt.MouseButton.LeftButton)
        await app.controllers.settle()
        # back in the chat, with the new model
        assert not app.window.pages.on_models
        assert "Small-1B" in app.window.header.pill.full_text
        reply = await ask(app, "Hello")
        assert reply.status is not MessageStatus.FAILED
        assert reply.model == "Small-1B-Q4_1"


async def test_a_restart_in_the_middle_goes_on_by_itself(
    running: OpenApp, hub: HubServer, home: Home
) -> None:
    hub.rate = 30e6
    async with running() as app:
        await search(app, REPO)
        details = open_page(app).discover.details.details
        assert details is not None
        app.controllers.getting.get(details, details.variants[0])
        await until(lambda: sum(one.received for one in app.services.downloads.all) > 10_000_000)
        assert "downloading" in app.window.pages.line
    hub.rate = 0
    async with running() as app:
        app.controllers.wake()
        await until(lambda: [one.state for one in app.services.downloads.all] == ["done"])
        (done,) = app.services.downloads.all
        assert done.state is DownloadState.DONE
    assert hub.sent < 1.3 * done.wanted.size


@pytest.mark.parametrize("problem", [Fault("status", 0, 503), None])
async def test_a_hub_that_is_not_there_is_said_and_nothing_else_suffers(
    running: OpenApp, hub: HubServer, problem: Fault | None
) -> None:
    hub.api_fault = problem
    if problem is None:
        hub.close()
    async with running() as app:
        use_sampling(app)
        # what needs no network stands there instead
        assert "Small-1B-GGUF" not in await search(app, "small")
        assert open_page(app).discover.results.rowCount() >= 3
        hint = open_page(app).discover.hint.text()
        assert ("problem of its own" in hint) or ("no connection" in hint)
        app.window.escape()
        assert (await ask(app, "Hello")).status is not MessageStatus.FAILED


async def test_too_large_is_said_before_it_is_downloaded(running: OpenApp, hub: HubServer) -> None:
    async with running() as app:
        await search(app, "maker/Large-70B-GGUF")
        labels = open_page(app).discover.details.variants.findChildren(QLabel)
        words = [label.text() for label in labels if isinstance(label, QLabel)]
        assert any(word.endswith("too large") for word in words)


async def test_a_gate_asks_for_a_token_which_opens_it(
    running: OpenApp, hub: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: dict[str, str | None] = {}
    keychain = "headstart.storage.keychain.Keychain"
    monkeypatch.setattr(f"{keychain}.set", lambda _s, name, key: kept.update({name: key}))
    monkeypatch.setattr(f"{keychain}.get", lambda _s, name: kept.get(name))
    async with running() as app:
        page = open_page(app)
        await search(app, "maker/Gated-GGUF")
        details = page.discover.details
        assert details.token.isVisible()
        assert details.details is not None
        details.variants.chosen.emit(details.details.variants[0])
        await until(lambda: "accept their licence" in app.window.pages.banner.text())
        details.token.setText("hf_1")
        QTest.keyClick(details.token, Qt.Key.Key_Return)
        await app.controllers.settle()
        assert list(kept.values()) == ["hf_1"]
        assert details.token.text() == ""
        # no file of ours has it
        assert b"hf_1" not in app.home.settings.read_bytes()
        (failed,) = app.services.downloads.all
        app.controllers.downloads.resume(failed.id)
        await until(lambda: app.services.downloads.all[0].state is DownloadState.DONE)
