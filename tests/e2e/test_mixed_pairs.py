"""Targets that cost otherwise than dense ones: experts, and states that are copied. Calibration
and replies with a dense draft, on tiny models."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from headstart.core.chats.values import Role, TurnStats
from headstart.core.events import Finished, GenerationEvent, TextAdded
from headstart.core.models.ref import ModelRef
from headstart.core.requests import GenerationRequest, LoadRequest, PromptMessage
from headstart.core.settings.schema import EngineSettings, Sampling, Speculation
from headstart.engine.local import LocalGenerator
from headstart.engine.resources import Resources
from headstart.engine.speculation.calibration import SIZES
from headstart.engine.speculation.depth.worth import KNOWN_TESTS
from headstart.engine.stop import StopSignal
from headstart.hub.checked import CheckedModelsFile
from headstart.hub.library import open_model
from tests.models.tiny import make_tiny

TARGETS = ("qwen3moe", "granitehybrid", "qwen35")
SETTINGS = EngineSettings(context_length=1024, kv_type="bf16")
QUESTION = PromptMessage(Role.USER, "river stone winter garden " * 12, "q")


@pytest.fixture(params=TARGETS)
def engine(
    request: pytest.FixtureRequest, starter: ModelRef, tmp_path: Path
) -> Iterator[tuple[LocalGenerator, LoadRequest]]:
    target = open_model(make_tiny(request.param, starter.path, tmp_path / "target.gguf"))
    # one layer of a plain transformer: smaller than each target
    draft = open_model(make_tiny("llama", starter.path, tmp_path / "draft.gguf", layers=1))
    checked = CheckedModelsFile(tmp_path / "checked.json")
    for model in (target, draft):
        checked.add(model, SETTINGS)
    generator = LocalGenerator(Resources(checked))
    wanted = LoadRequest(target, SETTINGS, draft)
    generator.preload(wanted, lambda _event: None, StopSignal())
    yield generator, wanted
    generator.unload()


def _reply(
    generator: LocalGenerator, wanted: LoadRequest, speculation: Speculation
) -> tuple[str, TurnStats]:
    events: list[GenerationEvent] = []
    request = GenerationRequest(
        wanted,
        (QUESTION,),
        Sampling(temperature=0.8, seed=5, max_tokens=120),
        speculation=speculation,
    )
    generator.generate(request, events.append, StopSignal())
    text = "".join(
        piece.text for event in events if isinstance(event, TextAdded) for piece in event.pieces
    )
    (stats,) = (event.stats for event in events if isinstance(event, Finished))
    return text, stats


def _rest(generator: LocalGenerator) -> None:
    for _ in range(400):
        if not generator.learn_when_idle(StopSignal(), lambda _event: None):
            return
    pytest.fail("the idle engine is never done")


def test_calibration_learns_what_they_cost_and_leaves_the_text(
    engine: tuple[LocalGenerator, LoadRequest],
) -> None:
    generator, wanted = engine
    _, plain = _reply(generator, wanted, Speculation(enabled=False))
    loaded = generator.loaded
    held = list(loaded.resident.tokens)
    _rest(generator)
    assert loaded.resident.tokens == held
    assert loaded.decoder.n_past() == len(held)
    costs, pair = loaded.speculation.target_costs(), loaded.speculation.pair
    assert pair is not None
    assert not costs.unmeasured(SIZES, len(held))
    assert pair.costs.decode_time > 0
    assert pair.margins.all_verified >= KNOWN_TESTS
    # and it goes on, with what was learned
    _, again = _reply(generator, wanted, Speculation(draft="d"))
    assert again.generated_tokens == plain.generated_tokens
    assert again.speculation is not None
