"""Servers and engines as the user meets them: adding, allowing, asking, failing, going on."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import keyring
import pytest

from headstart.assembly import App
from headstart.chat.models import ModelList
from headstart.chat.servers import ConsentNeeded
from headstart.core.chats.values import FinishReason, MessageStatus
from headstart.core.errors import EnvironmentProblem
from headstart.core.models.draft_choice import Works
from headstart.core.models.ref import ModelRef
from headstart.core.servers import Connection, ServerModel
from headstart.core.settings.schema import EngineSettings, SamplingChoice, changed
from headstart.engine.backends import select
from headstart.home import Home
from headstart.ui.kit.sheet import sheet_over
from headstart.ui.settings.servers_page import ConnectionDialog
from tests.conftest import OpenApp, until
from tests.support.documents import png
from tests.support.driver import (
    ask,
    begin,
    branch,
    reply_done,
    shown_text,
    stored_chat,
    use_sampling,
    words_shown,
)
from tests.support.keyrings import MemoryKeyring
from tests.support.prefix_engine import prose
from tests.support.scripted_server import WORDS, Answer, Asked, ScriptedServer
from tests.support.sheets import asked

STORY = "".join(WORDS)
KEY = "sk-a-key-that-must-not-be-in-any-file"


@pytest.fixture(autouse=True)
def keychain() -> Iterator[MemoryKeyring]:
    before, own = keyring.get_keyring(), MemoryKeyring()
    keyring.set_keyring(own)
    yield own
    keyring.set_keyring(before)


async def _add(app: App, server: ScriptedServer, key: str | None = KEY) -> ServerModel:
    """Add the server in the settings as a user does; returns its first model."""
    page = app.window.settings.open("servers")
    page.servers.add_button.click()
    dialog = sheet_over(app.window)
    assert isinstance(dialog, ConnectionDialog)
    dialog.name.setText("The big one")
    dialog.url.setText(f"127.0.0.1:{server.port}")
    dialog.key.setText(key or "")
    dialog.save.click()
    await until(lambda: "It answers" in page.servers.told.text())
    assert "harbour-7b" in page.servers.told.text()
    app.window.escape()
    (offered,) = await app.services.servers.offers()
    return offered.models[0]


async def _answer(app: App, words: str) -> None:
    await until(lambda: asked(app.window) is not None)
    question = asked(app.window)
    assert question is not None
    buttons = {button.text(): button for button in (question.yes, question.no)}
    buttons[words].click()
    await app.controllers.settle()


async def _use(app: App, server: ScriptedServer) -> ServerModel:
    """Add the server, choose its model and allow it."""
    model = await _add(app, server)
    app.controllers.models.choose(model)
    await _answer(app, "Send")
    await until(app.window.header.remote.isVisible)
    return model


async def test_a_server_is_added_allowed_once_and_answers(
    running: OpenApp, server: ScriptedServer, home: Home, keychain: MemoryKeyring
) -> None:
    async with running() as app:
        model = await _add(app, server)
        assert [asked.path for asked in server.asked] == ["/v1/models"]
        app.controllers.models.choose(model)
        await _answer(app, "Cancel")
        assert isinstance(await app.services.models.of_chat(app.controllers.open.chat), ModelRef)
        assert not app.window.header.remote.isVisible()
        app.controllers.models.choose(model)
        await _answer(app, "Send")
        await until(app.window.header.remote.isVisible)
        assert app.window.header.remote.full_text == f"on 127.0.0.1:{server.port}"
        answer = await ask(app, "Tell me a story.")
        assert answer.text == STORY
        assert answer.author == f"harbour-7b on 127.0.0.1:{server.port}"
        assert answer.stats is not None
        assert answer.stats.reused_tokens == 20
        assert shown_text(app, 1) == STORY
        assert server.asked[-1].headers["authorization"] == f"Bearer {KEY}"
        # asked once: another chat goes there without a question
        app.window.new_chat()
        await ask(app, "And another one.")
        assert asked(app.window) is None
    assert list(keychain.kept.values()) == [KEY]
    for file in home.path.rglob("*"):
        if file.is_file():
            assert KEY.encode() not in file.read_bytes(), file
    # and after a restart
    async with running() as app:
        answer = await ask(app, "One more.")
        assert answer.text == STORY
        assert server.asked[-1].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.logs("a request failed")
async def test_a_cut_reply_keeps_its_words_and_goes_on(
    running: OpenApp, server: ScriptedServer
) -> None:
    async def cut(asked: Asked, answer: Answer) -> None:
        await answer.stream()
        await answer.words(WORDS[:4])
        await asyncio.sleep(0.1)
        await answer.cut()

    async def rest(asked: Asked, answer: Answer) -> None:
        assert asked.body["messages"][-1] == {"role": "assistant", "content": "Once upon a time"}
        await answer.stream()
        await answer.words(WORDS[4:], pause=0.03)
        await answer.end()

    async with running() as app:
        await _use(app, server)
        server.script = [cut, rest]
        answer = await ask(app, "Tell me a story.")
        assert answer.status is MessageStatus.FAILED
        assert answer.text == "Once upon a time"
        widget = app.window.transcript.column.items[-1].widget
        assert widget is not None
        assert "ended the connection" in widget.status_label.text()
        assert widget.foot.buttons["message.continue"].isVisible()
        widget.foot.buttons["message.continue"].click()
        await until(lambda: app.controllers.reply.writing)
        answer = await reply_done(app)
        assert answer.text == STORY
        assert answer.status is MessageStatus.COMPLETE


async def test_a_silent_server_keeps_no_other_waiting_and_stops(
    running: OpenApp, server: ScriptedServer
) -> None:
    async def silence(asked: Asked, answer: Answer) -> None:
        await asyncio.sleep(60)

    async with running() as app:
        local = await app.services.models.of_chat(app.controllers.open.chat)
        await _use(app, server)
        server.handler = silence
        await begin(app, "Are you there?")
        waiting = stored_chat(app)
        app.window.new_chat()
        await app.services.choices.set_model(app.controllers.open.id, local)
        use_sampling(app, SamplingChoice(temperature=0.0, max_tokens=8))
        answer = await ask(app, "What is two and two?")
        assert answer.stats is not None
        assert answer.stats.generated_tokens > 0
        assert waiting is not None
        app.window.open_chat(waiting)
        await until(lambda: stored_chat(app) == waiting and app.controllers.reply.writing)
        app.controllers.conversation.stop()
        answer = await reply_done(app)
        assert answer.stats is not None
        assert answer.stats.finish is FinishReason.CANCELLED


async def test_what_a_server_does_not_take_is_greyed(
    running: OpenApp, server: ScriptedServer
) -> None:
    server.models = [{"id": "harbour-7b", "owned_by": "library"}]
    async with running() as app:
        inspector = app.window.inspector
        app.window.panels.open_inspector()
        await _use(app, server)
        await until(lambda: not inspector.sampling.top_k.isEnabled())
        assert "does not take" in inspector.sampling.top_k.toolTip()
        assert not inspector.folds["prefix"].isVisible()
        assert "cannot be verified" in inspector.speculation.verdict.text()
        assert inspector.server_words.isVisible()
        app.controllers.models.choose(await _starter(app))
        await app.controllers.settle()
        assert inspector.sampling.top_k.isEnabled()
        assert "does not take" not in inspector.sampling.top_k.toolTip()
        assert inspector.folds["prefix"].isVisible()


async def _starter(app: App) -> ModelRef:
    return (await app.services.models.installed())[0]


async def test_another_address_has_to_be_allowed_again_and_gets_no_old_key(
    running: OpenApp, server: ScriptedServer, keychain: MemoryKeyring
) -> None:
    async with running() as app:
        model = await _use(app, server)
        servers = app.services.servers
        (connection,) = servers.connections
        assert connection.allowed
        saved, _ = await servers.save(changed(connection, name="Renamed"), None)
        assert saved.allowed
        assert keychain.kept
        with ScriptedServer() as other:
            saved, _ = await servers.save(changed(connection, url=other.url), None)
            assert not saved.allowed
            assert not keychain.kept
            with pytest.raises(ConsentNeeded):
                await app.services.conversation.send(app.controllers.open.id, "Hello")
            # the window asks, and goes on with what was wanted
            app.window.composer.set_text("Hello again")
            app.window.composer.button.click()
            await _answer(app, "Send")
            await until(lambda: stored_chat(app) is not None)
            assert (await reply_done(app)).text == STORY
            assert "authorization" not in other.asked[-1].headers or (
                KEY not in other.asked[-1].headers["authorization"]
            )
        await servers.remove(connection.id)
        with pytest.raises(EnvironmentProblem, match="was removed"):
            await app.services.conversation.send(app.controllers.open.id, "Hello")
        assert len(await branch(app)) == 2
        assert model.key


@pytest.mark.logs("the keychain cannot be")
async def test_without_a_keychain_the_key_is_kept_in_memory_and_that_is_said(
    running: OpenApp, server: ScriptedServer, monkeypatch: pytest.MonkeyPatch, home: Home
) -> None:
    def locked(*_: Any) -> None:
        raise RuntimeError("no keychain here")

    monkeypatch.setattr(keyring, "set_password", locked)
    monkeypatch.setattr(keyring, "get_password", locked)
    async with running() as app:
        _, notice = await app.services.servers.save(Connection("", "Mine", server.url), KEY)
        assert "only until" in notice.text
        await app.services.servers.offers()
        assert server.asked[-1].headers["authorization"] == f"Bearer {KEY}"
    for file in home.path.rglob("*"):
        assert not file.is_file() or KEY.encode() not in file.read_bytes(), file


async def test_the_menu_lists_formats_and_servers_side_by_side(
    running: OpenApp, server: ScriptedServer, starter: ModelRef, tmp_path: Path
) -> None:
    from tests.models.tiny_mlx import make_tiny_mlx

    folder = make_tiny_mlx("llama", starter.path, tmp_path / "tiny-mlx")
    lists: list[ModelList] = []
    async with running() as app:
        app.controllers.model_list.listed.connect(lists.append)
        app.controllers.models.open_file(str(folder))
        await app.controllers.settle()
        # it is listed, and why it does not run is said, also where drafts are chosen
        assert "without Apple's chips" in app.window.banner.text()
        choices = await app.services.local.drafts.choices(app.controllers.open.id)
        (verdict,) = [item.verdict for item in choices if item.key == str(folder)]
        assert verdict.works is Works.NO
        assert "without Apple's chips" in verdict.reason
        await _add(app, server)
        app.window.header.pill.choices.popup(app.window.pos())
        await until(lambda: lists and lists[-1].servers and lists[-1].servers[0].models)
        texts = [action.text() for action in app.window.header.pill.choices.actions()]
        app.window.header.pill.choices.close()
        assert any(text.startswith("tiny") and "cannot run here" in text for text in texts)
        assert any("SmolLM2" in text and "cannot" not in text for text in texts)
        assert any("harbour-7b" in text and "on 127.0.0.1" in text for text in texts)


async def test_mlx_answers_in_the_window_where_the_settings_choose_it(
    running: OpenApp, starter: ModelRef, tmp_path: Path
) -> None:
    from tests.models.tiny_mlx import make_tiny_mlx

    folder = make_tiny_mlx("llama", starter.path, tmp_path / "tiny-mlx")
    async with running() as app:
        assert select.cannot_run("mlx", "auto") is not None
        app.services.preferences.update(engine=EngineSettings(backend="mlx"))
        app.controllers.models.open_file(str(folder))
        await until(lambda: app.services.local.preload.state == "same")
        use_sampling(app, SamplingChoice(temperature=0.0, max_tokens=12))
        answer = await ask(app, "Say something.")
        assert answer.model == "tiny"
        assert answer.stats is not None
        assert answer.stats.generated_tokens > 0
        again = await ask(app, "And again.")
        assert again.stats is not None
        assert again.stats.reused_tokens > 10


async def test_engine_settings_load_the_model_again_and_lose_nothing(
    running: OpenApp, starter: ModelRef
) -> None:
    async with running() as app:
        use_sampling(app, SamplingChoice(temperature=0.0, max_tokens=8))
        first = await ask(app, "Please remember this: " + prose(150))
        page = app.window.settings.open("expert")
        expert = page.expert
        await until(lambda: "fast core" in page.engine.about("threads"))
        assert not expert.reload_button.isVisibleTo(expert)
        page.engine.change("threads", 1)
        page.engine.change("batch", 64)
        assert app.services.local.preload.state == "other"
        assert expert.reload_button.isVisibleTo(expert)
        expert.reload_button.click()
        await until(lambda: app.services.local.preload.state == "same")
        assert not expert.reload_button.isVisibleTo(expert)
        messages = await branch(app)
        assert [message.text for message in messages][1] == first.text
        second = await ask(app, "What was it?")
        assert second.stats is not None
        # what was read with the other settings is not read again
        assert second.stats.reused_tokens > 150


async def test_a_stop_in_the_middle_keeps_what_was_said(
    running: OpenApp, server: ScriptedServer
) -> None:
    async def slowly(asked: Asked, answer: Answer) -> None:
        await answer.stream()
        await answer.words(WORDS * 200, pause=0.01)

    async with running() as app:
        await _use(app, server)
        server.handler = slowly
        await begin(app, "Tell me a long story.")
        await words_shown(app, 20)
        app.controllers.conversation.stop()
        answer = await reply_done(app)
        assert answer.status is MessageStatus.STOPPED
        assert answer.text.startswith("Once upon")


async def test_images_go_to_the_server_with_every_question(
    running: OpenApp, server: ScriptedServer, tmp_path: Path
) -> None:
    image = png(40, 30)
    (tmp_path / "flag.png").write_bytes(image)
    async with running() as app:
        await _use(app, server)
        app.window.open_files([str(tmp_path / "flag.png")])
        await until(lambda: app.window.composer.attachments.chips)
        await until(lambda: app.window.composer.attachments.ready)
        await ask(app, "What is on it?")
        await ask(app, "Which colour?")
        messages = server.asked[-1].body["messages"]
        pictures = [one for one in messages if isinstance(one["content"], list)]
        (picture, text) = pictures[0]["content"]
        assert base64.b64decode(picture["image_url"]["url"].partition(",")[2]) == image
        assert text["text"] == "[Image flag.png (40 × 30)]\n\nWhat is on it?"
        assert len(pictures) == 1
        assert app.window.banner.text() == ""
