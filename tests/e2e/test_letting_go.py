"""A draft that does not pay goes where memory is short, says so once, and the words stay."""

from __future__ import annotations

from pathlib import Path

import pytest

from headstart.core.events import GenerationEvent, Notice, TextAdded
from headstart.core.models.fit import Memory
from headstart.core.models.ref import ModelRef
from headstart.core.settings.schema import Speculation
from headstart.engine.speculation import letting_go
from headstart.engine.stop import StopSignal
from tests.models.drafts import drop_layers
from tests.support.head_pairs import STORY, model_at
from tests.support.prefix_engine import PrefixEngine

OFF, AUTO = Speculation(enabled=False), Speculation(draft="d")
FIXED = Speculation(draft="d", depth_mode="fixed", depth=2)


def test_a_draft_that_does_not_pay_goes_where_memory_is_short(
    shallow: ModelRef, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draft = model_at(drop_layers(shallow.path, tmp_path / "draft.gguf", [3]))
    engine = PrefixEngine(tmp_path / "home", shallow)
    engine.chat("c")

    def write(wanted: Speculation) -> tuple[str, list[str]]:
        events: list[GenerationEvent] = []
        request = engine.request("c", STORY, 24, speculation=wanted, draft=draft)
        engine.generator.generate(request, events.append, StopSignal())
        pieces = [one for event in events if isinstance(event, TextAdded) for one in event.pieces]
        told = [event.told.text for event in events if isinstance(event, Notice)]
        return "".join(one.text for one in pieces), told

    plain, _ = write(OFF)
    write(AUTO)
    state = engine.generator.loaded.speculation
    assert state.pair is not None
    # as if many had been wrong, and each took long
    for _ in range(60):
        state.pair.margins.observe(0.1, False)
        state.pair.costs.observe(1, 0, 10.0)
    assert write(AUTO) == (plain, [])
    assert state.draft is not None
    monkeypatch.setattr(letting_go, "memory", lambda: Memory(8 << 30, 100 << 20))
    # a depth that the user chose is wanted whatever it costs
    assert write(FIXED) == (plain, [])
    assert state.draft is not None
    text, told = write(AUTO)
    assert text == plain
    assert len(told) == 1
    assert "memory is short" in told[0]
    assert state.draft is None
    assert write(AUTO) == (plain, [])
    assert state.draft is None
    # “Calibrate” has it loaded again
    request = engine.request("c", STORY, 1, speculation=AUTO, draft=draft)
    engine.generator.calibrate(request.load, lambda _event: None, StopSignal())
    assert state.draft is not None
    engine.stop()
