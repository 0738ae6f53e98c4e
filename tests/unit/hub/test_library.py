"""Which models are found, what their headers say, and which files were tried before."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from headstart.core.errors import ModelProblem
from headstart.core.models.abilities import LACKS_NOTHING
from headstart.core.models.ref import ModelRef
from headstart.core.settings.schema import EngineSettings
from headstart.hub import library
from headstart.hub.checked import CheckedModelsFile
from headstart.hub.gguf import read_header
from headstart.hub.shelf import Shelf
from tests.support.gguf_files import make_gguf

ENGINE = EngineSettings()


def test_the_starter_model_is_found_without_importing_its_package(starter: ModelRef) -> None:
    assert starter.name == "SmolLM2-135M-Instruct.Q4_1"
    assert library.STARTER_PACKAGE not in sys.modules


def test_a_header_has_the_scalars_and_the_size_that_the_file_must_have(starter: ModelRef) -> None:
    header = read_header(starter.path)
    assert header.architecture == "llama"
    assert header.metadata["llama.context_length"] == 8192
    assert header.expected_size == starter.size
    assert "tokenizer.ggml.tokens" not in header.metadata


def test_opened_files_are_listed_after_the_starter_while_they_are_there(
    tmp_path: Path, starter: ModelRef
) -> None:
    mine = tmp_path / "mine.gguf"
    mine.write_bytes(make_gguf())
    gone = tmp_path / "gone.gguf"
    long = "/" + "x" * 5000
    shelf = Shelf(None, list)
    names = [model.ref.name for model in shelf.look([str(mine), str(gone), long])]
    assert names == ["SmolLM2 135M", "mine"]
    with pytest.raises(ModelProblem, match="not there"):
        shelf.find(str(gone))


def test_a_file_counts_as_tried_until_it_changes(tmp_path: Path, starter: ModelRef) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(b"one")
    model = ModelRef(path, "m", 3)
    checked = CheckedModelsFile(tmp_path / "home" / "checked.json")
    assert checked.lacking(starter, ENGINE) == LACKS_NOTHING
    assert checked.lacking(model, ENGINE) is None
    checked.add(model, ENGINE)
    assert checked.lacking(model, ENGINE) == LACKS_NOTHING
    path.write_bytes(b"other")
    assert checked.lacking(model, ENGINE) is None


def test_a_damaged_list_of_tried_files_is_an_empty_one(tmp_path: Path) -> None:
    path = tmp_path / "checked.json"
    path.write_bytes(b"\xff{")
    model = ModelRef(tmp_path / "m.gguf", "m", 3)
    model.path.write_bytes(b"one")
    checked = CheckedModelsFile(path)
    assert checked.lacking(model, ENGINE) is None
    checked.add(model, ENGINE)
    assert checked.lacking(model, ENGINE) == LACKS_NOTHING
