"""Models that are here, in the window: names, settings, memory, menus, deleting."""

from __future__ import annotations

import os
from pathlib import Path

from PySide6.QtCore import Qt, QUrl
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from headstart.core.chats.values import MessageStatus
from headstart.core.models.ref import ModelRef
from headstart.core.settings.schema import ModelOptions
from headstart.ui.kit.sheet import sheet_over
from headstart.ui.models.card_window import CardBrowser, html_of
from headstart.ui.models.choices_menu import ChoicesMenu
from headstart.ui.overrides_window import OverridesWindow
from tests.conftest import OpenApp, until
from tests.support.driver import ask, begin, reply_done, use_sampling
from tests.support.gguf_files import make_gguf
from tests.support.hub_server import HubServer
from tests.support.models_page import banner_of, open_page, search
from tests.support.plain import plain
from tests.support.sheets import agree, asked


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
        window = sheet_over(app.window)
        assert isinstance(window, OverridesWindow)
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
        await until(lambda: "in memory" in plain(page.installed.total.text()))
        said = page.installed.list.item(0).data(Qt.ItemDataRole.AccessibleTextRole)
        assert "in memory" in plain(said)
        assert plain(page.installed.model.load.text()) == "Unload"
        QTest.mouseClick(page.installed.model.load, Qt.MouseButton.LeftButton)
        await until(lambda: "in memory" not in plain(page.installed.total.text()))
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
        app.window.sending.regenerate_with(first.id)

        def menus() -> list[ChoicesMenu]:
            found = app.window.findChildren(ChoicesMenu)
            return [one for one in found if isinstance(one, ChoicesMenu) and one.isVisible()]

        await until(menus)
        (menu,) = menus()
        action = next(one for one in menu.actions() if one.text().startswith("second"))
        menu.close()
        action.trigger()
        await until(lambda: app.controllers.reply.writing)
        again = await reply_done(app)
        assert (first.model, again.model) == ("SmolLM2 135M", "second")
        assert again.versions == 2
        # the chat stays with its own
        assert "SmolLM2 135M" in app.window.header.pill.toolTip()


async def test_deleting_asks_first_and_a_reply_goes_on_meanwhile(
    running: OpenApp, hub: HubServer, tmp_path: Path
) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    path = folder / "old.gguf"
    path.write_bytes(make_gguf())
    os.utime(path, (1e9, 1e9))
    async with running() as app:
        use_sampling(app)
        app.controllers.installed.add_folder(str(folder))
        page = open_page(app)
        await app.controllers.settle()
        page.tabs.setCurrentIndex(1)
        page.installed.list.setCurrentRow(1)
        await app.controllers.settle()
        app.window.escape()
        await begin(app, "Hello")
        open_page(app)
        page.installed.model.remove.click()

        await until(lambda: asked(page) is not None)
        question = asked(page)
        assert question is not None
        # Enter does no harm
        assert question.no.isDefault()
        assert (await reply_done(app)).status is not MessageStatus.FAILED
        assert plain(question.yes.text()) == "Delete"
        agree(page)
        await app.controllers.settle()
        assert not path.exists()
        assert page.installed.list.count() == 1


async def test_what_goes_wrong_is_told_where_the_user_looks(
    running: OpenApp, hub: HubServer
) -> None:
    async with running() as app:
        await search(app, "maker/Gated-GGUF")
        page = open_page(app)
        page.discover.details.drafts.button.click()
        await app.controllers.settle()
        assert "licence" in plain(page.discover.details.drafts.hint.text())
        assert page.discover.details.drafts.button.isEnabled()
        details = page.discover.details.details
        assert details is not None
        app.controllers.getting.get(details, details.variants[0])
        await until(lambda: "accept their licence" in plain(banner_of(app).text()))
        assert banner_of(app).isVisible()
        assert not app.window.banner.isVisible()


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
        app.controllers.model_list.list()
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
        line = app.window.note
        assert line.isVisible()
        assert plain(line.links[0].text()).startswith("Get ")
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
