"""Unknown files are tried in a child process with all that the program does with them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from headstart.core.abilities import LACKS_NOTHING, Ability, Lacking
from headstart.core.errors import ModelProblem
from headstart.core.model_ref import ModelRef
from headstart.core.settings import EngineSettings
from headstart.engine.backends import probe, trial
from headstart.engine.backends.llama_cpp import LlamaCppDecoder
from headstart.engine.decoder import DecodeAborted
from headstart.engine.stop import StopSignal
from headstart.hub.checked import CheckedModels
from tests.models.tiny import FAMILIES, make_tiny

ENGINE = EngineSettings(kv_type="bf16")
# a child in which one call of the decoder ends the process, or raises
_BROKEN = """
import os, sys
from pathlib import Path
from headstart.engine.backends import probe
from headstart.engine.backends.llama_cpp import LlamaCppDecoder

def broken(*_):
    {what}

LlamaCppDecoder.{method} = broken
sys.exit(probe.child_main(Path(sys.argv[1]), sys.argv[2]))
"""


@pytest.fixture(scope="module")
def tiny(starter: ModelRef, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny("llama", starter.path, tmp_path_factory.mktemp("probe") / "tiny.gguf")


def _probe(path: Path) -> Lacking:
    return probe.probe(path, ENGINE, StopSignal(), lambda _fraction: True)


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


def test_a_file_that_cannot_even_be_read_is_refused(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = _BROKEN.format(method="forward", what="os.abort()")
    monkeypatch.setattr(
        probe, "command", lambda path, asked: [sys.executable, "-c", script, str(path), asked]
    )
    with pytest.raises(ModelProblem, match=r"opening it crashed \(signal 6\)"):
        _probe(tiny)


def test_a_stop_ends_the_trial(tiny: Path) -> None:
    with pytest.raises(DecodeAborted):
        probe.probe(tiny, ENGINE, StopSignal(-1), lambda _fraction: True)


def test_a_model_without_an_ability_is_run_without_it(tiny: Path) -> None:
    decoder = LlamaCppDecoder(
        tiny,
        EngineSettings(context_length=512),
        lacking=frozenset({Ability.TREES, Ability.CUTTING}),
    )
    assert decoder.facts.leaves == 1
    decoder.forward(decoder.encode("A river runs to the sea."), [0])
    assert decoder.reach(3) == 0
    assert decoder.truncate(3) == 0
    decoder.close()


def test_what_was_found_belongs_to_the_settings(tiny: Path, tmp_path: Path) -> None:
    model = ModelRef(tiny, "tiny", tiny.stat().st_size)
    checked = CheckedModels(tmp_path / "checked.json")
    no_trees = frozenset({Ability.TREES})
    checked.add(model, ENGINE, no_trees)
    assert checked.lacking(model, ENGINE) == no_trees
    assert checked.lacking(model, EngineSettings(kv_type="q8_0")) is None
    checked.add(model, EngineSettings(kv_type="q8_0"))
    assert checked.lacking(model, EngineSettings(kv_type="q8_0")) == LACKS_NOTHING
    assert checked.lacking(model, ENGINE) == no_trees
