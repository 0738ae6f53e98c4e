"""Which of the files beside a model is what it sees with."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from headstart.core.models.ref import ModelRef
from headstart.hub.library import ref
from headstart.hub.projectors import projector_of
from tests.models.projector import make_projector
from tests.models.tiny import make_tiny


@pytest.fixture
def model(starter: ModelRef, tmp_path: Path) -> ModelRef:
    return ref(make_tiny("llama", starter.path, tmp_path / "Vision-4B-Q4_K_M.gguf"))


def test_a_projector_lies_beside_its_model(model: ModelRef, tmp_path: Path) -> None:
    assert projector_of(model) is None
    projector = make_projector("gemma3", tmp_path / "mmproj-Vision-4B-f16.gguf")
    assert projector_of(model) == projector


def test_one_for_a_model_of_another_width_is_the_last_choice(
    model: ModelRef, tmp_path: Path
) -> None:
    wide = make_projector("gemma3", tmp_path / "mmproj-Vision-4B.gguf", width=256)
    assert projector_of(model) == wide
    own = make_projector("gemma3", tmp_path / "mmproj-other.gguf")
    assert projector_of(model) == own


def test_the_name_decides_among_those_that_fit(model: ModelRef, tmp_path: Path) -> None:
    make_projector("gemma3", tmp_path / "mmproj-Another-9B.gguf")
    own = make_projector("gemma3", tmp_path / "Vision-4B.mmproj-Q8_0.gguf")
    assert projector_of(model) == own


@pytest.mark.parametrize("what", ["damaged", "model", "folder"])
def test_what_is_only_called_so_is_none(
    model: ModelRef, starter: ModelRef, tmp_path: Path, what: str
) -> None:
    path = tmp_path / "mmproj-Vision-4B.gguf"
    if what == "damaged":
        path.write_bytes(b"GGUF and nothing more")
    elif what == "model":
        make_tiny("llama", starter.path, path)
    else:
        path.mkdir()
    assert projector_of(model) is None


def test_a_repository_may_have_a_folder_for_each_quantization(
    starter: ModelRef, tmp_path: Path
) -> None:
    folder = tmp_path / "snapshots" / "abc" / "Q4_K_M"
    folder.mkdir(parents=True)
    model = ref(make_tiny("llama", starter.path, folder / "vision.gguf"))
    projector = make_projector("gemma3", folder.parent / "mmproj.gguf")
    assert projector_of(model) == projector
    assert projector_of(ref(starter.path)) is None


def test_ollama_names_it_with_the_weights(starter: ModelRef, tmp_path: Path) -> None:
    blobs = tmp_path / "blobs"
    blobs.mkdir()
    weights = make_tiny("llama", starter.path, blobs / "sha256-aa")
    other = make_tiny("llama", starter.path, blobs / "sha256-bb")
    projector = make_projector("gemma3", blobs / "sha256-cc")
    manifest = tmp_path / "manifests" / "registry" / "library" / "vision" / "4b"
    manifest.parent.mkdir(parents=True)
    kind = "application/vnd.ollama.image."
    layers = [
        {"mediaType": f"{kind}model", "digest": "sha256:aa"},
        {"mediaType": f"{kind}projector", "digest": "sha256:cc"},
    ]
    manifest.write_text(json.dumps({"layers": layers}))
    (manifest.parent / "damaged").write_text("{")
    assert projector_of(ref(weights)) == projector
    assert projector_of(ref(other)) is None
