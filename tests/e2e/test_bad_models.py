"""Files that are no models, or no longer: a message that says what is wrong, and life goes on."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent

from headstart.assembly import App
from headstart.core.chats.values import MessageStatus
from headstart.core.errors import ModelProblem
from headstart.core.models.fit import Memory
from headstart.core.models.ref import ModelRef
from headstart.core.settings.schema import EngineSettings
from headstart.engine.loading import models
from headstart.hub.gguf import read_header
from tests.conftest import OpenApp, until
from tests.support.driver import ask, use_sampling

PNG = b"\x89PNG\r\n\x1a\n" + bytes(2000)


async def _opening_says(app: App, path: Path) -> str:
    app.window.banner.dismiss()
    app.controllers.models.open_file(str(path))
    await until(lambda: app.window.banner.isVisible())
    await app.controllers.settle()
    return app.window.banner.text()


async def test_bad_files_are_refused_with_a_reason_and_the_app_goes_on(
    running: OpenApp, tmp_path: Path, starter: ModelRef
) -> None:
    empty, picture, folder = tmp_path / "a.gguf", tmp_path / "b.gguf", tmp_path / "c.gguf"
    empty.touch()
    picture.write_bytes(PNG)
    folder.mkdir()
    async with running() as app:
        assert "a.gguf is empty" in await _opening_says(app, empty)
        assert "is a picture" in await _opening_says(app, picture)
        assert "folder" in await _opening_says(app, folder)
        assert "not there" in await _opening_says(app, tmp_path / "gone.gguf")
        data = starter.path.read_bytes()
        random.seed(7)
        cuts = [4, 11, 30, 500, 200_000, *(random.randrange(1000, len(data)) for _ in range(4))]
        for cut in [*cuts, len(data) - 1]:
            torn = tmp_path / f"torn-{cut}.gguf"
            torn.write_bytes(data[:cut])
            said = await _opening_says(app, torn)
            assert "incomplete" in said
            torn.unlink()
        assert app.services.preferences.current.model_files == ()
        use_sampling(app)
        reply = await ask(app, "Are you still there?")
        assert reply.status is not MessageStatus.FAILED


@pytest.mark.logs("a request failed")
async def test_a_context_that_does_not_fit_is_refused_with_one_click_to_what_does(
    running: OpenApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    # 84 MB of weights, 180 MB for 8,192 tokens, buffers of 80 MB
    monkeypatch.setattr(models, "memory", lambda: Memory(400_000_000, 240_000_000))
    async with running() as app:
        use_sampling(app)
        app.services.preferences.update(engine=EngineSettings(context_length=8192))
        reply = await ask(app, "Where is Lisbon?")
        assert reply.status is MessageStatus.FAILED
        said = app.window.banner.text()
        assert "does not fit into this computer's memory" in said
        assert "240 MB of 400 MB is free" in said
        app.window.banner.act()
        await until(lambda: app.services.local.loader.loaded is not None)
        await app.controllers.settle()
        assert not app.window.banner.isVisible()
        engine = app.services.preferences.current.engine
        assert (engine.context_length, engine.kv_type) == (8192, "q8_0")
        reply = await ask(app, "Where is Porto?")
        assert reply.status is MessageStatus.COMPLETE


@pytest.mark.logs("a request failed")
async def test_a_sound_header_over_garbage_is_tried_in_a_child_and_refused(
    running: OpenApp, tmp_path: Path, starter: ModelRef
) -> None:
    """The header passes our reader, but llama.cpp does not take the file."""
    data = bytearray(starter.path.read_bytes())
    at = data.find(b"llama.block_count") + len(b"llama.block_count") + 4
    data[at : at + 4] = (99).to_bytes(4, "little")
    bad = tmp_path / "lying.gguf"
    bad.write_bytes(data)
    read_header(bad)
    async with running() as app:
        said = await _opening_says(app, bad)
        assert "lying.gguf cannot be used" in said
        chosen = await app.services.models.installed()
        assert any(model.path == starter.path for model in chosen)
        app.controllers.models.choose(starter)
        await app.controllers.settle()
        use_sampling(app)
        reply = await ask(app, "Hello")
        assert reply.status is not MessageStatus.FAILED


async def test_a_model_that_vanishes_fails_the_reply_and_keeps_the_words(
    running: OpenApp, tmp_path: Path, starter: ModelRef
) -> None:
    copy = tmp_path / "my-model.gguf"
    # other bytes than those of the starter model, which would be used in its place
    copy.write_bytes(starter.path.read_bytes() + bytes(64))
    async with running() as app:
        app.controllers.models.open_file(str(copy))
        await app.controllers.settle()
        assert "my-model" in app.window.header.pill.full_text
        use_sampling(app)
        assert (await ask(app, "Hello")).status is not MessageStatus.FAILED
        copy.unlink()
    async with running() as app:
        chat_id = app.window.sidebar.model.chat_ids()[0]
        app.controllers.branch.open_chat(chat_id)
        await app.controllers.settle()
        assert "is missing" in app.window.header.pill.full_text
        app.window.composer.set_text("Still here?")
        app.window.composer.button.click()
        await until(lambda: "not there" in app.window.banner.text())
        assert app.window.composer.text() == "Still here?"


async def test_a_file_dropped_on_the_window_opens(
    running: OpenApp, tmp_path: Path, starter: ModelRef
) -> None:
    link = tmp_path / "dropped.gguf"
    link.symlink_to(starter.path)
    async with running() as app:
        data = QMimeData()
        data.setUrls([QUrl.fromLocalFile(str(link))])
        event = QDropEvent(
            QPointF(200, 200),
            Qt.DropAction.CopyAction,
            data,
            Qt.MouseButton.LeftButton,
            Qt.KeyboardModifier.NoModifier,
        )
        app.window.dropEvent(event)
        await app.controllers.settle()
        assert "dropped" in app.window.header.pill.full_text
        assert str(link) in app.services.preferences.current.model_files


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"<!DOCTYPE html>", "a web page"),
        (b"version https://git-lfs.github.com/spec/v1", "Git LFS pointer"),
        (b"GGUF\x03\x00\x00\x00", "incomplete"),
        (b"GGUF" + b"\xff" * 60, "incomplete"),
        (b"\x10\x00\x00\x00\x00\x00\x00\x00{}", "safetensors"),
        (b"nothing in particular", "not a model"),
    ],
)
def test_foreign_files_are_named(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "x.gguf"
    path.write_bytes(content)
    with pytest.raises(ModelProblem, match=said):
        read_header(path)
