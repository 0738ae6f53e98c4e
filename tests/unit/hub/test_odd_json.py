"""Files of models with numbers and depths that nothing holds: their values count as missing."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from headstart.core.errors import EnvironmentProblem
from headstart.core.models.ref import ModelRef
from headstart.core.settings.sampling import SamplingChoice
from headstart.core.tools import ToolSpec
from headstart.hub.about import read_config
from headstart.hub.advice import read_advice
from headstart.hub.sources import ollama_projectors

ODD = {
    "deep list": '{"top_k": ' + "[" * 100_000,
    "deep object": '{"a":' * 100_000,
    "digits": f'{{"temperature": {"9" * 400}, "top_k": {"9" * 5_000}}}',
    "infinite": '{"temperature": 1e999, "top_k": -1e999, "top_p": Infinity, "min_p": NaN}',
    "halves": '{"model_type": "\\ud83d", "weight_map": {"a": "\\ude00"}, "layers": []}',
    "nothing": "",
}


@pytest.mark.parametrize("name", ODD)
def test_odd_files_of_a_folder_do_no_harm(tmp_path: Path, name: str) -> None:
    for file in ("config.json", "generation_config.json"):
        (tmp_path / file).write_text(ODD[name], encoding="utf-8")
    assert read_advice(ModelRef(tmp_path, "odd", 1, "mlx")) == SamplingChoice()
    with contextlib.suppress(EnvironmentProblem):
        read_config(tmp_path)
    assert ToolSpec("t", "", ODD[name]).parameters


@pytest.mark.parametrize("name", ODD)
def test_an_odd_manifest_of_ollama_names_no_projector(tmp_path: Path, name: str) -> None:
    weights, manifest = tmp_path / "blobs" / "sha256-1", tmp_path / "manifests" / "a" / "latest"
    for file in (weights, manifest):
        file.parent.mkdir(parents=True)
    weights.touch()
    manifest.write_text(ODD[name], encoding="utf-8")
    assert list(ollama_projectors(weights)) == []
