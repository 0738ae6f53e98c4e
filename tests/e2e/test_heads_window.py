"""Heads in the real window: listed with verdicts, chosen, used, and never offered as models."""

from __future__ import annotations

from pathlib import Path

from headstart.core.models.heads import OWN_LAYERS
from headstart.core.models.ref import ModelRef
from headstart.core.settings.schema import SamplingChoice
from tests.conftest import OpenApp, until
from tests.models.heads import random_eagle3
from tests.models.tiny import make_tiny
from tests.support.driver import ask

QUESTION = "Write a short text about rivers."
SAMPLING = SamplingChoice(temperature=0, max_tokens=40)


async def test_a_head_is_listed_and_drafts_and_is_no_chat_model(
    running: OpenApp, starter: ModelRef, tmp_path: Path
) -> None:
    head = random_eagle3(starter.path, tmp_path / "SmolLM2-EAGLE3.gguf")
    other = make_tiny("llama", starter.path, tmp_path / "tiny.gguf", blocks=True)
    foreign = random_eagle3(other, tmp_path / "foreign-EAGLE3.gguf", layers=[0, 1, 2])
    async with running() as app:
        files = (str(head), str(foreign))
        app.services.preferences.update(model_files=files, sampling=SAMPLING)
        app.controllers.speculation.list()
        panel = app.window.inspector.speculation

        def said_of(file: Path) -> str:
            return str(panel.draft_box.itemText(panel.draft_box.findData(str(file))))

        # each is looked at for itself, and the list is made anew meanwhile
        await until(lambda: "works" in said_of(head) and "does not help" in said_of(foreign))
        installed = await app.services.models.installed()
        assert str(head) not in [model.key for model in installed]
        panel.draft_box.setCurrentIndex(panel.draft_box.findData(str(head)))
        await until(lambda: "made for models like this one" in panel.verdict.text())
        panel.fixed.click()
        reply = await ask(app, QUESTION)
        assert reply.stats is not None
        assert reply.stats.speculation is not None
        assert reply.stats.speculation.draft_verified > 0
        assert not app.window.banner.isVisible()


async def test_a_model_drafts_with_layers_of_its_own(
    running: OpenApp, starter: ModelRef, tmp_path: Path
) -> None:
    path = make_tiny("qwen35", starter.path, tmp_path / "own.gguf", blocks=True, own_layers=1)
    async with running() as app:
        app.services.preferences.update(sampling=SAMPLING)
        app.controllers.models.open_file(str(path))
        await app.controllers.settle()
        panel = app.window.inspector.speculation
        await until(lambda: panel.draft_box.findData(OWN_LAYERS) > 0)
        panel.draft_box.setCurrentIndex(panel.draft_box.findData(OWN_LAYERS))
        await until(lambda: "own file" in panel.verdict.text())
        await until(lambda: panel.summary == "its own layers")
        panel.fixed.click()
        reply = await ask(app, QUESTION)
        assert reply.stats is not None
        assert reply.stats.speculation is not None
        assert reply.stats.speculation.draft_verified > 0
        pill = app.window.header.draft_pill
        await until(lambda: pill.toolTip().startswith("its own layers"))
        # a model without such layers is left to itself
        app.controllers.models.choose(starter)
        await app.controllers.settle()
        await until(lambda: "not in this model" in panel.draft_box.currentText())
        reply = await ask(app, QUESTION)
        assert reply.stats is not None
