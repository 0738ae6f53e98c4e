"""The page about models, as a user walks through it: a hub of our own, the real window."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from huggingface_hub import constants
from PySide6.QtCore import Qt, QUrl
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel

from headstart.assembly import App
from headstart.core.downloads import DownloadState
from headstart.core.model_ref import ModelRef
from headstart.core.settings import ModelOptions
from headstart.core.values import MessageStatus
from headstart.home import Home
from headstart.ui.models.card_window import CardBrowser, html_of
from headstart.ui.models.defaults_window import DefaultsWindow
from headstart.ui.models.page import ModelsPage
from headstart.ui.models.results import ITEM
from tests.conftest import OpenApp, until
from tests.support.driver import ask, begin, reply_done, use_sampling
from tests.support.gguf_files import make_gguf
from tests.support.hub_server import Fault, HubServer, Repo

REPO = "maker/Small-1B-GGUF"
# small weights, but no computer has room for its keys and values
WIDE = {
    "llama.block_count": 80,
    "llama.embedding_length": 65_536,
    "llama.attention.head_count": 64,
    "llama.attention.head_count_kv": 64,
}


@pytest.fixture
def hub(starter: ModelRef, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    weights = starter.path.read_bytes()
    gguf = {"total": 1_000_000_000, "architecture": "llama", "context_length": 8192}
    server = HubServer(
        {
            # other bytes than those of the starter model, of which nothing is downloaded
            REPO: Repo({"Small-1B-Q4_1.gguf": weights + bytes(64)}, {"gguf": gguf}),
            "maker/Large-70B-GGUF": Repo(
                {"Large-70B-Q4_K_M.gguf": make_gguf(WIDE, weights=1 << 20)},
                {"gguf": {"total": 70_000_000_000}},
            ),
            "maker/Gated-GGUF": Repo({"g-Q8_0.gguf": make_gguf()}, token="hf_1", gated=True),
        }
    )
    address = f"{server.endpoint}/{{repo_id}}/resolve/{{revision}}/{{filename}}"
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", address)
    monkeypatch.setattr(constants, "ENDPOINT", server.endpoint)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "hub"))
    yield server
    server.close()


def open_page(app: App) -> ModelsPage:
    app.window.commands.run("models.show")
    page = app.window.pages.models
    assert page is not None
    return page


async def search(app: App, words: str) -> list[str]:
    view = open_page(app).discover
    view.row.field.setText(words)
    QTest.keyClick(view.row.field, Qt.Key.Key_Return)
    await app.controllers.settle()
    rows = range(view.results.rowCount())
    return [view.results.index(row).data(ITEM).name for row in rows]


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
        await until(lambda: "accept their licence" in app.window.banner.text())
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


async def test_a_model_gets_a_name_notes_and_settings_of_its_own(
    running: OpenApp, hub: HubServer, tmp_path: Path
) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "plain.gguf").write_bytes(make_gguf())
    # not as if it were still being written
    os.utime(folder / "plain.gguf", (1e9, 1e9))
    async with running() as app:
        page = open_page(app)
        app.controllers.installed.add_folder(str(folder))
        await app.controllers.settle()
        page.tabs.setCurrentIndex(1)
        page.installed.list.setCurrentRow(1)
        await app.controllers.settle()
        view = page.installed.model
        view.title.setText("My poet")
        view.title.editingFinished.emit()
        view.notes.setPlainText("rhymes well")
        view.flush()
        await app.controllers.settle()
        assert page.installed.list.item(1).text().startswith("My poet")
        view.options.click()
        window = page.findChild(DefaultsWindow)
        assert window is not None
        window.numbers["temperature"].setProperty("value", 1.25)
        window.prompt.setPlainText("Answer in verse.")
        window.reject()
        (own,) = app.services.preferences.current.models
        assert own.system_prompt == "Answer in verse."
        assert own.sampling is not None
        assert own.sampling.temperature == 1.25
        (folder / "plain.gguf").rename(folder / "other name.gguf")
        app.controllers.installed.look()
        await app.controllers.settle()
        # the settings went with it
        (moved,) = app.services.preferences.current.models
        assert moved == ModelOptions(
            key=str(folder / "other name.gguf"),
            system_prompt="Answer in verse.",
            sampling=own.sampling,
        )
    async with running() as app:
        found = await app.services.installed.look()
        assert [(one.ref.name, one.notes) for one in found[1:]] == [("My poet", "rhymes well")]


async def test_models_are_loaded_and_unloaded_and_what_they_take_is_said(
    running: OpenApp, hub: HubServer
) -> None:
    async with running() as app:
        page = open_page(app)
        page.tabs.setCurrentIndex(1)
        await app.controllers.settle()
        page.installed.list.setCurrentRow(0)
        QTest.mouseClick(page.installed.model.load, Qt.MouseButton.LeftButton)
        await until(lambda: "in memory" in page.installed.total.text())
        assert "loaded" in page.installed.list.item(0).text()
        assert page.installed.model.load.text() == "Unload"
        QTest.mouseClick(page.installed.model.load, Qt.MouseButton.LeftButton)
        await until(lambda: "in memory" not in page.installed.total.text())
        # a chat loads it again
        app.window.escape()
        use_sampling(app)
        assert (await ask(app, "Hello")).status is not MessageStatus.FAILED


async def test_a_reply_is_regenerated_with_another_model(
    running: OpenApp, hub: HubServer, tmp_path: Path, starter: ModelRef
) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "second.gguf").write_bytes(starter.path.read_bytes() + bytes(64))
    async with running() as app:
        use_sampling(app)
        app.controllers.installed.add_folder(str(folder))
        await app.controllers.settle()
        first = await ask(app, "Hello")
        second = next(one for one in await app.services.installed.look() if one.source == "folder")
        app.controllers.conversation.regenerate(first.id, second.ref)
        await app.controllers.settle()
        again = await reply_done(app)
        assert (first.model, again.model) == (starter.name, "second")
        assert again.versions == 2
        # the chat stays with its own
        assert starter.name in app.window.header.pill.toolTip()


async def test_the_menu_of_models_finds_what_is_typed(
    running: OpenApp, hub: HubServer, tmp_path: Path
) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    for number in range(8):
        (folder / f"Model-{number}.gguf").write_bytes(make_gguf(seed=number))
    (folder / "eye.gguf").write_bytes(make_gguf({"general.type": "mmproj"}))
    async with running() as app:
        app.controllers.installed.add_folder(str(folder))
        await app.controllers.settle()
        app.controllers.models.list()
        await app.controllers.settle()
        menu = app.window.header.pill.choices
        names = [action.text() for action in menu.actions() if action.isCheckable()]
        assert len(names) == 9
        assert not any("eye" in name for name in names)
        assert menu.field is not None
        menu.field.setText("model 7")
        shown = [one.text() for one in menu.actions() if one.isCheckable() and one.isVisible()]
        assert len(shown) == 1
        assert shown[0].startswith("Model-7")


async def test_an_empty_chat_suggests_a_model_while_only_the_starter_is_here(
    running: OpenApp, hub: HubServer
) -> None:
    async with running() as app:
        app.controllers.wake()
        await app.controllers.settle()
        line = app.window.suggestion
        assert line.isVisible()
        assert "suits this computer" in line.text.full_text
        use_sampling(app)
        await begin(app, "Hello")
        assert not line.isVisible()
        await reply_done(app)
        app.window.new_chat()
        await app.controllers.settle()
        assert line.isVisible()
        line.dismiss.click()
        assert not line.isVisible()
    assert hub.requests == []


def test_a_model_card_fetches_nothing_and_runs_nothing(qapp: QApplication) -> None:
    text = (
        "# Hi\n\n![x](https://example.com/x.png)\n\n<script>alert(1)</script>\n\n[l](file:///etc)\n"
    )
    html = html_of(text)
    assert "<img" not in html
    assert "<script" not in html
    browser = CardBrowser()
    assert browser.loadResource(2, QUrl("https://example.com/x.png")) is None
    browser.setHtml(html + '<img src="https://example.com/y.png">')
    assert "Hi" in browser.toPlainText()
