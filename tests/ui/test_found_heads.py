"""Heads of the hub in the real window: found for a model that is here, got, and used."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from headstart.core.models.ref import ModelRef
from headstart.core.settings.schema import SamplingChoice
from tests.conftest import OpenApp, until
from tests.models.heads import random_block
from tests.support.driver import ask
from tests.support.hub_server import HubServer, Repo
from tests.support.models_page import open_page, search
from tests.support.plain import plain

REPO = "maker/SmolLM2-135M-Instruct-DFlash-GGUF"


async def test_a_head_is_found_got_and_drafts(
    running: OpenApp, hub: HubServer, shallow: ModelRef, tmp_path: Path
) -> None:
    head = random_block(shallow.path, tmp_path / "head.gguf", taps=[1, 3, 5])
    hub.repos[REPO] = Repo({"SmolLM2-135M-Instruct-DFlash-F32.gguf": head.read_bytes()})
    hub.repos["other/SmolLM2-135M-Base-DFlash-GGUF"] = Repo({"dflash-F32.gguf": head.read_bytes()})
    async with running() as app:
        sampling = SamplingChoice(temperature=0, max_tokens=30)
        app.services.preferences.update(sampling=sampling)
        undrafted = await ask(app, "Write about rivers.")
        page = open_page(app)
        page.tabs.setCurrentIndex(1)
        await until(lambda: page.installed.list.count() == 1)
        page.installed.list.setCurrentRow(0)
        await app.controllers.settle()
        drafts = page.installed.model.drafts
        QTest.mouseClick(drafts.button, Qt.MouseButton.LeftButton)
        await app.controllers.settle()
        (get,) = drafts.buttons
        # the one whose name says most of the model's
        assert "SmolLM2-135M-Instruct-DFlash" in get.accessibleName()
        done: list[str] = []
        app.controllers.downloads.done.connect(lambda one: done.append(one.wanted.repo))
        QTest.mouseClick(get, Qt.MouseButton.LeftButton)
        await until(lambda: done)
        assert done == [REPO]
        await app.controllers.settle()
        app.window.new_chat()
        await app.controllers.settle()
        app.controllers.speculation.list()
        panel = app.window.inspector.speculation
        # drafting takes it by itself, and nothing else does: it is no chat model
        await until(lambda: "DFlash" in panel.draft_box.itemText(0))
        assert "DFlash" not in app.window.header.pill.full_text
        texts = [panel.draft_box.itemText(row) for row in range(panel.draft_box.count())]
        (works,) = [row for row, text in enumerate(texts) if plain(text).endswith("works")]
        assert "DFlash" in texts[works]
        panel.draft_box.setCurrentIndex(works)
        panel.fixed.click()
        reply = await ask(app, "Write about rivers.")
        assert reply.text == undrafted.text
        assert reply.stats is not None
        assert reply.stats.speculation is not None
        assert reply.stats.speculation.draft_verified > 0


async def test_a_repository_of_heads_says_what_it_is(
    running: OpenApp, hub: HubServer, shallow: ModelRef, tmp_path: Path
) -> None:
    head = random_block(shallow.path, tmp_path / "head.gguf", taps=[1, 3, 5])
    hub.repos[REPO] = Repo({"SmolLM2-135M-Instruct-DFlash-Q8_0.gguf": head.read_bytes()})
    async with running() as app:
        view = open_page(app).discover
        await search(app, "dflash")
        QTest.mouseClick(
            view.list.viewport(),
            Qt.MouseButton.LeftButton,
            pos=view.list.visualRect(view.results.index(0)).center(),
        )
        await app.controllers.settle()
        details = view.details
        assert "draft for one model only" in plain(details.problem.text())
        assert details.details is not None
        assert [one.title for one in details.details.variants] == ["Q8_0"]
        assert not details.drafts.isVisible()
