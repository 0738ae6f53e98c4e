"""Speculation in the real window: verdicts, figures, tint, measuring, and what survives."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from headstart.core.chats.parts import Origin
from headstart.core.models.heads import AUTOMATIC
from headstart.core.models.ref import ModelRef
from headstart.core.settings.schema import EngineSettings, SamplingChoice
from headstart.hub.checked import CheckedModelsFile
from tests.conftest import OpenApp, until
from tests.models.drafts import drop_layers
from tests.support.driver import ask, stored_chat

QUESTION = "Write a short text about rivers."


@pytest.fixture
def draft(starter: ModelRef, tmp_path: Path) -> ModelRef:
    path = drop_layers(starter.path, tmp_path / "small-draft.gguf", [12, 18])
    return ModelRef(path, path.stem, path.stat().st_size)


async def test_a_chosen_draft_drafts_is_shown_and_survives_a_restart(
    running: OpenApp, draft: ModelRef
) -> None:
    async with running() as app:
        CheckedModelsFile(app.home.checked_models).add(draft, EngineSettings())
        app.services.preferences.update(
            model_files=(draft.key,), sampling=SamplingChoice(temperature=0, max_tokens=40)
        )
        app.controllers.speculation.list()
        panel = app.window.inspector.speculation
        await until(lambda: panel.draft_box.findData(draft.key) > 0)
        assert "works" in panel.draft_box.itemText(panel.draft_box.findData(draft.key))
        panel.draft_box.setCurrentIndex(panel.draft_box.findData(draft.key))
        assert "same vocabulary" in panel.verdict.text()
        panel.fixed.click()
        panel.tint.setChecked(True)
        reply = await ask(app, QUESTION)
        assert reply.stats is not None
        stats = reply.stats.speculation
        assert stats is not None
        assert stats.draft_accepted > 0
        assert app.window.header.draft_pill.toolTip()
        await until(lambda: "of" in panel.live.values["inspector.accepted"].text())
        text_part = reply.parts[0]
        assert {run.origin for run in text_part.origins} == {Origin.DRAFT, Origin.TARGET}
        assert sum(run.length for run in text_part.origins) == len(text_part.text)
        chat_id = stored_chat(app)
        assert chat_id is not None
    async with running() as app:
        app.controllers.branch.open_chat(chat_id)
        await until(lambda: stored_chat(app) == chat_id)
        await app.controllers.settle()
        (stored,) = [m for m in await app.services.branches.whole(chat_id) if m.stats is not None]
        assert stored.stats is not None
        assert stored.stats.speculation == stats
        panel = app.window.inspector.speculation
        assert panel.draft_box.currentData() == draft.key
        assert panel.value.depth_mode == "fixed"
        widget = app.window.transcript.widget_of(stored.id)
        assert widget is not None
        assert app.window.transcript.host.tinted
        assert widget.text.widgets()[0].tint_selections()
        app.window.grab()
        # another chat decides for itself
        app.window.new_chat()
        assert panel.draft_box.currentData() == AUTOMATIC


async def test_measuring_runs_shows_a_curve_and_can_be_cancelled(
    running: OpenApp, draft: ModelRef
) -> None:
    async with running() as app:
        CheckedModelsFile(app.home.checked_models).add(draft, EngineSettings())
        app.services.preferences.update(model_files=(draft.key,))
        panel = app.window.inspector.speculation
        assert not panel.calibrate.isEnabled()
        app.controllers.speculation.list()
        await until(lambda: panel.draft_box.findData(draft.key) > 0)
        panel.draft_box.setCurrentIndex(panel.draft_box.findData(draft.key))
        assert panel.calibrate.isEnabled()
        panel.calibrate.click()
        await until(lambda: panel.calibrating)
        assert panel.calibrate.text() == "Cancel"
        await until(lambda: panel.curve.shown is not None)
        panel.calibrate.click()
        await until(lambda: not panel.calibrating)
        panel.calibrate.click()
        await until(lambda: panel.calibrating)
        await until(lambda: not panel.calibrating)
        curve = panel.curve.shown
        assert curve is not None
        assert curve.done == curve.total > 1
        panel.grab()
        await asyncio.sleep(0)
