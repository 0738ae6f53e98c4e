"""What a file's head says of the memory that its model takes, beside llama.cpp's own account."""

from __future__ import annotations

from pathlib import Path

import pytest

from headstart.core.models.fit import need
from headstart.core.models.ref import ModelRef
from headstart.core.settings.schema import EngineSettings, KvType
from headstart.hub.shapes import read_shape
from tests.models.split import split
from tests.models.tiny import FAMILIES, make_tiny
from tests.support.dry_load import MIB, dry_load
from tests.support.sampled import sampled


def _ref(path: Path) -> ModelRef:
    return ModelRef(path, "m", path.stat().st_size)


def _agree(model: ModelRef, context: int, engine: EngineSettings) -> None:
    shape = read_shape(model)
    ours, theirs = need(shape, context, engine), dry_load(model.path, context, engine)
    kept = theirs["kv"] + theirs["state"]
    # the log has two digits after the point
    assert ours.kv == pytest.approx(kept, abs=0.04 * MIB)
    computed = ours.buffers - need(shape, 0, engine).buffers
    least = theirs["compute"] - need(shape, 0, engine).buffers
    assert computed >= least - MIB
    assert ours.buffers <= 1.1 * theirs["compute"] + 350 * shape.vocabulary + 13 * MIB


@pytest.mark.parametrize("family", sampled(FAMILIES, *list(FAMILIES)[::2]))
def test_keys_values_and_states_are_those_that_llama_cpp_allocates(
    family: str, starter: ModelRef, tmp_path: Path
) -> None:
    model = _ref(make_tiny(family, starter.path, tmp_path / "model.gguf"))
    shape = read_shape(model)
    assert shape.trained == 8192
    assert shape.vocabulary == 4096
    assert 0 < shape.weights < model.size
    _agree(model, 8192, EngineSettings())
    if FAMILIES[family].memory == "window":
        # narrower than the context, and beside layers that see all of it
        _agree(model, 8192, EngineSettings(window_cache="window"))
        assert 0 < shape.window_keys < shape.keys
    else:
        assert shape.window_keys == 0


@pytest.mark.parametrize(
    ("context", "kv_type", "flash"),
    [(8192, "q8_0", True), (8192, "f16", False), (8192, "q8_0", False), (32_768, "bf16", True)],
)
def test_the_settings_count(context: int, kv_type: KvType, flash: bool, starter: ModelRef) -> None:
    engine = EngineSettings(
        kv_type=kv_type, flash_attention="on" if flash else "off", window_cache="window"
    )
    _agree(starter, context, engine)


def test_a_model_in_several_files_has_the_weights_of_all(starter: ModelRef, tmp_path: Path) -> None:
    parts = split(starter.path, tmp_path, 3)
    whole = ModelRef(parts[0], "m", sum(part.stat().st_size for part in parts))
    assert read_shape(whole).weights == read_shape(starter).weights
