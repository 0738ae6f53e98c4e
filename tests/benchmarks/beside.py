"""How fast the engine writes with a window that shows it, against no window at all."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Any

from headstart.assembly import App
from headstart.core.chats.values import Role, TurnStats
from headstart.core.events import Finished
from headstart.core.requests import GenerationRequest, LoadRequest, PromptMessage
from headstart.core.settings.schema import (
    EngineSettings,
    Sampling,
    SamplingChoice,
    Speculation,
    changed,
)
from headstart.engine.local import LocalGenerator
from headstart.engine.resources import Resources
from headstart.engine.stop import StopSignal
from headstart.hub.checked import CheckedModelsFile
from headstart.hub.library import starter_model
from tests.benchmarks.answering import starter_key, stats_of
from tests.conftest import until
from tests.support.driver import reply_done

# one that the starter model answers at length
PROMPT = "Write a long story about a lighthouse keeper, with many details, in ten chapters."
TOKENS, CONTEXT = 600, 2_048
SECONDS = 300.0


def _speed(stats: TurnStats) -> float:
    return (stats.generated_tokens - 1) / stats.generate_seconds


async def with_window(app: App) -> dict[str, Any]:
    app.services.preferences.update(
        engine=changed(EngineSettings(), context_length=CONTEXT),
        sampling=SamplingChoice(temperature=0.0, max_tokens=TOKENS),
        speculation=Speculation(enabled=False),
    )
    speeds = []
    for _ in range(3):
        app.window.new_chat()
        app.window.composer.set_text(PROMPT)
        app.window.composer.button.click()
        await until(lambda: app.controllers.reply.writing, SECONDS)
        while app.controllers.reply.writing:
            # looking more often would take from the engine
            await asyncio.sleep(0.25)
        speeds.append(_speed(stats_of(await reply_done(app), starter_key())))
    # the first one meets a cold computer
    return {"speeds": speeds[1:]}


def without_window() -> dict[str, Any]:
    """The same on this thread."""
    model = starter_model()
    assert model is not None
    settings = EngineSettings(context_length=CONTEXT)
    speeds: list[float] = []
    with tempfile.TemporaryDirectory() as place:
        checked = CheckedModelsFile(Path(place) / "checked.json")
        checked.add(model, settings)
        generator = LocalGenerator(Resources(checked))
        for _ in range(3):
            events: list[Any] = []
            request = GenerationRequest(
                LoadRequest(model, settings),
                (PromptMessage(Role.USER, PROMPT, "q"),),
                Sampling(temperature=0.0, max_tokens=TOKENS),
                speculation=Speculation(enabled=False),
            )
            generator.generate(request, events.append, StopSignal())
            assert isinstance(events[-1], Finished)
            speeds.append(_speed(events[-1].stats))
        generator.close()
    return {"speeds": speeds[1:]}
