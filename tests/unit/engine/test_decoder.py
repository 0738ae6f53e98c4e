"""The llama.cpp decoder on real weights: rows, cuts, aborts, seeds, errors."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from headstart.core.errors import ModelProblem
from headstart.core.models.ref import ModelRef
from headstart.core.settings.schema import EngineSettings, Sampling
from headstart.engine.backends.llama_cpp.context import CHUNK
from headstart.engine.backends.llama_cpp.decoder import LlamaCppDecoder
from headstart.engine.decoder import ContextFull, DecodeAborted

TEXT = "The quick brown fox jumps over the lazy dog. " * 30


@pytest.fixture(scope="module")
def loaded(starter: ModelRef) -> Iterator[LlamaCppDecoder]:
    decoder = LlamaCppDecoder(starter.path, EngineSettings(context_length=2048))
    yield decoder
    decoder.close()


@pytest.fixture
def decoder(loaded: LlamaCppDecoder) -> LlamaCppDecoder:
    loaded.clear_abort()
    loaded.truncate(0)
    return loaded


def _greedy(decoder: LlamaCppDecoder, count: int) -> list[int]:
    tokens = []
    for _ in range(count):
        tokens.append(decoder.argmax(0))
        decoder.forward([tokens[-1]], [0])
    return tokens


def test_a_cut_and_read_again_gives_the_same_words(decoder: LlamaCppDecoder) -> None:
    prompt = decoder.encode(TEXT)[:100]
    decoder.forward(prompt, [99])
    first = _greedy(decoder, 12)
    assert decoder.n_past() == 112
    assert decoder.truncate(99) == 99
    decoder.forward(prompt[99:], [0])
    assert _greedy(decoder, 12) == first


def test_rows_are_numbered_by_the_outputs_asked_for(decoder: LlamaCppDecoder) -> None:
    tokens = decoder.encode("one two three four five six")
    decoder.forward(tokens, [1, len(tokens) - 1])
    second = decoder.argmax(1)
    decoder.truncate(0)
    decoder.forward(tokens, [len(tokens) - 1])
    assert decoder.argmax(0) == second


def test_no_room_leaves_the_state_as_it_was(starter: ModelRef) -> None:
    decoder = LlamaCppDecoder(starter.path, EngineSettings(context_length=256))
    tokens = decoder.encode(TEXT)[:250]
    decoder.forward(tokens, [])
    with pytest.raises(ContextFull):
        decoder.forward(tokens[:20], [])
    assert decoder.n_past() == 250
    decoder.close()


@pytest.mark.parametrize("tokens", [[-1], [10**6], [], [5] * (CHUNK + 1)])
def test_what_would_end_the_process_is_an_error_before(
    decoder: LlamaCppDecoder, tokens: list[int]
) -> None:
    with pytest.raises(ValueError, match="token"):
        decoder.forward(tokens, [])


def test_abort_from_another_thread_ends_a_forward(decoder: LlamaCppDecoder) -> None:
    tokens = decoder.encode(TEXT)[:CHUNK]
    timer = threading.Timer(0.02, decoder.abort)
    timer.start()

    def read_much() -> None:
        for _ in range(8):
            decoder.forward(tokens, [])

    with pytest.raises(DecodeAborted):
        read_much()
    timer.join()
    decoder.clear_abort()
    kept = decoder.truncate(decoder.n_past() // 2)
    decoder.forward(tokens[:4], [3])
    assert decoder.n_past() == kept + 4


def test_the_same_seed_draws_the_same_tokens(decoder: LlamaCppDecoder) -> None:
    prompt = decoder.encode("Once upon a time")
    sampling = Sampling(temperature=1.2, top_p=0.95, top_k=50, repeat_penalty=1.1)

    def draw(seed: int) -> list[int]:
        decoder.truncate(0)
        decoder.forward(prompt, [len(prompt) - 1])
        sampler = decoder.sampler(sampling, seed)
        sampler.accept(prompt)
        tokens = []
        for _ in range(16):
            tokens.append(sampler.draw(0, decoder.n_past()))
            sampler.accept(tokens[-1:])
            decoder.forward([tokens[-1]], [0])
        sampler.close()
        return tokens

    assert draw(1) == draw(1)
    assert draw(1) != draw(2)


def test_temperature_zero_is_the_arg_max_unless_a_penalty_speaks(decoder: LlamaCppDecoder) -> None:
    prompt = decoder.encode("a a a a a a a a a a a a")
    decoder.forward(prompt, [len(prompt) - 1])
    greedy = decoder.sampler(Sampling(temperature=0), 1)
    best = decoder.argmax(0)
    assert greedy.draw(0, 0) == best
    penal = decoder.sampler(Sampling(temperature=0, presence_penalty=2, repeat_penalty=2), 1)
    penal.accept([best] * 3)
    assert penal.draw(0, 0) != best
    penal.close()


def test_pieces_join_to_the_text(decoder: LlamaCppDecoder) -> None:
    text = "naïve 日本語 🙂 end"
    assert b"".join(decoder.piece(token) for token in decoder.encode(text)).decode() == text


def test_loading_can_be_stopped_and_garbage_is_a_model_problem(
    starter: ModelRef, tmp_path: Path
) -> None:
    with pytest.raises(DecodeAborted):
        LlamaCppDecoder(starter.path, EngineSettings(), lambda _fraction: False)
    bad = tmp_path / "bad.gguf"
    bad.write_bytes(starter.path.read_bytes()[:100_000])
    with pytest.raises(ModelProblem, match="cannot open bad"):
        LlamaCppDecoder(bad, EngineSettings())


def test_closing_frees_the_model(starter: ModelRef) -> None:
    """Eight rounds of loading and closing do not grow the process."""
    import psutil

    def round_trip() -> int:
        LlamaCppDecoder(starter.path, EngineSettings(context_length=256)).close()
        return int(psutil.Process().memory_info().rss)

    first = [round_trip() for _ in range(3)][-1]
    last = [round_trip() for _ in range(8)][-1]
    assert last - first < 60_000_000
