"""Unknown files are tried in a child process with all that the program does with them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from headstart.core.errors import ModelProblem
from headstart.core.models import tuning
from headstart.core.models.abilities import LACKS_NOTHING, Ability, Lacking
from headstart.core.models.ref import ModelRef
from headstart.core.models.tuning import Timing, Tuning
from headstart.core.settings.schema import EngineSettings
from headstart.engine.backends import select
from headstart.engine.backends.checked import Checked
from headstart.engine.backends.llama_cpp.context import Made
from headstart.engine.backends.llama_cpp.decoder import LlamaCppDecoder
from headstart.engine.backends.llama_cpp.devices import Card
from headstart.engine.backends.trial import probe
from headstart.engine.backends.trial import steps as trial
from headstart.engine.decoder import DecodeAborted
from headstart.engine.loading.check import check as check_model
from headstart.engine.resources import Resources
from headstart.engine.stop import StopSignal
from headstart.hub.checked import CheckedModelsFile
from headstart.storage.adapters.profiles import StoredProfiles
from headstart.storage.worker import Storage
from tests.models.tiny import FAMILIES, make_tiny

ENGINE = EngineSettings(kv_type="bf16")
# a child in which one call of the decoder ends the process, or raises
_BROKEN = """
import os, sys
from pathlib import Path
from typing import Any
from headstart.engine.backends.trial import probe
from headstart.engine.backends.llama_cpp.decoder import LlamaCppDecoder

def broken(*_):
    {what}

LlamaCppDecoder.{method} = broken
sys.exit(probe.child_main(Path(sys.argv[1]), sys.argv[2]))
"""


@pytest.fixture(scope="module")
def tiny(starter: ModelRef, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny("llama", starter.path, tmp_path_factory.mktemp("probe") / "tiny.gguf")


def _probe(path: Path) -> Lacking:
    return probe.probe(path, ENGINE, StopSignal(), lambda _fraction: True).lacking


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_passes_what_the_program_does(
    family: str, starter: ModelRef, tmp_path: Path
) -> None:
    path = make_tiny(family, starter.path, tmp_path / "tiny.gguf")
    decoder = LlamaCppDecoder(path, EngineSettings(context_length=512, kv_type="bf16"))
    trial.read(decoder)
    tried = []
    for ability, step in trial.steps(decoder, ()):
        step()
        tried.append(ability)
    assert set(tried) == set(Ability)
    decoder.close()


def test_a_sound_file_lacks_nothing(tiny: Path) -> None:
    assert _probe(tiny) == LACKS_NOTHING


@pytest.mark.parametrize(
    ("method", "what", "lacking"),
    [
        ("export", "os.abort()", {Ability.PREFIXES}),
        ("keep", "os.abort()", {Ability.TREES}),
        ("restore", "return False", {Ability.PREFIXES}),
        ("checkpoint", "raise RuntimeError('no')", {Ability.CUTTING}),
    ],
)
def test_what_ends_the_child_is_left_off(
    tiny: Path, monkeypatch: pytest.MonkeyPatch, method: str, what: str, lacking: set[Ability]
) -> None:
    script = _BROKEN.format(method=method, what=what)
    monkeypatch.setattr(
        probe, "command", lambda path, asked: [sys.executable, "-c", script, str(path), asked]
    )
    assert _probe(tiny) == lacking


# a child in which a context with (or without) flash attention ends the process
_ATTENTION = """
import os, sys
from pathlib import Path
from typing import Any
from headstart.engine.backends.trial import probe
from headstart.engine.backends.llama_cpp.context import LlamaContext

another = LlamaContext.another

def broken(self, engine, clamp=False):
    if engine.flash is {flash} and engine.batch >= {batch}:
        os.abort()
    return another(self, engine, clamp)

LlamaContext.another = broken
sys.exit(probe.child_main(Path(sys.argv[1]), sys.argv[2]))
"""


def _measure(path: Path) -> Checked:
    return probe.probe(path, EngineSettings(), StopSignal(), lambda _fraction: True, measured=True)


def test_batches_and_attention_are_measured(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(probe, "LONGEST_BATCH", 60.0)
    timings: list[Timing] = []
    choose = tuning.choose

    def chosen(found: list[Timing]) -> Tuning | None:
        timings.extend(found)
        return choose(found)

    monkeypatch.setattr(tuning, "choose", chosen)
    found = _measure(tiny)
    assert found.tuning is not None
    assert found.lacking == LACKS_NOTHING
    assert {(timing.batch, timing.flash) for timing in timings} >= {(256, True), (256, False)}
    assert {timing.batch for timing in timings} == set(tuning.BATCHES)
    assert all(timing.reading > timing.writing > 0 for timing in timings)


def test_a_card_that_is_too_slow_is_not_waited_for(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "LONGEST_BATCH", 1e-9)
    assert _measure(tiny) == Checked()


@pytest.mark.parametrize(
    ("flash", "batch", "tuned"),
    [
        # not even the trial's own context
        (True, 0, {False}),
        (False, 256, {True}),
        (True, 512, {True, False}),
    ],
)
def test_what_a_card_crashes_at_is_not_used(
    tiny: Path, monkeypatch: pytest.MonkeyPatch, flash: bool, batch: int, tuned: set[bool]
) -> None:
    script = _ATTENTION.format(flash=flash, batch=batch)
    monkeypatch.setattr(probe, "LONGEST_BATCH", 60.0)
    monkeypatch.setattr(
        probe, "command", lambda path, asked: [sys.executable, "-c", script, str(path), asked]
    )
    found = _measure(tiny)
    assert found.lacking == LACKS_NOTHING
    assert found.tuning is not None
    assert found.tuning.flash in tuned
    assert not (flash and batch == 512 and found.tuning.flash and found.tuning.batch > 256)


@pytest.mark.parametrize("more", [{"exact": True}, {"flash_attention": "on"}], ids=str)
def test_a_file_that_only_fails_at_flash_attention_is_not_called_damaged(
    tiny: Path, monkeypatch: pytest.MonkeyPatch, more: dict[str, Any]
) -> None:
    script = _ATTENTION.format(flash=True, batch=0)
    monkeypatch.setattr(
        probe, "command", lambda path, asked: [sys.executable, "-c", script, str(path), asked]
    )
    with pytest.raises(ModelProblem) as problem:
        probe.probe(tiny, EngineSettings(**more), StopSignal(), lambda _: True)
    assert "not with flash attention" in str(problem.value)
    assert "damaged" not in str(problem.value)


def test_where_attention_is_plain_flash_attention_is_not_even_tried(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(probe, "LONGEST_BATCH", 60.0)
    # whoever makes a context with it dies
    script = _ATTENTION.format(flash=True, batch=0)
    commands: list[list[str]] = []

    def command(path: Path, asked: str) -> list[str]:
        commands.append([sys.executable, "-c", script, str(path), asked])
        return commands[-1]

    monkeypatch.setattr(probe, "command", command)
    found = probe.probe(
        tiny, EngineSettings(), StopSignal(), lambda _: True, measured=True, plain=True
    )
    assert found.tuning is not None
    assert not found.tuning.flash
    # one child, which lived
    assert len(commands) == 1


@pytest.mark.parametrize(
    ("name", "software"),
    [("llvmpipe (LLVM 15.0.6, 256 bits)", True), ("NVIDIA GeForce RTX 4060", False)],
)
def test_programs_that_stand_in_for_cards_are_known(name: str, software: bool) -> None:
    assert Card(name, False, 1, 1).software is software


def test_what_was_measured_is_remembered_by_card(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = ModelRef(tiny, "tiny", tiny.stat().st_size)
    asked: list[EngineSettings] = []

    def check(_model: ModelRef, engine: EngineSettings, *_: object) -> Checked:
        asked.append(engine)
        return Checked(tuning=Tuning(512, flash=False))

    monkeypatch.setattr(select, "check_unknown", check)
    card = ["Radeon"]
    monkeypatch.setattr(select, "tuned_for", lambda _model, _engine: card[0])
    storage = Storage(tmp_path / "a.db", tmp_path / "backups")
    resources = Resources(CheckedModelsFile(tmp_path / "checked.json"), StoredProfiles(storage))

    def tuned(layers: int | None) -> Tuning | None:
        engine = EngineSettings()
        return check_model(resources, model, engine, lambda _: True, StopSignal(), layers).tuning

    # a card that is full cannot be measured: that is done when it has room
    tuned(0)
    assert [engine.gpu_layers for engine in asked] == [0]
    assert tuned(12) == tuned(20) == Tuning(512, flash=False)
    assert [engine.gpu_layers for engine in asked] == [0, 12]
    card[0] = "GeForce"
    tuned(None)
    assert len(asked) == 3
    storage.close()


def test_a_file_that_cannot_even_be_read_is_refused(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = _BROKEN.format(method="forward", what="os.abort()")
    monkeypatch.setattr(
        probe, "command", lambda path, asked: [sys.executable, "-c", script, str(path), asked]
    )
    with pytest.raises(ModelProblem, match=r"what opens it crashed \(signal 6\)"):
        _probe(tiny)


def test_a_stop_ends_the_trial(tiny: Path) -> None:
    with pytest.raises(DecodeAborted):
        probe.probe(tiny, ENGINE, StopSignal(-1), lambda _fraction: True)


def test_a_model_without_an_ability_is_run_without_it(tiny: Path) -> None:
    decoder = LlamaCppDecoder(
        tiny,
        EngineSettings(context_length=512),
        made=Made(frozenset({Ability.TREES, Ability.CUTTING})),
    )
    assert decoder.facts.leaves == 1
    decoder.forward(decoder.encode("A river runs to the sea."), [0])
    assert decoder.reach(3) == 0
    assert decoder.truncate(3) == 0
    decoder.close()


def test_what_was_found_belongs_to_the_settings(tiny: Path, tmp_path: Path) -> None:
    model = ModelRef(tiny, "tiny", tiny.stat().st_size)
    checked = CheckedModelsFile(tmp_path / "checked.json")
    no_trees = frozenset({Ability.TREES})
    checked.add(model, ENGINE, no_trees)
    assert checked.lacking(model, ENGINE) == no_trees
    assert checked.lacking(model, EngineSettings(kv_type="q8_0")) is None
    checked.add(model, EngineSettings(kv_type="q8_0"))
    assert checked.lacking(model, EngineSettings(kv_type="q8_0")) == LACKS_NOTHING
    assert checked.lacking(model, ENGINE) == no_trees
