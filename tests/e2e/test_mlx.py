"""The MLX backend, really run on a processor: the same words as llama.cpp, as its own plain
decoding, and after every kind of coming back. Models are tiny, but for the one that is compared."""

from __future__ import annotations

from tests.support import needs_mlx  # noqa: F401

# isort: split
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from headstart.core.events import Finished, TextAdded
from headstart.core.models.ref import ModelRef
from headstart.core.requests import GenerationRequest
from headstart.core.settings.schema import EngineSettings, Sampling, Speculation
from headstart.engine.backends.llama_cpp.decoder import LlamaCppDecoder
from headstart.engine.backends.mlx.decoder import MlxDecoder
from headstart.engine.decoder import DecodeAborted
from headstart.engine.prefix import speeds
from headstart.engine.prefix.speeds import PrefixSpeeds
from headstart.engine.stop import StopSignal
from headstart.hub.library import open_model
from tests.models.mlx_folder import make_mlx
from tests.models.tiny_mlx import FAMILIES
from tests.support.prefix_engine import PrefixEngine, assistant, prose, system, user

LENGTH = 400
PLACES = (150, 256, 370)
TOKENS = 50
# forwards of one and of several tokens sum in another order
NEAR_TIE = 0.02
EACH = 130
FEW = 50
QUESTIONS = (
    "Write a Python function that adds two numbers, and explain it.",
    "What is the capital of France, and what is it known for?",
    "Tell me a short story about a lighthouse keeper.",
    "Explain how a rainbow comes about.",
    "Name the planets and one thing about each.",
)


def _open(path: Path, context: int = 1024) -> MlxDecoder:
    return MlxDecoder(path, EngineSettings(context_length=context))


def _text(length: int = LENGTH, seed: int = 1) -> list[int]:
    return [int(token) for token in np.random.default_rng(seed).integers(300, 4000, length)]


# --- the same model in the other backend -----------------------------------------------------


@pytest.mark.parametrize(
    ("questions", "compared"),
    [(QUESTIONS[:1], FEW), pytest.param(QUESTIONS, 512, marks=pytest.mark.proof)],
    ids=["some", "all"],
)
def test_the_same_weights_say_the_same_as_in_llama_cpp(
    starter: ModelRef, tmp_path: Path, questions: Sequence[str], compared: int
) -> None:
    """Teacher-forced over places of replies: only near-ties fall the other way."""
    ours = MlxDecoder(make_mlx(starter.path, tmp_path / "smollm2"), EngineSettings())
    theirs = LlamaCppDecoder(starter.path, EngineSettings())
    same, worst, divergences = 0, 0.0, []
    for question in questions:
        tokens = _reply(theirs, question, EACH if questions is QUESTIONS else FEW)
        assert theirs.truncate(0) == ours.truncate(0) == 0
        for decoder in (ours, theirs):
            decoder.forward(tokens, range(len(tokens)))
        for row in range(len(tokens)):
            left, right = (_log_softmax(decoder.logits(row)) for decoder in (ours, theirs))
            divergences.append(float((np.exp(right) * (right - left)).sum()))
            if left.argmax() == right.argmax():
                same += 1
            else:
                first, second = np.sort(right)[[-1, -2]]
                worst = max(worst, float(first - second))
    theirs.close()
    ours.close()
    assert len(divergences) >= compared
    assert same >= 0.95 * len(divergences)
    assert worst <= 0.5
    assert np.median(divergences) < 0.01


def _reply(decoder: LlamaCppDecoder, question: str, most: int) -> list[int]:
    """A question and what the model says to it, as tokens."""
    start, end = 1, 2
    tokens = [
        start, *decoder.encode(f"user\n{question}"), end, *decoder.encode("\n"),
        start, *decoder.encode("assistant\n"),
    ]  # fmt: skip
    decoder.truncate(0)
    decoder.forward(tokens, [len(tokens) - 1])
    while len(tokens) < most and not decoder.is_end(decoder.argmax(0)):
        tokens.append(decoder.argmax(0))
        decoder.forward(tokens[-1:], [0])
    return tokens


def _log_softmax(logits: npt.NDArray[np.float32]) -> npt.NDArray[np.float64]:
    wide = logits.astype(np.float64) - float(logits.max())
    result: npt.NDArray[np.float64] = wide - np.log(np.exp(wide).sum())
    return result


def test_both_backends_cut_text_into_the_same_tokens(starter: ModelRef, tmp_path: Path) -> None:
    folder = make_mlx(starter.path, tmp_path / "smollm2", layers=1)
    ours = MlxDecoder(folder, EngineSettings(context_length=256))
    theirs = LlamaCppDecoder(starter.path, EngineSettings(context_length=256))
    for text in (
        "Grüße, 12345 Kühe! 你好 🐄",
        "<|im_end|> is only words here",
        "def f(x):\n\tpass",
    ):
        tokens = theirs.encode(text)
        assert ours.encode(text) == tokens
        assert [ours.piece(token) for token in tokens] == [theirs.piece(token) for token in tokens]
    assert ours.vocabulary() == theirs.vocabulary()
    assert ours.facts.special_tokens == theirs.facts.special_tokens
    assert ours.facts.chat_template == theirs.facts.chat_template
    assert [token for token in range(20) if ours.is_end(token)] == [
        token for token in range(20) if theirs.is_end(token)
    ]
    ours.close()
    theirs.close()


# --- through the generator -------------------------------------------------------------------


@pytest.fixture
def reading_is_dear(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiny models read faster than a file is opened; here everything kept comes back."""
    monkeypatch.setattr(speeds, "load", lambda *_: PrefixSpeeds(token_seconds=10.0))
    monkeypatch.setattr(PrefixSpeeds, "observe_prefill", lambda *_: None)


def _engine(folder: Path, path: Path, context: int = 2048) -> PrefixEngine:
    engine = PrefixEngine(folder, open_model(path))
    engine.settings = EngineSettings(context_length=context, backend="mlx")
    return engine


@pytest.mark.usefixtures("reading_is_dear")
@pytest.mark.parametrize("family", FAMILIES)
def test_prefixes_come_back_after_restarts_and_branch_switches(
    family: str, folders: dict[str, Path], tmp_path: Path
) -> None:
    engine = _engine(tmp_path, folders[family])
    engine.chat("c")
    first = [system("Be brief."), user(prose(200))]
    answer = engine.ask("c", first)
    engine.rest()
    history = [*first, assistant(answer.text)]
    branches = [
        [*history, user("And in other words?", "q2")],
        [*history, user("What about the harbour?", "q2b")],
    ]
    texts = [engine.ask("c", branch).text for branch in branches]
    engine.leave()
    for turn in range(4):
        if turn == 2:
            engine.restart()
        again = engine.ask("c", branches[turn % 2])
        assert again.text == texts[turn % 2]
        assert again.reused > 200
        assert again.stats.prefix.from_disk > 0 or turn != 2
    engine.restart()
    engine.store.wait_until_ready()
    engine.store.controls.clear()
    direct = engine.ask("c", branches[0])
    assert direct.reused == 0
    assert direct.text == texts[0]
    engine.stop()


def test_a_seed_says_the_same_with_and_without_speculation(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    engine = _engine(tmp_path, folders["llama"])
    engine.chat("c")
    draft = open_model(folders["llama draft"])
    wanted = Speculation(draft=draft.key, depth_mode="fixed", depth=3)
    question = [user(prose(30))]
    for sampling in (
        Sampling(temperature=0.9, seed=3, max_tokens=40),
        Sampling(temperature=1.2, seed=4, max_tokens=40, top_k=0, top_p=0.95, repeat_penalty=1.2),
    ):
        plain = engine.ask("c", question, sampling=sampling)
        speculated = engine.ask("c", question, sampling=sampling, speculation=wanted, draft=draft)
        assert speculated.text == plain.text
        assert speculated.stats.speculation is not None
        assert speculated.stats.speculation.draft_accepted > 0
    engine.stop()


@pytest.mark.parametrize("temperature", [0.0, 0.9])
def test_what_is_begun_early_is_what_is_asked_for_or_thrown_away(
    temperature: float, folders: dict[str, Path]
) -> None:
    prompt, sampling = _text(40), Sampling(temperature=temperature)
    early, plain = _open(folders["llama"]), _open(folders["llama"])
    samplers = [decoder.sampler(sampling, 5) for decoder in (early, plain)]
    for decoder in (early, plain):
        decoder.forward(prompt, [len(prompt) - 1])
    hits = 0
    for step in range(30):
        place = early.n_past()
        tokens = [sampler.draw(0, place) for sampler in samplers]
        assert tokens[0] == tokens[1]
        token = tokens[0] if step % 7 else (tokens[0] + 1) % 4000
        hits += early.ahead is not None and early.ahead.token.item() == token
        samplers[0].look_ahead(place + 1)
        for decoder in (early, plain):
            decoder.forward([token], [0])
            assert decoder.n_past() == place + 1
        assert np.array_equal(early.logits(0), plain.logits(0))
        if step == 20:
            # in the middle of a batch, and cut after it
            more = [samplers[0].draw(0, place + 1), 500, 600]
            for decoder in (early, plain):
                decoder.forward(more, [0, 2])
            assert np.allclose(early.logits(0), plain.logits(0), atol=1e-4)
            assert np.allclose(early.logits(1), plain.logits(1), atol=1e-4)
            assert early.truncate(place + 2) == plain.truncate(place + 2) == place + 2
            for decoder in (early, plain):
                decoder.forward([700], [0])
    assert hits > 20
    early.close()
    plain.close()


@pytest.mark.proof
def test_a_gguf_draft_drafts_for_an_mlx_target(starter: ModelRef, tmp_path: Path) -> None:
    """Formats live side by side, in one turn even."""
    target = open_model(make_mlx(starter.path, tmp_path / "target", bits=8))
    engine = PrefixEngine(tmp_path, target)
    engine.settings = EngineSettings(context_length=256, backend="mlx")
    engine.chat("c")
    wanted = Speculation(draft=starter.key, depth_mode="fixed", depth=4)
    answer = engine.ask("c", [user("Hi!")], 10, speculation=wanted, draft=starter)
    assert answer.stats.speculation is not None
    assert answer.stats.speculation.draft_accepted >= 4
    engine.stop()


def test_a_stop_ends_reading_between_two_pieces(folders: dict[str, Path]) -> None:
    decoder = _open(folders["llama"])
    decoder.abort()
    with pytest.raises(DecodeAborted):
        decoder.forward(_text(100), [99])
    assert decoder.n_past() == 0
    decoder.clear_abort()
    decoder.forward(_text(100), [99])
    assert decoder.n_past() == 100
    decoder.close()


def test_a_cancelled_reply_keeps_what_was_said(folders: dict[str, Path], tmp_path: Path) -> None:
    engine = _engine(tmp_path, folders["llama"])
    engine.chat("c")
    told: list[object] = []
    cancel = StopSignal()

    def emit(event: object) -> None:
        told.append(event)
        if isinstance(event, TextAdded) and event.tokens > 5:
            cancel.stop()

    request: GenerationRequest = engine.request("c", [user(prose(20))], 400)
    engine.generator.generate(request, emit, cancel)
    last = told[-1]
    assert isinstance(last, Finished)
    assert 5 < last.stats.generated_tokens < 400
    decoder = engine.generator.loaded.decoder
    assert decoder is not None
    assert decoder.n_past() == len(engine.generator.loaded.resident.tokens)
    engine.stop()
