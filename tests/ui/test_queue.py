"""The next message waits while a reply is written: shown, changed, taken back, sent, or first."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from headstart.assembly import App
from headstart.core.chats.values import MessageStatus, Role
from headstart.core.settings.schema import SamplingChoice
from tests.conftest import OpenApp, until
from tests.support.driver import begin, branch, stored_chat, use_sampling
from tests.support.plain import plain

COUNT = "Count to a thousand, one number on each line."
LONG = SamplingChoice(temperature=0.0, max_tokens=2_000)


def waiting(app: App) -> list[str]:
    return [plain(str(line.accessibleName())) for line in app.window.queued.lines]


def enter(app: App, text: str, key: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    app.window.composer.set_text(text)
    QTest.keyClick(app.window.composer.edit, Qt.Key.Key_Return, key)


async def asked(app: App) -> list[str]:
    return [message.text for message in await branch(app) if message.role is Role.USER]


async def test_what_is_entered_meanwhile_waits_and_goes_in_its_order(running: OpenApp) -> None:
    async with running() as app:
        use_sampling(app, LONG)
        await begin(app, COUNT)
        enter(app, "And then?")
        enter(app, "And last?")
        assert app.window.composer.text() == ""
        assert waiting(app) == ["Waiting message 1: And then?", "Waiting message 2: And last?"]
        assert app.window.queued.isVisible()
        use_sampling(app, SamplingChoice(temperature=0.0, max_tokens=2))
        # the user stopped it: what waits is not sent by itself
        app.controllers.conversation.stop()
        await until(lambda: not app.controllers.reply.writing)
        await app.controllers.settle()
        assert len(waiting(app)) == 2
        app.window.queued.send.click()
        await until(lambda: not waiting(app) and not app.controllers.reply.writing)
        await app.controllers.settle()
        assert await asked(app) == [
            COUNT, "And then?", "And last?"
        ]  # fmt: skip


async def test_a_key_interrupts_the_reply(running: OpenApp) -> None:
    async with running() as app:
        use_sampling(app, LONG)
        await begin(app, COUNT)
        enter(app, "Later")
        use_sampling(app, SamplingChoice(temperature=0.0, max_tokens=2))
        enter(app, "Now", Qt.KeyboardModifier.ControlModifier)
        await until(lambda: not waiting(app) and not app.controllers.reply.writing)
        await app.controllers.settle()
        texts = await asked(app)
        assert texts[1:] == ["Now", "Later"]
        first = (await branch(app))[1]
        assert first.status is MessageStatus.STOPPED


async def test_one_that_waits_is_taken_back_or_away(running: OpenApp) -> None:
    async with running() as app:
        use_sampling(app, LONG)
        await begin(app, COUNT)
        for text in ("One", "Two", "Three"):
            enter(app, text)
        app.window.queued.lines[1].remove.click()
        assert waiting(app) == ["Waiting message 1: One", "Waiting message 2: Three"]
        app.window.composer.set_text("Before")
        app.controllers.open.write("Before")
        app.window.queued.lines[1].edit.click()
        assert waiting(app) == ["Waiting message 1: One"]
        assert app.window.composer.text() == "Before\n\nThree"
        app.window.queued.lines[0].remove.click()
        assert not app.window.queued.isVisible()
        app.controllers.conversation.stop()
        await until(lambda: not app.controllers.reply.writing)
        await app.controllers.settle()
        assert len(await asked(app)) == 1


@pytest.mark.parametrize("another", [False, True])
async def test_what_waits_belongs_to_its_chat_and_outlives_the_program(
    running: OpenApp, another: bool
) -> None:
    async with running() as app:
        use_sampling(app, LONG)
        await begin(app, COUNT)
        chat = stored_chat(app)
        assert chat is not None
        enter(app, "Do not lose me")
        if another:
            app.window.new_chat()
            assert waiting(app) == []
            app.window.open_chat(chat)
            await until(lambda: len(waiting(app)) == 1)
    async with running() as app:
        app.controllers.unsent.load(False)
        app.window.open_chat(chat)
        await until(lambda: "Do not lose me" in app.window.composer.text())
