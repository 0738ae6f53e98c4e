"""The page about models, as a user walks through it: a hub of our own, the real window."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QComboBox, QLabel

from headstart.core.chats.values import MessageStatus
from headstart.core.hub.downloads import Download, DownloadRequest, DownloadState, RemoteFile
from headstart.home import Home
from headstart.ui.models.results import ITEM
from tests.conftest import OpenApp, until
from tests.support.driver import ask, use_sampling
from tests.support.hub_server import Fault, HubServer
from tests.support.models_page import REPO, banner_of, open_page, search, toast_of
from tests.support.plain import plain
from tests.support.sheets import agree, asked, refuse


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
        assert "recommended" in plain(view.details.reason.text()).lower()
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
        assert page.installed.model.title.text() == "Small 1B"
        QTest.mouseClick(page.installed.model.use, Qt.MouseButton.LeftButton)
        await app.controllers.settle()
        # back in the chat, with the new model
        assert not app.window.pages.on_models
        assert "Small 1B" in app.window.header.pill.full_text
        reply = await ask(app, "Hello")
        assert reply.status is not MessageStatus.FAILED
        assert reply.model == "Small 1B"


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
        assert "downloading" in plain(app.window.pages.line)
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
        hint = plain(open_page(app).discover.hint.text())
        assert ("reports an error" in hint) or ("no connection" in hint)
        view = open_page(app).discover
        assert view.retry.isVisible()
        # what is known without it stays to be seen
        view.opened.emit(view.results.index(0).data(ITEM).repo)
        await app.controllers.settle()
        assert "GB" in plain(view.details.about.text())
        assert view.details.retry.isVisible()
        if problem is not None:
            hub.api_fault = None
            view.retry.click()
            await app.controllers.settle()
            assert not view.retry.isVisible()
            names = [view.results.index(row).data() for row in range(view.results.rowCount())]
            assert any("Small-1B-GGUF" in str(name) for name in names)
        app.window.escape()
        assert (await ask(app, "Hello")).status is not MessageStatus.FAILED


async def test_too_large_is_said_before_it_is_downloaded(running: OpenApp, hub: HubServer) -> None:
    async with running() as app:
        await search(app, "maker/Large-70B-GGUF")
        labels = open_page(app).discover.details.variants.findChildren(QLabel)
        words = [plain(label.text()) for label in labels if isinstance(label, QLabel)]
        assert any(word.endswith("too large") for word in words)


async def test_a_gate_asks_for_a_token_which_opens_it(
    running: OpenApp, hub: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: dict[str, str | None] = {}
    keychain = "headstart.storage.adapters.keychain.Keychain"
    monkeypatch.setattr(f"{keychain}.set", lambda _s, name, key: kept.update({name: key}))
    monkeypatch.setattr(f"{keychain}.get", lambda _s, name: kept.get(name))
    async with running() as app:
        page = open_page(app)
        await search(app, "maker/Gated-GGUF")
        details = page.discover.details
        assert details.token.isVisible()
        assert details.details is not None
        details.variants.chosen.emit(details.details.variants[0])
        await until(lambda: "accept their licence" in plain(banner_of(app).text()))
        # a wrong one is not kept
        details.token.field.setText("hf_0")
        QTest.keyClick(details.token.field, Qt.Key.Key_Return)
        await until(lambda: "does not know this token" in plain(banner_of(app).text()))
        assert not kept
        details.token.field.setText("hf_1")
        QTest.keyClick(details.token.field, Qt.Key.Key_Return)
        await app.controllers.settle()
        assert list(kept.values()) == ["hf_1"]
        assert details.token.field.text() == ""
        assert not toast_of(app).isHidden()
        # no file of ours has it
        # where they were saved by now
        saved = app.home.settings.read_bytes() if app.home.settings.exists() else b""
        assert b"hf_1" not in saved
        (failed,) = app.services.downloads.all
        app.controllers.downloads.resume(failed.id)
        await until(lambda: app.services.downloads.all[0].state is DownloadState.DONE)


async def test_what_is_on_its_way_or_here_says_so_and_stopped_ones_are_counted(
    running: OpenApp, hub: HubServer
) -> None:
    hub.rate = 20e6
    async with running() as app:
        await search(app, REPO)
        page = open_page(app)
        (get,) = page.discover.details.variants.buttons
        assert (plain(get.text()), get.isEnabled()) == ("Get", True)
        QTest.mouseClick(get, Qt.MouseButton.LeftButton)
        await until(lambda: plain(get.text()) == "Downloading")
        assert not get.isEnabled()
        await until(lambda: app.services.downloads.all[0].received > 1_000_000)
        app.controllers.downloads.pause(app.services.downloads.all[0].id)
        await until(lambda: plain(get.text()) == "Stopped")
        assert plain(app.window.pages.line) == "1 download stopped"
        hub.rate = 0
        app.controllers.downloads.resume(app.services.downloads.all[0].id)
        await until(lambda: plain(get.text()) == "Here")


async def test_much_is_not_thrown_away_without_a_question(running: OpenApp, hub: HubServer) -> None:
    cancelled: list[str] = []
    async with running() as app:
        row = open_page(app).running
        row.cancelled.disconnect()
        row.cancelled.connect(cancelled.append)
        wanted = DownloadRequest(
            "a/b", "c", "Big", (RemoteFile("f.gguf", 4_000_000_000, "x"),), "f.gguf"
        )
        row.show_download(Download(wanted, DownloadState.RUNNING, 2_000_000_000), first=True)
        row.cancel.click()
        question = asked(row)
        assert question is not None
        assert "2.0 GB" in plain(question.about.text())
        refuse(row)
        assert not cancelled
        await until(lambda: asked(row) is None)
        row.cancel.click()
        agree(row)
        assert cancelled == [wanted.id]
        row.show_download(Download(wanted, DownloadState.QUEUED, 1000), first=True)
        row.cancel.click()
        assert cancelled == [wanted.id] * 2


async def test_a_filter_is_a_search_and_the_way_back_needs_no_typing(
    running: OpenApp, hub: HubServer
) -> None:
    async with running() as app:
        view = open_page(app).discover
        await app.controllers.settle()
        suggested = view.results.rowCount()
        assert not view.again.isVisible()
        box = view.row.findChild(QComboBox)
        assert isinstance(box, QComboBox)
        box.activated.emit(box.currentIndex())
        await app.controllers.settle()
        assert plain(view.heading.text()) == "Found"
        view.again.click()
        assert view.results.rowCount() == suggested
        assert plain(view.heading.text()) == "For this computer"


async def test_where_one_pane_fits_arrows_walk_and_enter_opens(
    running: OpenApp, hub: HubServer
) -> None:
    async with running() as app:
        page = open_page(app)
        app.window.resize(720, 600)
        page.tabs.setCurrentIndex(1)
        await app.controllers.settle()
        view = page.installed
        view.list.setFocus()
        QTest.keyClick(view.list, Qt.Key.Key_Home)
        assert view.list.isVisible()
        assert not view.model.isVisible()
        QTest.keyClick(view.list, Qt.Key.Key_Return)
        assert view.model.isVisible()
        assert not view.list.isVisible()
        view.back.click()
        assert view.list.isVisible()
        assert view.list.currentRow() == 0


async def test_a_token_is_forgotten_in_the_settings(
    running: OpenApp, hub: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: dict[str, str | None] = {}
    keychain = "headstart.storage.adapters.keychain.Keychain"
    monkeypatch.setattr(f"{keychain}.set", lambda _s, name, key: kept.update({name: key}))
    monkeypatch.setattr(f"{keychain}.forget", lambda _s, name: kept.pop(name))
    async with running() as app:
        app.window.commands.run("app.settings")
        assert app.window.settings.page is not None
        page = app.window.settings.page.models
        page.token.entered.emit("hf_1")
        await app.controllers.settle()
        assert "ada" in plain(page.checked.text())
        assert list(kept.values()) == ["hf_1"]
        assert not page.token.forget.isHidden()
        page.token.forget.click()
        await app.controllers.settle()
        assert not kept
        assert page.token.forget.isHidden()
        assert not app.services.preferences.current.library.has_token
