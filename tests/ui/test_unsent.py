"""What was typed and not sent is there after a restart; of private chats nothing is kept."""

from __future__ import annotations

from headstart.assembly import App
from tests.conftest import OpenApp, until
from tests.support.driver import ask, use_sampling
from tests.ui.test_searching import store


async def loaded(app: App, show: bool = True) -> None:
    """As the start does it."""
    app.controllers.unsent.load(show)
    await app.controllers.settle()


async def test_each_chat_has_its_text_again(running: OpenApp) -> None:
    async with running() as app:
        first, _ = await store(app, "Rivers", "Name a river")
        second, _ = await store(app, "Lakes", "Name a lake")
        app.window.open_chat(first.id)
        await app.controllers.settle()
        app.window.composer.edit.setPlainText("And the Nile?")
        app.window.open_chat(second.id)
        await app.controllers.settle()
        assert app.window.composer.text() == ""
        app.window.new_chat()
        app.window.composer.edit.setPlainText("Something new")
    async with running() as app:
        await loaded(app)
        # the new chat that was begun
        await until(lambda: app.window.composer.text() == "Something new")
        assert not app.controllers.open.stored
        app.window.open_chat(first.id)
        await app.controllers.settle()
        assert app.window.composer.text() == "And the Nile?"
        app.window.open_chat(second.id)
        await app.controllers.settle()
        assert app.window.composer.text() == ""
        # it is written over, and then forgotten
        app.window.open_chat(first.id)
        await app.controllers.settle()
        app.window.composer.edit.clear()
    async with running() as app:
        await loaded(app, show=False)
        app.window.open_chat(first.id)
        await app.controllers.settle()
        assert app.window.composer.text() == ""


async def test_what_was_sent_is_not_unsent_any_more(running: OpenApp) -> None:
    async with running() as app:
        use_sampling(app)
        app.window.composer.edit.setPlainText("Name a river")
        app.controllers.unsent.flush()
        await app.controllers.settle()
        assert await app.services.unsent.load()
        await ask(app, "Name a river")
        app.controllers.unsent.flush()
        await app.controllers.settle()
        assert await app.services.unsent.load() == []


async def test_nothing_of_a_private_chat_is_kept(running: OpenApp) -> None:
    async with running() as app:
        app.window.new_private_chat()
        app.window.composer.edit.setPlainText("A secret")
        app.controllers.unsent.flush()
        await app.controllers.settle()
        assert await app.services.unsent.load() == []
        home = app.home.path
    found = [path for path in home.rglob("*") if path.is_file()]
    assert found
    assert not any(b"A secret" in path.read_bytes() for path in found)


async def test_it_goes_with_its_chat(running: OpenApp) -> None:
    async with running() as app:
        chat, _ = await store(app, "Rivers", "Name a river")
        app.window.open_chat(chat.id)
        await app.controllers.settle()
        app.window.composer.edit.setPlainText("And the Nile?")
        app.controllers.unsent.flush()
        await app.controllers.settle()
        await app.services.chat_list.delete(chat.id)
        assert await app.services.unsent.load() == []
        await app.services.chat_list.delete_for_good([chat.id])
        await app.controllers.settle()
    assert not any(b"And the Nile?" in path.read_bytes() for path in app.home.path.rglob("*.db*"))
