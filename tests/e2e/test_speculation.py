"""Speculation on real weights: the words are those of plain decoding, whatever drafts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from headstart.core.chats.parts import Origin
from headstart.core.chats.values import Role, TurnStats
from headstart.core.events import (
    Finished,
    GenerationEvent,
    Notice,
    SpeedCurve,
    TextAdded,
)
from headstart.core.models.ref import ModelRef
from headstart.core.requests import GenerationRequest, LoadRequest, PromptMessage
from headstart.core.settings.schema import EngineSettings, KvType, Sampling, Speculation
from headstart.engine.backends.llama_cpp.decoder import LlamaCppDecoder
from headstart.engine.backends.llama_cpp.sampler import LlamaCppSampler
from headstart.engine.local import LocalGenerator
from headstart.engine.resources import Resources
from headstart.engine.speculation import token_mapping
from headstart.engine.speculation.compatibility import VocabularyMatch
from headstart.engine.speculation.state import SpeculationState
from headstart.engine.stop import StopSignal
from headstart.hub.checked import CheckedModelsFile
from tests.models.drafts import drop_layers
from tests.support.sampled import sampled

TOPICS = ("rivers", "a stack in Python", "tea", "prime numbers", "Lisbon", "sleep", "SQL", "foxes")
FORMS = (
    "Write a short text about {}.",
    "Explain {} to a child, step by step.",
    "List five facts about {}.",
    "Write code or a poem that has to do with {}.",
    "Repeat the word {} ten times, then say why.",
)
PROMPTS = [form.format(topic) for form in FORMS for topic in TOPICS]
TOKENS = 28
MODES: dict[str, tuple[str, Speculation]] = {
    **{
        f"fixed {depth}": (
            "layers",
            Speculation(draft="d", depth_mode="fixed", depth=depth, prompt_lookup=False),
        )
        for depth in (1, 2, 3, 5, 8)
    },
    "automatic": ("layers", Speculation(draft="d")),
    "repeats": ("", Speculation()),
    "tree": (
        "layers",
        Speculation(draft="d", depth_mode="fixed", depth=3, tree_branches="always"),
    ),
    "other vocabulary": ("other", Speculation(draft="d", depth_mode="fixed", depth=4)),
    "nearly the same vocabulary": ("near", Speculation(draft="d", depth_mode="fixed", depth=4)),
}


def _ref(path: Path) -> ModelRef:
    return ModelRef(path, path.stem, path.stat().st_size)


_SAMPLED = tuple(each for each in MODES if each not in ("fixed 1", "fixed 2", "fixed 3", "fixed 5"))


@dataclass(slots=True)
class Written:
    text: str
    stats: TurnStats
    events: list[GenerationEvent]

    @property
    def notices(self) -> list[str]:
        return [event.told.text for event in self.events if isinstance(event, Notice)]


class Engine:
    """A local generator on this thread."""

    def __init__(self, model: ModelRef, folder: Path, kv: KvType = "bf16") -> None:
        self.model = model
        self.settings = EngineSettings(context_length=1024, kv_type=kv)
        checked = CheckedModelsFile(folder / "checked.json")
        self.generator = LocalGenerator(Resources(checked))
        self._checked = checked
        self._plain: dict[str, Written] = {}

    def plain(self, prompt: str, **sampling: Any) -> Written:
        """What is written without drafts; the modes of a test ask for the same."""
        key = f"{prompt} {sorted(sampling.items())}"
        if key not in self._plain:
            self._plain[key] = self.write(prompt, OFF, **sampling)
        return self._plain[key]

    def write(
        self,
        prompt: str,
        wanted: Speculation,
        draft: ModelRef | None = None,
        temperature: float = 0,
        tokens: int = TOKENS,
        **sampling: Any,
    ) -> Written:
        if draft is not None and draft.path.exists():
            self._checked.add(draft, self.settings)
        events: list[GenerationEvent] = []
        self.generator.generate(
            GenerationRequest(
                LoadRequest(self.model, self.settings, draft),
                (PromptMessage(Role.USER, prompt, "q"),),
                Sampling(temperature=temperature, max_tokens=tokens, seed=7, **sampling),
                speculation=wanted,
            ),
            events.append,
            StopSignal(),
        )
        last = events[-1]
        assert isinstance(last, Finished)
        pieces = [
            piece for event in events if isinstance(event, TextAdded) for piece in event.pieces
        ]
        return Written("".join(piece.text for piece in pieces), last.stats, events)


@pytest.fixture(scope="module")
def engine(starter: ModelRef, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Engine]:
    engine = Engine(starter, tmp_path_factory.mktemp("engine"))
    yield engine
    engine.generator.close()


OFF = Speculation(enabled=False)
TARGET_SECONDS, DRAFT_SECONDS = 0.01, 0.0001


def _remember_cheap_drafts(engine: Engine) -> None:
    """As if earlier starts had found drafting cheap and right: drafts begin at once then."""
    state = engine.generator.loaded.speculation
    assert state is not None
    costs, lengths = state.target_profile.costs, state.target_profile.lengths
    known = [costs] if state.pair is None else [costs, state.pair.costs]
    for cost, unit in zip(known, (TARGET_SECONDS, DRAFT_SECONDS), strict=False):
        for n in range(1, 65):
            for _ in range(6):
                cost.observe(n, 0, unit * (1 + n / 1000))
    for value in (1, 2, 4, 8, 16):
        for _ in range(40):
            lengths.observe(value, True)
            if state.pair is not None:
                state.pair.margins.observe(value, True)
    # what a busy machine makes of the first prefill may be spent
    state.target_profile.time_budget = 200.0
    if state.pair is not None:
        state.pair.gain = 1.0


def _time_by_table(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a forward take the time of a table: a busy machine would have drafts wait for long."""
    now = 0.0
    forward = LlamaCppDecoder.forward

    def timed(decoder: LlamaCppDecoder, *given: Any, **more: Any) -> None:
        nonlocal now
        forward(decoder, *given, **more)
        now += TARGET_SECONDS if decoder is engine.generator.loaded.decoder else DRAFT_SECONDS

    monkeypatch.setattr(LlamaCppDecoder, "forward", timed)
    # the thread counts follow the machine's other programs, and costs are learned for each
    monkeypatch.setattr(LlamaCppDecoder, "pace", 0)
    monkeypatch.setattr(LlamaCppDecoder, "seconds", staticmethod(lambda: now))


@pytest.mark.parametrize(
    ("mode", "prompts"),
    [
        *(pytest.param(mode, PROMPTS[34:35], id=f"{mode}-some") for mode in _SAMPLED),
        *(pytest.param(mode, PROMPTS, id=f"{mode}-all", marks=pytest.mark.proof) for mode in MODES),
    ],
)
def test_greedy_words_are_those_of_plain_decoding(
    engine: Engine,
    drafts: dict[str, ModelRef],
    mode: str,
    prompts: list[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    name, wanted = MODES[mode]
    # without a fixed depth, drafts come only where they may pay: later, in text that repeats
    tokens = TOKENS if wanted.depth_mode == "fixed" else 4 * TOKENS if not name else 2 * TOKENS
    verified = 0
    if wanted.depth_mode == "auto":
        # what fixed depths have shown of this draft would keep it quiet for a long time
        engine.generator.unload()
        _time_by_table(engine, monkeypatch)
        engine.write(prompts[0], wanted, drafts.get(name), tokens=2)
        _remember_cheap_drafts(engine)
    for prompt in prompts:
        plain = engine.plain(prompt, tokens=tokens)
        speculated = engine.write(prompt, wanted, drafts.get(name), tokens=tokens)
        assert speculated.text == plain.text
        assert speculated.stats.generated_tokens == plain.stats.generated_tokens
        assert speculated.notices == []
        assert speculated.stats.speculation is not None
        verified += speculated.stats.speculation.verified
    assert verified > 0


@pytest.mark.parametrize(
    "mode", sampled(["fixed 3", "automatic", "repeats", "tree"], "fixed 3", "tree")
)
def test_a_seed_gives_the_same_text_with_and_without_speculation(
    engine: Engine, drafts: dict[str, ModelRef], mode: str
) -> None:
    name, wanted = MODES[mode]
    for penalty in (1.0, 1.2):
        for prompt in PROMPTS[::34]:
            more: dict[str, Any] = {"temperature": 0.9, "repeat_penalty": penalty}
            plain = engine.plain(prompt, **more)
            speculated = engine.write(prompt, wanted, drafts.get(name), **more)
            assert speculated.text == plain.text


def test_tokens_of_a_fitting_draft_are_accepted_and_marked(
    engine: Engine, drafts: dict[str, ModelRef]
) -> None:
    written = engine.write(PROMPTS[0], MODES["fixed 3"][1], drafts["layers"])
    stats = written.stats.speculation
    assert stats is not None
    assert stats.draft_accepted > 5
    assert stats.rounds < written.stats.generated_tokens
    origins = {
        piece.origin
        for event in written.events
        if isinstance(event, TextAdded)
        for piece in event.pieces
    }
    assert origins == {Origin.DRAFT, Origin.TARGET}


def test_in_the_default_setting_each_token_is_the_arg_max_of_its_forward(
    starter: ModelRef,
    drafts: dict[str, ModelRef],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engine = Engine(starter, tmp_path, kv="f16")
    drawn: dict[int, int] = {}
    real = LlamaCppSampler.draw

    def draw(sampler: LlamaCppSampler, row: int, position: int) -> int:
        token = real(sampler, row, position)
        assert token == int(sampler.logits(row).argmax())
        drawn[position] = token
        return token

    monkeypatch.setattr(LlamaCppSampler, "draw", draw)
    for prompt in PROMPTS[::34]:
        drawn.clear()
        written = engine.write(prompt, MODES["fixed 5"][1], drafts["layers"])
        decoder: Any = engine.generator.loaded.decoder
        places = sorted(drawn)[: written.stats.generated_tokens]
        text = b"".join(decoder.piece(drawn[place]) for place in places)
        assert text.decode("utf-8", "ignore").startswith(written.text.rstrip("\ufffd"))
    engine.generator.close()


def test_a_stop_string_inside_a_draft_ends_the_reply_there(
    engine: Engine, drafts: dict[str, ModelRef]
) -> None:
    plain = engine.write(PROMPTS[3], OFF, tokens=60)
    stop = plain.text[40:44]
    cut = engine.write(PROMPTS[3], OFF, tokens=60, stop=(stop,))
    speculated = engine.write(
        PROMPTS[3], MODES["fixed 8"][1], drafts["layers"], tokens=60, stop=(stop,)
    )
    assert speculated.text == cut.text == plain.text[: plain.text.index(stop)]
    # what is in the KV state is still the token list: the next turn is right
    assert engine.write(PROMPTS[3], OFF, tokens=60).text == plain.text


@pytest.mark.logs("the draft")
@pytest.mark.parametrize("case", ["itself", "larger", "gone", "no model"])
def test_a_draft_that_cannot_be_used_is_told_once_and_the_reply_comes(
    starter: ModelRef, tmp_path: Path, case: str
) -> None:
    engine = Engine(starter, tmp_path)
    copy = tmp_path / "copy.gguf"
    if case == "larger":
        copy.write_bytes(starter.path.read_bytes() + b"\0")
    elif case == "no model":
        copy.write_bytes(b"GGUF" + bytes(4000))
    draft = starter if case == "itself" else ModelRef(copy, "copy", 1)
    first = engine.write(PROMPTS[0], Speculation(draft=draft.key), draft)
    assert len(first.notices) == 1
    assert "cannot be used" in first.notices[0]
    assert first.text
    again = engine.write(PROMPTS[0], Speculation(draft=draft.key), draft)
    assert again.notices == []
    assert again.text == first.text
    engine.generator.close()


def test_a_draft_file_that_vanishes_while_loaded_does_no_harm(
    engine: Engine, starter: ModelRef, tmp_path: Path
) -> None:
    path = drop_layers(starter.path, tmp_path / "vanishing.gguf", [9, 12])
    draft = _ref(path)
    wanted = MODES["fixed 3"][1]
    first = engine.write(PROMPTS[1], wanted, draft)
    path.unlink()
    again = engine.write(PROMPTS[1], wanted, draft)
    assert again.text == first.text
    assert again.stats.speculation is not None
    assert again.stats.speculation.draft_accepted > 0


def test_turning_it_off_and_on_keeps_model_and_kv(
    engine: Engine, drafts: dict[str, ModelRef]
) -> None:
    engine.write(PROMPTS[2], MODES["automatic"][1], drafts["layers"])
    decoder = engine.generator.loaded.decoder
    for wanted in (OFF, MODES["fixed 2"][1], Speculation()):
        written = engine.write(PROMPTS[2], wanted, drafts["layers"])
        assert written.stats.reused_tokens == written.stats.prompt_tokens - 1
        assert engine.generator.loaded.decoder is decoder


def test_measuring_gives_a_curve_and_leaves_the_chat_alone(
    engine: Engine, drafts: dict[str, ModelRef]
) -> None:
    before = engine.write(PROMPTS[4], MODES["automatic"][1], drafts["layers"])
    resident = list(engine.generator.loaded.resident.tokens)
    events: list[GenerationEvent] = []
    engine.generator.calibrate(
        LoadRequest(engine.model, engine.settings, drafts["layers"]), events.append, StopSignal()
    )
    curves = [event for event in events if isinstance(event, SpeedCurve)]
    assert curves[-1].done == curves[-1].total
    assert [depth for depth, _ in curves[-1].points] == list(range(17))
    assert all(speed > 0 for _, speed in curves[-1].points)
    decoder: Any = engine.generator.loaded.decoder
    assert decoder.n_past(0) == len(resident)
    assert decoder.n_past(1) == 0
    again = engine.write(PROMPTS[4], MODES["automatic"][1], drafts["layers"])
    assert again.text == before.text
    assert again.stats.reused_tokens == again.stats.prompt_tokens - 1


def test_a_draft_by_text_changes_no_word_and_is_often_right(
    starter: ModelRef,
    drafts: dict[str, ModelRef],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    match = VocabularyMatch("text", 40_000, 0.5)
    monkeypatch.setattr(token_mapping, "compare", lambda _target, _draft: match)
    engine = Engine(starter, tmp_path)
    wanted = Speculation(draft="d", depth_mode="fixed", depth=4, prompt_lookup=False)
    accepted = 0
    for prompt in (*PROMPTS[::10], "Write three emoji and a word in Chinese: 😀 你好"):
        plain = engine.write(prompt, OFF)
        speculated = engine.write(prompt, wanted, drafts["other"])
        assert speculated.text == plain.text
        assert speculated.notices == []
        assert speculated.stats.speculation is not None
        accepted += speculated.stats.speculation.draft_accepted
    assert isinstance(engine.generator.loaded.speculation, SpeculationState)
    assert engine.generator.loaded.speculation.match is match
    assert accepted > 20
    engine.generator.close()
