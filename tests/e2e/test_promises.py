"""Promises in the real window: starts after a crash, no text where it does not belong, undo's end,
drafts that are learned while nobody waits."""

from __future__ import annotations

from pathlib import Path

import pytest

from headstart.chat import background, chat_list
from headstart.core.chats.values import now_ms
from headstart.core.models.ref import ModelRef
from headstart.core.running import Doing
from headstart.core.settings.schema import EngineSettings, SamplingChoice
from headstart.home import Home
from headstart.hub.checked import CheckedModelsFile
from headstart.storage.adapters.running import RunningFile
from tests.conftest import OpenApp, until
from tests.models.drafts import Field, drop_layers, read_gguf, write_gguf
from tests.support.driver import ask, begin, stored_chat, use_sampling
from tests.support.sheets import asked

CANARY = "yellow-canary"
# refuses every chat, and quotes it
QUOTING = "{{ raise_exception('I cannot take: ' + messages[-1]['content']) }}"


async def test_a_start_after_a_crash_loads_nothing_by_itself(running: OpenApp, home: Home) -> None:
    home.path.mkdir(parents=True)
    RunningFile(home.running).begin(Doing("loading", "huge-model"))
    async with running() as app:
        assert "ended unexpectedly while loading huge-model" in app.window.banner.text()
        app.window.composer.edit.insertPlainText("typed")
        await app.controllers.settle()
        assert app.services.local.preload.state == "nothing"
        app.window.composer.set_text("")
        use_sampling(app, SamplingChoice(temperature=0, max_tokens=4))
        reply = await ask(app, "What is a river?")
        assert reply.text
        # a reply has shown that it can be loaded
        assert app.services.local.preload.state == "same"
        await until(lambda: not home.running.exists())
    async with running() as app:
        assert not app.window.banner.isVisible()
        app.window.composer.edit.insertPlainText("typed")
        await until(lambda: app.services.local.preload.state == "same")


@pytest.fixture
def quoting(starter: ModelRef, tmp_path: Path) -> ModelRef:
    """The starter model with a template that raises with a message in its text."""
    found = read_gguf(starter.path)
    old = found.fields["tokenizer.chat_template"]
    fields = {**found.fields, "tokenizer.chat_template": Field(QUOTING, old.kind)}
    path = write_gguf(tmp_path / "quoting.gguf", found.architecture, fields, found.tensors)
    return ModelRef(path, path.stem, path.stat().st_size)


async def test_no_text_of_a_chat_reaches_the_log(
    running: OpenApp, home: Home, quoting: ModelRef, logged: None
) -> None:
    async with running() as app:
        CheckedModelsFile(home.checked_models).add(quoting, EngineSettings())
        app.services.preferences.update(
            sampling=SamplingChoice(temperature=0, max_tokens=4, stop=(f"{CANARY}-stop",)),
            system_prompt=f"{CANARY}-system",
        )
        for private in (True, False):
            app.window.new_private_chat() if private else app.window.new_chat()
            reply = await ask(app, f"{CANARY}-question")
            assert reply.text
            assert stored_chat(app) is not None
            await app.services.chat_list.rename(stored_chat(app), f"{CANARY}-title")
            app.controllers.models.open_file(str(quoting.path))
            await app.controllers.settle()
            await begin(app, f"{CANARY}-again")
            await until(lambda: not app.controllers.reply.writing)
            await app.controllers.settle()
            wanted = app.services.exporting.wanted(
                [stored_chat(app)], "markdown", reasoning=True, stats=True, branches=True
            )
            app.controllers.transfer.export(wanted, f"/nowhere/{CANARY}.md")
            await app.controllers.settle()
            app.controllers.models.choose(
                await app.services.models.of_chat(app.controllers.open.chat)
            )
            await app.controllers.settle()
    logs = [path for path in home.log.parent.iterdir() if path.is_file()]
    assert logs
    for path in logs:
        text = path.read_text(encoding="utf-8")
        assert text.strip()
        assert CANARY not in text


async def test_a_deleted_chat_is_in_no_file_when_its_undo_is_over(
    running: OpenApp, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chat_list, "UNDO_SECONDS", 0.3)
    async with running() as app:
        app.services.preferences.update(trash_days=0)
        use_sampling(app, SamplingChoice(temperature=0, max_tokens=4))
        await ask(app, f"{CANARY}: what is a river? " * 30)
        first = stored_chat(app)
        assert first is not None
        app.controllers.chat_list.delete([first])
        await app.controllers.settle()
        app.controllers.chat_list.restore([first])
        await app.controllers.settle()
        assert [chat.id for chat in await app.services.chat_list.summaries()] == [first]
        app.controllers.chat_list.delete([first])
        await app.controllers.settle()

        await until(lambda: not _canary_is_in(home))
        await until(lambda: not list(home.prefixes.rglob("*.kv")))


def _canary_is_in(home: Home) -> bool:
    files = [path for path in home.path.rglob("*") if path.is_file()]
    return any(CANARY.encode() in _bytes(path) for path in files)


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        # it goes while it is looked for
        return b""


async def test_the_trash_lasts_and_what_is_deleted_for_good_is_in_no_file(
    running: OpenApp, home: Home
) -> None:
    async with running() as app:
        use_sampling(app, SamplingChoice(temperature=0, max_tokens=4))
        await ask(app, f"{CANARY}: what is a river? " * 30)
        first = stored_chat(app) or ""
        app.controllers.chat_list.delete([first])
        await app.controllers.settle()
    async with running() as app:
        # another start is no end of it
        app.window.commands["chats.trash"].run()
        await app.controllers.settle()
        window = app.window.trash.window
        assert window is not None
        assert window.list.topLevelItemCount() == 1
        window.list.topLevelItem(0).setSelected(True)
        window.restore.click()
        await app.controllers.settle()
        assert [chat.id for chat in await app.services.chat_list.summaries()] == [first]
        assert window.list.topLevelItemCount() == 0
        app.controllers.chat_list.delete([first])
        await app.controllers.settle()
        # the list shows it without being asked
        assert window.list.topLevelItemCount() == 1
        assert _canary_is_in(home)
        window.list.topLevelItem(0).setSelected(True)
        window.delete.click()
        question = asked(app.window)
        assert question is not None
        assert question.windowTitle() == "Delete 1 chat for good?"
        assert question.yes.text() == "Delete for good"
        question.yes.click()
        await app.controllers.settle()
        # what cannot be undone any more is not offered
        assert app.window.toast.isHidden()
        await until(lambda: not _canary_is_in(home))
        await until(lambda: not list(home.prefixes.rglob("*.kv")))


async def test_chats_leave_the_trash_when_their_days_are_over(
    running: OpenApp, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running() as app:
        use_sampling(app, SamplingChoice(temperature=0, max_tokens=4))
        await ask(app, f"{CANARY}: what is a river?")
        app.controllers.chat_list.delete([stored_chat(app) or ""])
        await app.controllers.settle()
        await app.services.chat_list.sweep()
        assert len(await app.services.chat_list.trash()) == 1
    later = now_ms() + 31 * chat_list.DAY_MS
    monkeypatch.setattr(background, "now_ms", lambda: later)
    async with running() as app:
        app.controllers.chat_list.sweep_trash()
        await app.controllers.settle()
        assert await app.services.chat_list.trash() == []
    assert not _canary_is_in(home)


async def test_quitting_ends_the_undo(running: OpenApp, home: Home) -> None:
    async with running() as app:
        app.services.preferences.update(trash_days=0)
        use_sampling(app, SamplingChoice(temperature=0, max_tokens=4))
        await ask(app, f"{CANARY}: what is a river?")
        app.controllers.chat_list.delete([stored_chat(app) or ""])
        await app.controllers.settle()
    for path in home.path.rglob("*"):
        assert not path.is_file() or CANARY.encode() not in path.read_bytes(), path


async def test_a_chosen_draft_is_loaded_and_calibrated_while_nobody_waits(
    running: OpenApp, starter: ModelRef, tmp_path: Path
) -> None:
    draft = drop_layers(starter.path, tmp_path / "small-draft.gguf", [12, 18])
    ref = ModelRef(draft, draft.stem, draft.stat().st_size)
    async with running() as app:
        CheckedModelsFile(app.home.checked_models).add(ref, EngineSettings())
        app.services.preferences.update(model_files=(ref.key,))
        app.controllers.speculation.list()
        panel = app.window.inspector.speculation
        await until(lambda: panel.draft_box.findData(ref.key) > 0)
        said: list[str] = []
        app.controllers.speculation.activity_changed.connect(
            lambda _: said.append(panel.live.values["inspector.now"].text())
        )
        panel.draft_box.setCurrentIndex(panel.draft_box.findData(ref.key))
        await until(lambda: any(text.startswith("calibrating") for text in said))
        await until(lambda: panel.live.values["inspector.now"].text() in ("ready", "not drafting"))
        assert "of draft tokens are accepted" in panel.live.why.text()
        await until(lambda: panel.curve.shown is not None)
