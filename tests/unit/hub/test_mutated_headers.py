"""Model files whose heads are damaged anywhere: a reason or a model, and the program lives."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from headstart.core.errors import EnvironmentProblem, ModelProblem
from headstart.core.models import fit
from headstart.core.models.fit import Memory, Pair
from headstart.core.models.ref import ModelRef
from headstart.core.requests import LoadRequest
from headstart.core.settings.schema import EngineSettings
from headstart.engine.local import LocalGenerator
from headstart.engine.resources import Resources
from headstart.engine.stop import StopSignal
from headstart.hub.advice import read_advice
from headstart.hub.cards import read_card
from headstart.hub.checked import CheckedModelsFile
from headstart.hub.gguf import read_header
from headstart.hub.library import open_model
from headstart.hub.shapes import read_shape
from tests.models.drafts import Field, read_gguf, write_gguf
from tests.support.mutated_headers import mutated, sound

MEMORY = Memory(16 << 30, 12 << 30)


@pytest.fixture(scope="module")
def sources(starter: ModelRef, tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return sound(starter, tmp_path_factory.mktemp("sound"))


def _told(problem: EnvironmentProblem) -> None:
    """A sentence for the user, of bounded length."""
    text = problem.message
    assert text[0].isalnum()
    assert text.endswith(".")
    assert len(text) < 2000


@pytest.mark.parametrize("count", [120, pytest.param(1000, marks=pytest.mark.proof)])
def test_readers_give_a_reason_or_numbers(count: int, sources: list[Path], tmp_path: Path) -> None:
    chance = random.Random(count)
    refused = 0
    for number in range(count):
        path = mutated(chance.choice(sources), tmp_path / f"{number}.gguf", chance)
        try:
            model = open_model(path)
            shape, card = read_shape(model), read_card(model)
        except ModelProblem as problem:
            refused += 1
            _told(problem)
            continue
        finally:
            path.unlink()
        read_advice(model)
        assert card.vocabulary_size >= 0
        pair = Pair(shape)
        context = fit.automatic_context(pair, EngineSettings(), MEMORY)
        need = pair.need(context, EngineSettings())
        assert min(need.weights, need.kv, need.buffers) >= 0
        fit.offer(pair, context, EngineSettings(), MEMORY)
    assert count / 10 < refused < count


@pytest.mark.parametrize("count", [8, pytest.param(150, marks=pytest.mark.proof)])
def test_what_readers_let_through_is_loaded_or_refused(
    count: int, sources: list[Path], tmp_path: Path
) -> None:
    chance = random.Random(3 * count)
    generator = LocalGenerator(Resources(CheckedModelsFile(tmp_path / "checked.json")))
    tried = 0
    while tried < count:
        path = mutated(chance.choice(sources), tmp_path / f"{chance.random()}.gguf", chance)
        try:
            model = open_model(path)
        except ModelProblem:
            continue
        tried += 1
        try:
            generator.preload(LoadRequest(model), lambda _event: None, StopSignal())
        except EnvironmentProblem as problem:
            _told(problem)
        generator.unload()
        path.unlink()


@pytest.mark.parametrize("tokens", [3000, 5000])
def test_a_vocabulary_of_another_model_is_refused(
    tokens: int, sources: list[Path], tmp_path: Path
) -> None:
    model = read_gguf(sources[0])
    fields = dict(model.fields)
    for key in ("tokenizer.ggml.tokens", "tokenizer.ggml.token_type"):
        field = fields[key]
        value = [*field.value, *[field.value[-1]] * max(0, tokens - len(field.value))][:tokens]
        if key.endswith("tokens"):
            value[4096:] = [f"more{number}" for number in range(4096, tokens)]
        fields[key] = Field(value, field.kind, field.inner)
    fields.pop("llama.vocab_size", None)
    merges = fields["tokenizer.ggml.merges"]
    fields["tokenizer.ggml.merges"] = Field(merges.value[:2000], merges.kind, merges.inner)
    path = write_gguf(tmp_path / "odd.gguf", model.architecture, fields, model.tensors)
    read_header(path)
    generator = LocalGenerator(Resources(CheckedModelsFile(tmp_path / "checked.json")))
    with pytest.raises(ModelProblem, match=r"odd\.gguf cannot be used") as refused:
        generator.preload(LoadRequest(open_model(path)), lambda _event: None, StopSignal())
    _told(refused.value)
