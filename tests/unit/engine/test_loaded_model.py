"""Loaded models: a turn over a decoder made of a table, and which ones stay loaded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from headstart.core.chats.values import FinishReason, Role
from headstart.core.errors import ModelProblem
from headstart.core.events import (
    Finished,
    GenerationEvent,
    Loaded,
    Notice,
    TextAdded,
    Unloaded,
)
from headstart.core.models.abilities import LACKS_NOTHING, Lacking
from headstart.core.models.fit import Memory, ModelShape
from headstart.core.models.ref import ModelRef
from headstart.core.requests import AheadRequest, GenerationRequest, LoadRequest, PromptMessage
from headstart.core.settings.schema import EngineSettings, KvType, Sampling, Speculation
from headstart.core.told import Told
from headstart.engine import template
from headstart.engine.backends import select
from headstart.engine.decoder import Decoder
from headstart.engine.loading.open import assemble
from headstart.engine.loading.plan import Computer
from headstart.engine.local import LocalGenerator
from headstart.engine.resources import Resources
from headstart.engine.stop import StopSignal
from tests.support.fake_decoder import FakeDecoder, table

LOGITS = table(16, 3)
GB = 1 << 30


class Checked:
    """Every file was opened before."""

    def lacking(self, model: ModelRef, engine: EngineSettings) -> Lacking | None:
        return LACKS_NOTHING

    def add(self, model: ModelRef, engine: EngineSettings, lacking: Lacking) -> None: ...

    def shape(self, model: ModelRef) -> ModelShape:
        """A file of so many bytes, with 64 kB of keys and values for each token."""
        return ModelShape(
            model.size, 131_072, keys=16_384, values=16_384, vocabulary=32_000,
            layers=32, layer_weights=model.size * 9 // 10,
        )  # fmt: skip

    def head(self, _draft: ModelRef, _target: ModelRef) -> None:
        return None


def _request(model: ModelRef, tokens: int = 12, chat_id: str = "c") -> GenerationRequest:
    return GenerationRequest(
        LoadRequest(model),
        (PromptMessage(Role.USER, "Tell me.", "q"),),
        Sampling(temperature=0, max_tokens=tokens),
        speculation=Speculation(enabled=False),
        chat_id=chat_id,
    )


def _text(events: list[GenerationEvent]) -> str:
    added = [event for event in events if isinstance(event, TextAdded)]
    return "".join(piece.text for event in added for piece in event.pieces)


def test_a_turn_needs_no_more_than_a_decoder(tmp_path: Path) -> None:
    model = ModelRef(tmp_path / "m.gguf", "m", 1)
    decoder = FakeDecoder(LOGITS)
    loaded = assemble(Resources(Checked()), LoadRequest(model), decoder)
    events: list[GenerationEvent] = []
    loaded.write(_request(model), events.append, StopSignal())
    last = events[-1]
    assert isinstance(last, Finished)
    assert last.stats.finish is FinishReason.LENGTH
    assert last.stats.generated_tokens == 12
    assert len(_text(events)) == 12
    assert decoder.tokens == loaded.resident.tokens
    # the same again: all but the last token of the prompt is there
    again: list[GenerationEvent] = []
    loaded.write(_request(model), again.append, StopSignal())
    last = again[-1]
    assert isinstance(last, Finished)
    assert _text(again) == _text(events)
    assert last.stats.reused_tokens == last.stats.prompt_tokens - 1


class World:
    """A generator whose models are made of tables, on a computer with so much memory."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.memory = Memory(32 * GB, 30 * GB)
        self.contexts: list[int] = []
        self.cards: Memory | None = None
        self.layers: list[int] = []
        self.most_layers = 1000
        self.opened: list[str] = []
        self.closed: list[str] = []
        self.fails = False
        self._folder = folder
        monkeypatch.setattr(select, "open_decoder", self._open)
        self.generator = LocalGenerator(Resources(Checked()), self._measure)
        self.events: list[GenerationEvent] = []

    def _measure(self, _wanted: LoadRequest) -> Computer:
        return Computer(self.memory, self.cards)

    def model(self, name: str, size: int) -> ModelRef:
        path = self._folder / f"{name}.gguf"
        path.touch()
        return ModelRef(path, name, size)

    def ask(self, model: ModelRef, chat_id: str = "c") -> None:
        self.events.clear()
        self.generator.generate(_request(model, 4, chat_id), self.events.append, StopSignal())

    def names(self) -> list[str]:
        return [loaded.wanted.model.name for loaded in self.generator.all_loaded]

    @property
    def unloaded(self) -> list[str]:
        return [event.model.name for event in self.events if isinstance(event, Unloaded)]

    def _open(
        self, model: ModelRef, engine: EngineSettings, progress: Callable[[float], bool],
        lacking: Lacking = LACKS_NOTHING,
        clamp: bool = False,
        own_layers: bool = False,
    ) -> Decoder:  # fmt: skip
        assert not own_layers
        self.opened.append(model.name)
        self.contexts.append(engine.context_length)
        self.layers.append(engine.gpu_layers)
        if engine.gpu_layers > self.most_layers:
            raise ModelProblem("llama-cannot-open", name=model.name, reason="no memory there")
        decoder = FakeDecoder(LOGITS)
        close = decoder.close

        def closed() -> None:
            self.closed.append(model.name)
            close()

        decoder.close = closed  # type: ignore[method-assign]
        return decoder


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    return World(tmp_path, monkeypatch)


def test_a_model_stays_loaded_beside_another_one(world: World) -> None:
    first, second = world.model("first", 4 * GB), world.model("second", 4 * GB)
    world.ask(first, "a")
    held = list(world.generator.loaded.resident.tokens)
    world.ask(second, "b")
    world.ask(first, "a")
    assert world.opened == ["first", "second"]
    assert world.names() == ["second", "first"]
    # what it has read is still there, and the window hears which model it is
    last = world.events[-1]
    assert isinstance(last, Finished)
    assert last.stats.reused_tokens == last.stats.prompt_tokens - 1
    assert world.generator.loaded.resident.tokens[: len(held) - 4] == held[:-4]
    assert [event.model for event in world.events if isinstance(event, Loaded)] == [first]
    assert world.closed == []


def test_the_one_used_longest_ago_is_unloaded_when_memory_is_short(world: World) -> None:
    models = [world.model(name, 5 * GB) for name in ("one", "two", "three")]
    for model in models:
        world.ask(model)
    assert world.closed == []
    world.ask(models[0])
    world.ask(world.model("four", 7 * GB))
    assert world.closed == ["two"]
    assert world.unloaded == ["two"]
    assert world.names() == ["three", "one", "four"]


def test_a_context_is_as_long_as_the_model_was_trained_for_and_memory_allows(world: World) -> None:
    world.ask(world.model("one", GB))
    # 64 kB for each token: 32,768 take 2 GiB, an eighth of 32 GiB is 4
    assert world.contexts == [32_768]
    world.memory = Memory(12 * GB, 11 * GB)
    world.ask(world.model("two", GB))
    assert world.contexts[-1] == 24_576
    world.memory = Memory(4 * GB, 2 * GB)
    world.ask(world.model("three", GB))
    assert world.contexts[-1] == 8_192


def test_a_model_that_fits_in_no_memory_is_refused_before_anything_is_unloaded(
    world: World,
) -> None:
    world.ask(world.model("one", 4 * GB))
    with pytest.raises(ModelProblem) as raised:
        world.ask(world.model("vast", 40 * GB))
    problem = raised.value.told
    assert problem.code == "does-not-fit"
    assert "42.9 GB" in problem.message
    assert "34.4 GB" in problem.message
    assert world.opened == ["one"]
    assert world.names() == ["one"]
    # a user who knows better can have it tried
    wanted = LoadRequest(world.model("vast", 40 * GB), EngineSettings(check_memory=False))
    world.generator.preload(wanted, world.events.append, StopSignal())
    assert world.opened == ["one", "vast"]


def test_a_context_that_is_too_long_is_refused_with_one_that_fits(world: World) -> None:
    world.memory = Memory(16 * GB, 12 * GB)
    model = world.model("one", 4 * GB)

    def refused(context: int, kv: KvType = "f16") -> Told:
        wanted = LoadRequest(model, EngineSettings(context_length=context, kv_type=kv))
        with pytest.raises(ModelProblem) as raised:
            world.generator.preload(wanted, world.events.append, StopSignal())
        return raised.value.told

    # 64 kB for each token: 131,072 take 8 GiB as f16, and a little more than half as q8_0
    problem = refused(200_000)
    assert problem.code == "does-not-fit-kv"
    assert problem.facts["offer_context"] == 200_000
    problem = refused(400_000, "q8_0")
    assert problem.code == "does-not-fit-context"
    offered = problem.facts["offer_context"]
    assert isinstance(offered, int)
    assert f"{offered:,}" in problem.remedy
    fitting = LoadRequest(model, EngineSettings(context_length=offered, kv_type="q8_0"))
    world.generator.preload(fitting, world.events.append, StopSignal())
    assert world.contexts == [offered]


def test_what_leaves_little_for_other_programs_is_told(world: World) -> None:
    def told() -> list[str]:
        notices = [event for event in world.events if isinstance(event, Notice)]
        return [notice.told.text for notice in notices if notice.kind == "memory"]

    world.memory = Memory(16 * GB, 8 * GB)
    world.ask(world.model("one", 4 * GB))
    assert told() == []
    world.memory = Memory(16 * GB, 6 * GB)
    world.ask(world.model("two", 8 * GB))
    (text,) = told()
    assert "6.4 GB is free" in text


def test_a_graphics_card_holds_one_model_at_a_time(world: World) -> None:
    world.cards = Memory(8 * GB, 8 * GB)
    world.ask(world.model("one", GB))
    world.ask(world.model("two", GB))
    assert world.names() == ["two"]
    assert world.closed == ["one"]


def test_as_many_layers_as_fit_go_to_the_graphics_card(world: World) -> None:
    world.cards = Memory(8 * GB, 8 * GB)
    world.ask(world.model("small", 2 * GB))
    # all of them, the output too, with a context that fits there as well
    assert world.layers == [33]
    assert world.contexts == [16_384]
    world.ask(world.model("large", 20 * GB))
    assert 5 < world.layers[-1] < 15
    assert world.contexts[-1] == 8192
    world.cards = None
    world.ask(world.model("other", GB))
    assert world.layers[-1] == -1


def test_a_card_that_has_less_room_than_it_said_gets_fewer_layers(world: World) -> None:
    world.cards, world.most_layers = Memory(8 * GB, 8 * GB), 20
    world.ask(world.model("one", 2 * GB))
    assert world.layers == [33, 24, 18]
    (said,) = [event for event in world.events if isinstance(event, Notice) and event.kind == "gpu"]
    assert "18 layers of one" in said.told.text
    # what the user chose is not changed behind their back
    chosen = LoadRequest(world.model("two", 2 * GB), EngineSettings(gpu_layers=30))
    with pytest.raises(ModelProblem):
        world.generator.preload(chosen, world.events.append, StopSignal())


def test_other_settings_load_the_model_again_and_not_beside_itself(world: World) -> None:
    model = world.model("one", GB)
    world.ask(model)
    wanted = LoadRequest(model, EngineSettings(context_length=1024))
    world.generator.preload(wanted, world.events.append, StopSignal())
    assert world.names() == ["one"]
    assert world.closed == ["one"]
    assert world.unloaded == []


def test_a_model_that_cannot_be_put_together_leaves_nothing_open(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_arguments: object) -> None:
        raise ModelProblem(
            "as-written", message="Its template is broken.", remedy="Choose another one."
        )

    monkeypatch.setattr(template, "choose", broken)
    with pytest.raises(ModelProblem):
        world.ask(world.model("one", GB))
    assert world.closed == world.opened == ["one"]
    assert world.generator.all_loaded == ()


def test_what_is_typed_for_a_model_that_is_still_loaded_is_prefilled_there(world: World) -> None:
    first, second = world.model("first", GB), world.model("second", GB)
    world.ask(first, "a")
    world.ask(second, "b")
    messages = (PromptMessage(Role.USER, "Tell me about rivers and hills.", "q"),)
    request = AheadRequest(LoadRequest(first), messages, "a")
    world.generator.ahead(request, world.events.append, StopSignal())
    (of_first, of_second) = world.generator.all_loaded
    assert len(of_first.resident.tokens) > 20
    assert of_second.resident.chat_id == "b"
    # a model that is not loaded is not loaded for that
    world.generator.ahead(
        AheadRequest(LoadRequest(world.model("third", GB)), messages, "a"),
        world.events.append,
        StopSignal(),
    )
    assert world.opened == ["first", "second"]


def test_a_model_that_is_gone_takes_no_other_one_away(world: World) -> None:
    kept = world.model("kept", 6 * GB)
    world.ask(kept)
    gone = world.model("gone", 30 * GB)
    gone.path.unlink()
    with pytest.raises(ModelProblem):
        world.ask(gone)
    assert world.names() == ["kept"]


def test_a_model_loaded_ahead_has_run_once_and_holds_nothing(world: World) -> None:
    model = world.model("target", GB)
    world.generator.preload(LoadRequest(model), world.events.append, StopSignal())
    decoder = world.generator.loaded.decoder
    assert isinstance(decoder, FakeDecoder)
    assert decoder.forwards == [1]
    assert decoder.n_past() == 0
    world.generator.preload(LoadRequest(model), world.events.append, StopSignal())
    assert decoder.forwards == [1]


def test_a_draft_that_is_loaded_later_makes_room_too(world: World) -> None:
    target, other = world.model("target", 8 * GB), world.model("other", 8 * GB)
    world.ask(other, "a")
    world.ask(target, "b")
    assert world.names() == ["other", "target"]
    draft = world.model("draft", 7 * GB)
    load = LoadRequest(target, EngineSettings(), draft)
    world.generator.preload(load, world.events.append, StopSignal())
    assert world.names() == ["target"]
    assert world.closed[:1] == ["other"]


def test_a_template_that_is_too_slow_for_a_chat_is_replaced_for_it_alone(tmp_path: Path) -> None:
    slow = (
        "{% for m in messages %}{{ m.content }}{% if 'slow' in m.content %}"
        "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}"
        "{% endif %}{% endfor %}"
    )
    model = ModelRef(tmp_path / "m.gguf", "m", 1)
    decoder = FakeDecoder(LOGITS)
    decoder.facts = msgspec.structs.replace(decoder.facts, chat_template=slow)
    loaded = assemble(Resources(Checked()), LoadRequest(model), decoder)
    assert loaded.template.fallback is None

    def told_in(text: str, chat_id: str) -> list[str]:
        events: list[GenerationEvent] = []
        messages = (PromptMessage(Role.USER, text, "q"),)
        asked = msgspec.structs.replace(_request(model, chat_id=chat_id), messages=messages)
        loaded.write(asked, events.append, StopSignal())
        assert isinstance(events[-1], Finished)
        return [event.told.text for event in events if isinstance(event, Notice)]

    for _again in range(2):
        (said,) = told_in("a slow question", "one")
        assert "takes too long" in said or "loops for too long" in said
        assert "form is used instead" in said
    assert told_in("a quick question", "two") == []
