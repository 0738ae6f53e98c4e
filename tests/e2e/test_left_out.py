"""A reply says for good what its prompt lacked: a table of all that can be left out."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from headstart.assembly import App
from headstart.core.chats.left_out import (
    LEFT_OUT,
    is_left_out,
    left_out_words,
    told_of,
    with_left_out,
)
from headstart.core.chats.parts import FilePart, LeftOutPart, Part, SearchPart, TextPart
from headstart.core.chats.prompt_words import prompt_text
from headstart.core.chats.values import Message
from headstart.core.settings.schema import EngineSettings, SamplingChoice
from headstart.core.told import told
from headstart.home import Home
from headstart.ui.kit.asking import Question
from tests.conftest import OpenApp, until
from tests.e2e.test_tools_window import call, say, use
from tests.support.documents import pdf, png
from tests.support.driver import ask, branch, reply_done, stored_chat, use_sampling
from tests.support.plain import plain
from tests.support.scripted_server import WORDS, Answer, Asked, ScriptedServer
from tests.support.tool_servers import scripted

pytestmark = [pytest.mark.words, pytest.mark.usefixtures("shallow_starter")]
SHORT = SamplingChoice(temperature=0.0, max_tokens=8)


class World:
    """A window with a folder and a scripted server."""

    def __init__(self, app: App, home: Home, folder: Path, server: ScriptedServer) -> None:
        self.app, self.home, self.folder, self.server = app, home, folder, server

    async def attach(self, name: str, data: bytes) -> None:
        path = self.folder / name
        path.write_bytes(data)
        row = self.app.window.composer.attachments
        self.app.window.open_files([str(path)])
        await until(lambda: bool(row.chips) and row.ready)


async def _picture(world: World) -> str:
    await world.attach("flag.png", png())
    await ask(world.app, "What is it?")
    return "does not see images: it gets their names only"


async def _picture_of_another_model(world: World) -> str:
    """The model before saw it; the question itself has none."""

    async def tell(_asked: Asked, answer: Answer) -> None:
        await answer.stream()
        await answer.words(WORDS)
        await answer.end()

    app, world.server.handler = world.app, tell
    local = await app.services.models.of_chat(app.controllers.open.chat)
    await use(app, world.server)
    await world.attach("flag.png", png())
    await ask(app, "What is it?")
    assert lines(app) == [""]
    app.controllers.models.choose(local)
    await app.controllers.settle()
    await ask(app, "And its colours?")
    return "does not see images: it gets their names only"


async def _picture_that_a_server_refuses(world: World) -> str:
    async def blind(asked: Asked, answer: Answer) -> None:
        if isinstance(asked.body["messages"][-1]["content"], str):
            await answer.stream()
            await answer.words(WORDS)
            await answer.end()
        else:
            problem = {"error": {"message": "image_url is only supported by certain models"}}
            await answer.json(problem, "400 Bad Request")

    world.server.handler = blind
    await use(world.app, world.server)
    await world.attach("flag.png", png())
    await ask(world.app, "What is it?")
    return "did not take the images: the reply was written without them"


async def _picture_that_is_gone(world: World) -> str:
    await use(world.app, world.server)
    await world.attach("flag.png", png())
    for path in (world.home.path / "blobs").glob("*/*"):
        path.unlink()
    await ask(world.app, "What is it?")
    return "1 image of this chat cannot be read any more: the model gets the name"


async def _turns(world: World) -> str:
    app = world.app
    app.services.preferences.update(
        engine=EngineSettings(context_length=512), when_full="drop_oldest"
    )
    for _ in range(3):
        await ask(app, "The river begins in the hills and ends in the sea. " * 18)
    return "left out of what the model reads"


async def _tools(world: World) -> str:
    app = world.app
    await use(app, world.server)
    server_id, _ = await app.services.tools.servers.entries.save(scripted("exit"), {})
    await app.controllers.settle()
    app.services.preferences.update(tools_from=(server_id,))
    await ask(app, "Hello.")
    return "The reply is written without its tools."


async def _settings(world: World) -> str:
    async def picky(asked: Asked, answer: Answer) -> None:
        if "temperature" in asked.body:
            problem = {"message": "Unsupported parameter: 'temperature'", "param": "temperature"}
            await answer.json({"error": problem}, "400 Bad Request")
            return
        await answer.stream()
        await answer.words(WORDS)
        await answer.end()

    world.server.handler = picky
    await use(world.app, world.server)
    await ask(world.app, "Hello.")
    return "does not take temperature"


TABLE: dict[str, Callable[[World], Awaitable[str]]] = {
    "images-not-seen": _picture,
    "images-not-seen, of another model": _picture_of_another_model,
    "images-refused": _picture_that_a_server_refuses,
    "images-gone": _picture_that_is_gone,
    "context-dropped": _turns,
    "tool-server-left-out": _tools,
    "server-takes-less": _settings,
}


def lines(app: App) -> list[str]:
    """The lines below the replies, as they are shown."""
    found = []
    for item in app.window.transcript.column.items:
        widget = app.window.transcript.widget_of(item.message.id)
        if widget is not None and item.message.role == "assistant":
            found.append(plain(widget.status_label.text()))
    return found


@pytest.mark.logs("a request failed", "a tool server", "the tool server", "tool server")
@pytest.mark.parametrize("left", TABLE, ids=lambda one: one.replace(" ", "-"))
async def test_it_is_said_below_the_reply_and_after_a_restart(
    running: OpenApp, home: Home, tmp_path: Path, server: ScriptedServer, left: str
) -> None:
    async with running() as app:
        use_sampling(app, SHORT)
        said = await TABLE[left](World(app, home, tmp_path, server))
        await until(lambda: said in lines(app)[-1])
        reply = (await branch(app))[-1]
        chat = stored_chat(app)
        assert _codes(reply) == [left.partition(",")[0]]
        # no model reads it
        assert said not in prompt_text(reply.parts)
        assert chat is not None
    async with running() as app:
        app.window.open_chat(chat)
        await until(lambda: bool(lines(app)) and said in lines(app)[-1])


def _codes(reply: Message) -> list[str]:
    parts = [one for one in reply.parts if isinstance(one, LeftOutPart)]
    return [one.code for part in parts if (one := told_of(part)) is not None]


async def test_a_document_that_is_gone_is_said(running: OpenApp, home: Home, folder: Path) -> None:
    async with running() as app:
        use_sampling(app, SHORT)
        app.window.knowledge.pin([str(folder / "pump.md")])
        await until(lambda: app.window.findChild(Question) is not None)
        app.window.findChild(Question).yes.click()
        await app.controllers.settle()
        reply = await ask(app, "Hello.")
        assert _codes(reply) == []
        chat = stored_chat(app)
        assert chat is not None
    (folder / "pump.md").unlink()
    for path in home.path.glob("knowledge*"):
        path.unlink()
    async with running() as app:
        app.window.open_chat(chat)
        await until(lambda: stored_chat(app) == chat)
        reply = await ask(app, "How often is it oiled?")
        assert _codes(reply) == ["document-lost"]
        assert "pump.md has changed or cannot be found" in lines(app)[-1]


async def test_a_page_without_text_is_said_at_the_file(running: OpenApp, tmp_path: Path) -> None:
    async with running() as app:
        use_sampling(app, SHORT)
        world = World(app, Home(tmp_path), tmp_path, ScriptedServer())
        await world.attach("scan.pdf", pdf(["A page of words. " * 20], picture=True))
        await ask(app, "What is it about?")
        item = app.window.transcript.column.items[0]
        assert isinstance(item.message.parts[0], FilePart)
        widget = app.window.transcript.widget_of(item.message.id)
        assert widget is not None
        assert "1 page without text" in plain(widget.boxes.boxes[0].text())


def test_every_code_has_words_in_files_and_a_row_here() -> None:
    rows = {left.partition(",")[0] for left in TABLE}
    # a projector that does not open is in the tests of images
    assert rows == set(LEFT_OUT) - {"images-not-seen-because", "document-lost"}
    for code in LEFT_OUT:
        facts = {"dropped": 2, "name": "a", "count": 1, "settings": "b"}
        assert is_left_out(told(code))
        words = left_out_words(LeftOutPart(told(code, **facts).stored))
        assert "{" not in words
        # facts that are not there
        assert left_out_words(LeftOutPart(told(code).stored))
    assert left_out_words(LeftOutPart("nonsense"))
    assert prompt_text([LeftOutPart("{}"), SearchPart(("a",))]) == ""


async def test_a_continued_reply_says_it_once(running: OpenApp, tmp_path: Path) -> None:
    async with running() as app:
        use_sampling(app, SHORT)
        world = World(app, Home(tmp_path), tmp_path, ScriptedServer())
        said = await _picture(world)
        widget = app.window.transcript.widget_of(app.window.transcript.column.items[-1].message.id)
        assert widget is not None
        widget.foot.buttons["message.continue"].click()
        await until(lambda: app.controllers.reply.writing)
        await reply_done(app)
        assert lines(app)[-1].count(said) == 1


@pytest.mark.logs("a request failed")
async def test_a_reply_of_several_steps_says_it_once(
    running: OpenApp, home: Home, tmp_path: Path, server: ScriptedServer
) -> None:
    async def answer(asked: Asked, answer: Answer) -> None:
        if any(isinstance(one.get("content"), list) for one in asked.body["messages"]):
            problem = {"error": {"message": "image_url is only supported by certain models"}}
            await answer.json(problem, "400 Bad Request")
        elif sum(one["role"] == "tool" for one in asked.body["messages"]) < 2:
            await call("calculate", {"term": "2 * 3"})(asked, answer)
        else:
            await say("Six.")(asked, answer)

    async with running() as app:
        server.handler = answer
        await use(app, server, "calculate")
        app.services.preferences.update(allowed_tools=("calculate",))
        await World(app, home, tmp_path, server).attach("flag.png", png())
        reply = await ask(app, "What is two times three?")
        assert reply.text == "Six."
        assert _codes(reply) == ["images-refused"]
        assert lines(app)[-1].count("did not take the images") == 1


def test_the_same_thing_is_told_once_as_it_was_last() -> None:
    def dropped(count: int) -> LeftOutPart:
        return LeftOutPart(told("context-dropped", dropped=count).stored)

    def lost(name: str) -> LeftOutPart:
        return LeftOutPart(told("document-lost", name=name).stored)

    words = TextPart("So.")
    before: list[Part] = [lost("a"), dropped(2), words]
    left = [dropped(4), lost("b"), dropped(6), lost("b")]
    assert with_left_out(before, left) == [lost("a"), dropped(6), lost("b"), words]
    assert with_left_out(before, []) == before
