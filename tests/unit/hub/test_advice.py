"""How a model's makers advise to sample from it, read from its file or folder."""

from __future__ import annotations

import json
from pathlib import Path

import gguf
import pytest

from headstart.core.models.ref import ModelRef
from headstart.core.settings.schema import SamplingChoice
from headstart.hub.advice import read_advice
from tests.models.drafts import Field, read_gguf, write_gguf
from tests.models.tiny import make_tiny


def _gguf(starter: ModelRef, folder: Path, **said: float) -> ModelRef:
    tiny = read_gguf(make_tiny("llama", starter.path, folder / "plain.gguf"))
    fields = dict(tiny.fields)
    for name, value in said.items():
        kind = gguf.GGUFValueType.FLOAT32 if isinstance(value, float) else gguf.GGUFValueType.INT32
        fields[f"general.sampling.{name}"] = Field(value, kind)
    path = write_gguf(folder / "model.gguf", tiny.architecture, fields, tiny.tensors)
    return ModelRef(path, "model", path.stat().st_size)


def test_a_gguf_file_says_it_in_its_header(starter: ModelRef, tmp_path: Path) -> None:
    model = _gguf(starter, tmp_path, temp=0.6, top_p=0.95, top_k=20, penalty_repeat=1.05)
    assert read_advice(model) == SamplingChoice(
        temperature=0.6, top_p=0.95, top_k=20, repeat_penalty=1.05
    )
    assert read_advice(starter) == SamplingChoice()


def test_a_value_out_of_bounds_leaves_the_others(starter: ModelRef, tmp_path: Path) -> None:
    model = _gguf(starter, tmp_path, temp=9.0, top_p=0.8)
    assert read_advice(model) == SamplingChoice(top_p=0.8)


@pytest.mark.parametrize(
    ("said", "advice"),
    [
        (
            {"temperature": 0.7, "top_k": 20, "repetition_penalty": 1.1, "do_sample": True},
            SamplingChoice(temperature=0.7, top_k=20, repeat_penalty=1.1),
        ),
        ({"do_sample": False, "temperature": 0.7}, SamplingChoice(temperature=0.0)),
        ({"temperature": "hot", "top_p": None, "top_k": True}, SamplingChoice()),
        (["no object"], SamplingChoice()),
    ],
)
def test_a_folder_says_it_in_a_file(tmp_path: Path, said: object, advice: SamplingChoice) -> None:
    (tmp_path / "config.json").write_text("{}", encoding="utf-8")
    (tmp_path / "generation_config.json").write_text(json.dumps(said), encoding="utf-8")
    assert read_advice(ModelRef(tmp_path, "folder", 1, "mlx")) == advice


def test_what_cannot_be_read_says_nothing(tmp_path: Path) -> None:
    gone = ModelRef(tmp_path / "gone.gguf", "gone", 1)
    assert read_advice(gone) == SamplingChoice()
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + bytes(20))
    assert read_advice(ModelRef(broken, "broken", 24)) == SamplingChoice()
