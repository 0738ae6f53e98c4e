"""Model folders that are whole, and every way in which one can be broken."""

from __future__ import annotations

from tests.support import needs_mlx  # noqa: F401

# isort: split
import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from headstart.core.errors import ModelProblem
from headstart.core.models.ref import ModelRef
from headstart.core.settings.schema import EngineSettings
from headstart.core.told import told
from headstart.engine.backends import select
from headstart.engine.backends.mlx.decoder import MlxDecoder
from headstart.hub.cards import read_card
from headstart.hub.library import open_model
from headstart.hub.shelf import Shelf
from tests.models.mlx_folder import make_mlx
from tests.models.tiny_mlx import make_tiny_mlx


@pytest.fixture(scope="module")
def whole(starter: ModelRef, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with its weights in three files."""
    folder = tmp_path_factory.mktemp("mlx") / "whole"
    return make_mlx(starter.path, folder, layers=2, shards=3)


@pytest.fixture
def folder(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "model"))


def test_a_folder_is_a_model_beside_files(whole: Path, starter: ModelRef) -> None:
    model = open_model(whole)
    assert model.format == "mlx"
    assert model.name == "whole"
    assert model.size == sum(file.stat().st_size for file in whole.glob("*.safetensors"))
    shelf = Shelf(None, list)
    assert shelf.find(model.key) == model
    assert [one.ref for one in shelf.look([model.key])] == [starter, model]
    # a file of it stands for the folder
    assert open_model(whole / "config.json") == model


def test_its_card_says_what_a_gguf_file_says(whole: Path, starter: ModelRef) -> None:
    card, other = read_card(open_model(whole)), read_card(starter)
    assert card.vocabulary == other.vocabulary
    assert card.context_length == other.context_length
    assert card.kv_bytes_per_token * 15 == other.kv_bytes_per_token
    assert card.cache == other.cache == "full"


def _change(name: str, **fields: object) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        file = folder / name
        found = json.loads(file.read_text())
        file.write_text(json.dumps({**found, **fields}))

    return change


def _half(folder: Path) -> None:
    (folder / "model-00002-of-00003.safetensors").unlink()


def _half_without_index(folder: Path) -> None:
    (folder / "model.safetensors.index.json").unlink()
    _half(folder)


def _torn(folder: Path) -> None:
    file = folder / "model-00003-of-00003.safetensors"
    file.write_bytes(file.read_bytes()[:-1000])


def _noise(folder: Path) -> None:
    (folder / "model-00001-of-00003.safetensors").write_bytes(b"\xff" * 5000)


def _cut_config(folder: Path) -> None:
    (folder / "config.json").write_text('{"model_type": "lla')


def _torch(folder: Path) -> None:
    for file in folder.glob("*.safetensors"):
        file.rename(file.with_suffix(".bin"))


def _no_tokenizer(folder: Path) -> None:
    (folder / "tokenizer.json").unlink()


def _foreign_tokenizer(folder: Path) -> None:
    tiny = make_tiny_mlx("llama", _STARTER[0], folder.parent / "tiny", layers=1)
    shutil.copy(tiny / "tokenizer.json", folder / "tokenizer.json")


_STARTER: list[Path] = []

BROKEN: dict[str, tuple[Callable[[Path], None], str]] = {
    "half of its files": (_half, "1 of 3 weight files are missing"),
    "half, and no index": (_half_without_index, "1 of 3 weight files are missing"),
    "a torn file": (_torn, "model-00003-of-00003.safetensors"),
    "noise": (_noise, "damaged or incomplete"),
    "a torn configuration": (_cut_config, "config.json in model is damaged"),
    "weights of PyTorch": (_torch, "PyTorch's format"),
    "no tokenizer": (_no_tokenizer, "no tokenizer.json"),
    "another model's tokenizer": (_foreign_tokenizer, "does not match its model"),
    "an unknown quantization": (
        _change("config.json", quantization={"group_size": 48, "bits": 7}),
        "quantized in a way that MLX does not know (7 bits in groups of 48",
    ),
    "a quantization by an unknown name": (
        _change("config.json", quantization=None, quantization_config={"quant_method": "exl3"}),
        "does not know (exl3)",
    ),
    "code of its own": (_change("config.json", model_file="mine.py"), "never run"),
    "no kind": (_change("config.json", model_type=None), "kind of model"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_broken_is_named(name: str, folder: Path, starter: ModelRef) -> None:
    _STARTER[:] = [starter.path]
    damage, words = BROKEN[name]
    damage(folder)
    with pytest.raises(ModelProblem) as told:
        open_model(folder)
    assert words in told.value.message
    assert told.value.remedy


# mlx-lm asks the weights themselves how they are packed
_TAKEN_AS_THEY_ARE = {"an unknown quantization", "weights of PyTorch", "no kind"}


@pytest.mark.parametrize("name", [name for name in BROKEN if name not in _TAKEN_AS_THEY_ARE])
def test_the_backend_refuses_it_too(name: str, folder: Path, starter: ModelRef) -> None:
    """Files can change between the list and the first message."""
    _STARTER[:] = [starter.path]
    BROKEN[name][0](folder)
    with pytest.raises(ModelProblem) as told:
        MlxDecoder(folder, EngineSettings(context_length=128))
    assert len(told.value.message) < 400
    assert told.value.remedy


def test_an_architecture_that_mlx_does_not_know_is_named(folder: Path) -> None:
    _change("config.json", model_type="unheard_of")(folder)
    with pytest.raises(ModelProblem, match="unheard_of not supported"):
        MlxDecoder(folder, EngineSettings(context_length=128))


def test_other_folders_are_told_apart(tmp_path: Path, starter: ModelRef) -> None:
    with pytest.raises(ModelProblem, match=r"no config\.json"):
        open_model(tmp_path)
    (tmp_path / "some.gguf").write_bytes(b"GGUF")
    with pytest.raises(ModelProblem, match="folder with GGUF files"):
        open_model(tmp_path)
    with pytest.raises(ModelProblem, match="is not there"):
        open_model(tmp_path / "nothing" / "here")


@pytest.mark.parametrize(
    ("apple", "mlx", "backend", "runs"),
    [
        (True, True, "auto", True),
        (True, True, "llama.cpp", False),
        (True, False, "auto", False),
        (False, True, "auto", False),
        (False, True, "mlx", True),
        (False, False, "mlx", False),
    ],
)
def test_a_folder_runs_where_mlx_is_chosen(
    apple: bool, mlx: bool, backend: str, runs: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(select, "on_apple_silicon", lambda: apple)
    monkeypatch.setattr(select, "has_mlx", lambda: mlx)
    reason = select.cannot_run("mlx", backend)  # type: ignore[arg-type]
    assert (reason is None) == runs
    assert reason is None or told(reason).remedy
    assert select.cannot_run("gguf", backend) is None  # type: ignore[arg-type]
    wanted = "mlx" if mlx and (backend == "mlx" or (apple and backend == "auto")) else "gguf"
    assert select.preferred(backend) == wanted  # type: ignore[arg-type]
