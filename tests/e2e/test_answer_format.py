"""Answers that are held to a JSON Schema, and words that are kept away: on both backends, with
drafts of every kind, the same words as without."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from headstart.core.chats.parts import PartKind
from headstart.core.chats.values import FinishReason, Role, TurnStats
from headstart.core.errors import EnvironmentProblem
from headstart.core.events import Finished, TextAdded
from headstart.core.models.ref import ModelRef
from headstart.core.requests import GenerationRequest, LoadRequest, PromptMessage, WrittenSoFar
from headstart.core.settings.schema import Backend, Bias, EngineSettings, Sampling, Speculation
from headstart.engine.constraints.answer_format import check_schema, fits
from headstart.engine.local import LocalGenerator
from headstart.engine.resources import Resources
from headstart.engine.stop import StopSignal
from headstart.hub.checked import CheckedModelsFile
from headstart.hub.library import open_model
from tests.e2e.test_speculation import MODES
from tests.models.mlx_folder import make_mlx

OFF = Speculation(enabled=False)
CITY: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "maxLength": 20},
        "size": {"enum": ["small", "large"]},
        "people": {"type": "integer", "minimum": 0, "maximum": 99_999_999},
        "rivers": {"type": "array", "items": {"type": "string", "maxLength": 12}, "maxItems": 3},
    },
    "required": ["city", "size", "people", "rivers"],
    "additionalProperties": False,
}
QUESTION = "Tell me about Lisbon."
# the others are proof
_SAMPLED = ("fixed 3", "repeats")


class Engine:
    """A local generator on this thread."""

    def __init__(self, model: ModelRef, folder: Path, backend: Backend = "auto") -> None:
        self.model = model
        self.settings = EngineSettings(context_length=1024, kv_type="bf16", backend=backend)
        checked = CheckedModelsFile(folder / "checked.json")
        checked.add(model, self.settings)
        self.checked = checked
        self.generator = LocalGenerator(Resources(checked))
        self._plain: dict[str, tuple[str, TurnStats]] = {}

    def plain(self, sampling: Sampling) -> tuple[str, TurnStats]:
        """What is written without drafts; the modes of a test ask for the same."""
        key = repr(sampling)
        if key not in self._plain:
            self._plain[key] = self.write(sampling)
        return self._plain[key]

    def write(
        self,
        sampling: Sampling,
        wanted: Speculation = OFF,
        draft: ModelRef | None = None,
        so_far: str = "",
    ) -> tuple[str, TurnStats]:
        if draft is not None:
            self.checked.add(draft, self.settings)
        request = GenerationRequest(
            LoadRequest(self.model, self.settings, draft),
            (PromptMessage(Role.USER, QUESTION, "q"),),
            sampling,
            speculation=wanted,
            reply_so_far=WrittenSoFar("", so_far, closed=bool(so_far)),
        )
        events: list[Any] = []
        self.generator.generate(request, events.append, StopSignal())
        assert isinstance(events[-1], Finished)
        pieces = [piece for one in events if isinstance(one, TextAdded) for piece in one.pieces]
        assert all(piece.kind is PartKind.TEXT for piece in pieces)
        return "".join(piece.text for piece in pieces), events[-1].stats


@pytest.fixture(scope="module")
def engine(starter: ModelRef, tmp_path_factory: pytest.TempPathFactory) -> Any:
    engine = Engine(starter, tmp_path_factory.mktemp("format"))
    yield engine
    engine.generator.close()


def held(temperature: float = 0.0, seed: int = 1, schema: Any = CITY, **more: Any) -> Sampling:
    return Sampling(
        temperature=temperature, seed=seed, max_tokens=160, schema=json.dumps(schema), **more
    )


def assert_city(text: str) -> None:
    value = json.loads(text)
    assert list(value) == ["city", "size", "people", "rivers"]
    assert isinstance(value["city"], str)
    assert value["size"] in ("small", "large")
    assert 0 <= value["people"] <= 99_999_999
    assert len(value["rivers"]) <= 3
    assert fits(json.dumps(CITY), text)


@pytest.mark.parametrize(
    "mode",
    [each if each in _SAMPLED else pytest.param(each, marks=pytest.mark.proof) for each in MODES],
)
def test_an_answer_has_its_format_and_drafts_change_no_word(
    engine: Engine, drafts: dict[str, ModelRef], mode: str
) -> None:
    name, wanted = MODES[mode]
    for temperature, seed in ((0.0, 1), (0.9, 5)):
        plain, stats = engine.plain(held(temperature, seed))
        assert_city(plain)
        assert stats.finish is FinishReason.END
        speculated, more = engine.write(held(temperature, seed), wanted, drafts.get(name))
        assert speculated == plain
        if mode.startswith("fixed"):
            assert more.speculation is not None
            # the draft is held to the format too: it is often right
            assert more.speculation.accepted > more.speculation.verified / 3


@pytest.mark.parametrize("seeds", [1, pytest.param(60, marks=pytest.mark.proof)])
def test_with_every_seed_and_penalty_the_answer_is_whole(
    engine: Engine, drafts: dict[str, ModelRef], seeds: int
) -> None:
    for seed in range(seeds):
        more = {"repeat_penalty": 1.3, "top_k": (0, 40)[seed % 2], "top_p": (1.0, 0.9)[seed % 2]}
        sampling = held(1.2, seed, **more)
        text, stats = engine.write(sampling, MODES["fixed 3"][1], drafts["layers"])
        assert_city(text)
        assert engine.write(sampling)[0] == text
        assert stats.finish is FinishReason.END


def test_an_answer_that_is_gone_on_with_keeps_its_format(engine: Engine) -> None:
    begun = '{"city": "Lisbon", "size":'
    rest, _ = engine.write(held(), so_far=begun)
    assert_city(begun + rest)
    # what does not fit is gone on with as it is
    text, stats = engine.write(held(), so_far="Lisbon is")
    assert text
    assert stats.finish is not FinishReason.CANCELLED


@pytest.mark.proof
def test_mlx_holds_answers_to_a_format_too(starter: ModelRef, tmp_path: Path) -> None:
    model = open_model(make_mlx(starter.path, tmp_path / "smollm2"))
    engine = Engine(model, tmp_path, "mlx")
    small = {**CITY, "required": ["size", "people"]}
    del small["properties"]
    small["properties"] = {name: CITY["properties"][name] for name in small["required"]}
    text, stats = engine.write(held(0.9, schema=small))
    assert json.loads(text)["size"] in ("small", "large")
    assert stats.finish is FinishReason.END
    wanted = Speculation(depth_mode="fixed", depth=2)
    assert engine.write(held(0.9, schema=small), wanted)[0] == text
    engine.generator.close()


def test_words_are_kept_away_or_favoured(engine: Engine, drafts: dict[str, ModelRef]) -> None:
    free = Sampling(temperature=0, max_tokens=60)
    plain, _ = engine.write(free)
    assert "Portugal" in plain
    without = Sampling(temperature=0, max_tokens=60, bias=(Bias("Portugal", -100),))
    text, _ = engine.write(without)
    assert "Portugal" not in text
    assert engine.write(without, MODES["fixed 3"][1], drafts["layers"])[0] == text
    # of several tokens, the last one alone counts, and only after the others
    begins = plain[:20].rstrip()
    several = Sampling(temperature=0, max_tokens=60, bias=(Bias(begins, -100),))
    text, _ = engine.write(several)
    assert not text.startswith(begins)
    assert text[:5] == plain[:5]
    favoured = Sampling(temperature=0, max_tokens=6, bias=(Bias(" fox", 100),))
    assert engine.write(favoured)[0] == " fox" * 6


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ("{", "not valid JSON"),
        ("[1]", "no JSON Schema"),
        ('{"type": "strin"}', "Invalid type: strin"),
        ('{"not": {"type": "string"}}', 'Unimplemented keys: ["not"]'),
        ('{"type": "string", "pattern": "("}', "regex parse error"),
    ],
)
def test_a_format_that_cannot_be_is_told(engine: Engine, schema: str, said: str) -> None:
    with pytest.raises(EnvironmentProblem) as told:
        check_schema(schema)
    assert said in told.value.message
    with pytest.raises(EnvironmentProblem) as told:
        engine.write(Sampling(schema=schema, max_tokens=5))
    assert said in told.value.message
