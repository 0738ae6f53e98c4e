"""What the disk refuses is kept, said, tried again by itself and written at the end: no words,
settings or places are lost, wherever a write is refused once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel

from headstart.assembly import App
from headstart.core.chats.values import MessageStatus
from headstart.home import Home
from headstart.ui.kit.asking import DangerQuestion
from tests.conftest import OpenApp, until
from tests.e2e.test_tools_window import use
from tests.support.driver import ask, branch
from tests.support.knowledge_window import picture, say
from tests.support.refusals import Refusals
from tests.support.sampled import sampled
from tests.support.scripted_server import ScriptedServer

REPLY = " ".join(f"word{number}" for number in range(200))
# what the log says of it
LATER = (
    "a reply is stored later",
    "journaling failed",
    "settings could not be saved",
    "state could not be saved",
    "a speed profile could not be kept",
)
# more than the scenario below has
MOST_WRITES = 90


@pytest.fixture(autouse=True)
def quick(shallow_starter: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test here needs the starter model's words, nor a pause of seconds."""
    monkeypatch.setattr("headstart.chat.outbox.AGAIN_SECONDS", (0.05,))
    monkeypatch.setattr("headstart.chat.reply.STORE_AGAIN", (0.01,))


async def settled(app: App) -> None:
    await app.controllers.settle()
    await app.services.preferences.settle()


@pytest.mark.logs(*LATER)
async def test_a_reply_that_met_a_full_disk_is_whole_after_a_restart(
    running: OpenApp, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Refusals()
    async with running() as app:
        await use(app, server)
        server.script = [say(REPLY), say("Fine.")]
        disk.watch(app, monkeypatch)
        app.window.composer.set_text("Tell me much.")
        app.window.composer.button.click()
        await until(lambda: app.controllers.reply.writing)
        disk.full = True
        await reply_ended(app)
        row = app.window.unsaved
        await until(row.isVisible)
        assert "Not saved yet" in row.label.text()
        assert "disk is full" in row.label.text()
        assert (await branch(app))[-1].text == REPLY
        await picture(app, "unsaved")
        disk.full = False
        # by itself
        await until(lambda: not row.isVisible())
        assert "Everything is saved" in app.window.toast.findChild(QLabel).text()
        await ask(app, "And now?")
        chat_id = app.controllers.open.id
    async with running() as app:
        messages = await app.services.branches.whole(chat_id)
        assert [one.text for one in messages] == ["Tell me much.", REPLY, "And now?", "Fine."]
        assert messages[1].status is MessageStatus.COMPLETE


async def reply_ended(app: App) -> None:
    await until(lambda: not app.controllers.reply.writing)
    await app.controllers.settle()


@pytest.mark.logs(*LATER)
async def test_settings_and_unsent_words_are_written_at_the_end(
    running: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Refusals()
    # nothing is tried before the end
    monkeypatch.setattr("headstart.chat.outbox.AGAIN_SECONDS", (600.0,))
    async with running() as app:
        await app.controllers.settle()
        disk.watch(app, monkeypatch)
        disk.full = True
        app.services.preferences.update(text_size=120)
        QTest.keyClicks(app.window.composer.edit, "unsent words on a full disk")
        app.controllers.unsent.flush()
        await settled(app)
        outbox = app.services.outbox
        await until(lambda: outbox.waits(("settings",)))
        assert outbox.waits(("unsent", app.controllers.open.id))
        # who closes the window is asked
        app.window.leave()
        question = app.window.findChild(DangerQuestion)
        assert question is not None
        question.no.click()
        assert app.window.isVisible()
        disk.full = False
    async with running() as app:
        assert app.services.preferences.current.text_size == 120
        app.controllers.unsent.load(True)
        await app.controllers.settle()
        assert app.window.composer.text() == "unsent words on a full disk"


@pytest.mark.logs(*LATER)
async def test_a_deletion_that_is_undone_while_it_waits_is_not_carried_out(
    running: OpenApp, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Refusals()
    async with running() as app:
        await use(app, server)
        server.script = [say("Fine.")]
        await ask(app, "How are you?")
        chat_id = app.controllers.open.id
        disk.watch(app, monkeypatch)
        disk.full = True
        await app.services.chat_list.delete(chat_id)
        assert app.services.outbox.count
        await app.services.chat_list.undo_delete(chat_id)
        disk.full = False
        await until(lambda: not app.services.outbox.count)
    async with running() as app:
        assert [one.id for one in await app.services.chat_list.summaries()] == [chat_id]


async def scenario(app: App, server: ScriptedServer) -> None:
    """What a user does in an hour, each step awaited."""
    services, controllers, window = app.services, app.controllers, app.window
    server.script = [say("It holds 20 litres."), say("In spring."), say("Yes.")]

    async def send(text: str) -> None:
        """A message that was refused is in the composer still: it is sent again."""
        for _ in range(3):
            window.composer.set_text(text)
            window.composer.button.click()
            await settled(app)
            await until(lambda: not controllers.reply.writing)
            await settled(app)
            if window.composer.text() != text:
                return

    await send("How much does the tank hold?")
    first = controllers.open.id
    await send("When is it changed?")
    controllers.chat_list.rename(first, "The tank")
    await settled(app)
    await services.chat_list.pin(first, True)
    await services.chat_list.set_tags(first, ["pump", "spring"])
    folder = await services.folders.make("Machines")
    await services.folders.make("Garden")
    await services.folders.set_order(["Garden", folder])
    await services.folders.rename("Garden", "Gardens")
    await services.chat_list.move([first], folder)
    await services.folders.fold(folder, True)
    chat = await services.branches.chat(first)
    assert chat is not None
    controllers.chat.set_options(first, replace_temperature(chat.options))
    await settled(app)
    services.preferences.update(text_size=130)
    services.preferences.state.update(open_sections=("tools",))
    await settled(app)
    window.new_chat()
    await settled(app)
    await send("Is it so?")
    second = controllers.open.id
    await services.chat_list.archive([second], True)
    await services.chat_list.set_unseen(first, True)
    window.new_chat()
    await settled(app)
    QTest.keyClicks(window.composer.edit, "words that wait")
    controllers.unsent.flush()
    await settled(app)


def replace_temperature(options: Any) -> Any:
    from headstart.core.settings.schema import SamplingChoice, changed

    return changed(options, sampling=SamplingChoice(temperature=0.25))


async def found(app: App) -> dict[str, object]:
    """All that the scenario left, without ids and moments."""
    services = app.services
    await app.controllers.settle()
    folders = await services.folders.all()
    chats = {}
    for one in await services.chat_list.summaries():
        chat = await services.branches.chat(one.id)
        assert chat is not None
        whole = await services.branches.whole(one.id)
        chats[one.title] = (
            one.pinned, one.tags, one.folder, one.archived, one.unseen, chat.options,
            [(message.text, message.status) for message in whole],
        )  # fmt: skip
    unsent = [one.text for one in await services.unsent.load()]
    return {
        "chats": chats,
        "folders": [(one.path, one.folded) for one in folders],
        "size": services.preferences.current.text_size,
        "sections": services.preferences.state.current.open_sections,
        "unsent": unsent,
    }


@pytest.fixture(scope="module")
def whole() -> dict[str, object]:
    """What is found when nothing is refused; the first test of a process fills it in."""
    return {}


async def left_by(
    running: OpenApp,
    home: Home,
    server: ScriptedServer,
    disk: Refusals,
    monkeypatch: pytest.MonkeyPatch,
) -> dict[str, object]:
    """What is there after a restart."""
    async with running(home) as app:
        await use(app, server)
        disk.watch(app, monkeypatch)
        await scenario(app, server)
    async with running(home) as app:
        return await found(app)


@pytest.mark.logs(*LATER)
@pytest.mark.parametrize("number", [*sampled(range(1, MOST_WRITES + 1), 3, 9, 16, 27)])
async def test_a_write_that_is_refused_once_loses_nothing(
    running: OpenApp,
    server: ScriptedServer,
    home: Home,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    whole: dict[str, object],
    number: int,
) -> None:
    if not whole:
        # any of these tests may be the first, or the only one
        none = Refusals(0)
        with monkeypatch.context() as patched:
            whole.update(await left_by(running, Home(tmp_path / "whole"), server, none, patched))
        assert none.count <= MOST_WRITES
    disk = Refusals(number)
    now = await left_by(running, home, server, disk, monkeypatch)
    assert now == whole, (disk.seen[number - 1], number)
