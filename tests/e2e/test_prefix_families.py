"""Every cache family, bit for bit: what comes back is what was there, also in other processes,
in contexts of another size, beside other sequences and after switches."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from headstart.core.models.ref import ModelRef
from headstart.core.prefixes import IndexState
from headstart.core.requests import LoadRequest
from headstart.core.settings.schema import EngineSettings
from headstart.engine.backends.llama_cpp.decoder import LlamaCppDecoder
from headstart.engine.prefix import keys, speeds
from headstart.engine.prefix.fingerprint import fingerprint
from headstart.engine.prefix.prefix_cache import PrefixCache
from headstart.engine.prefix.speeds import PrefixSpeeds
from headstart.engine.prefix.store import PrefixStore
from headstart.engine.stop import StopSignal
from headstart.hub.library import open_model
from tests.models.tiny import FAMILIES, make_tiny
from tests.support.decoding import after, read
from tests.support.prefix_engine import (
    PrefixEngine,
    edited_after_a_restart,
)
from tests.support.sampled import sampled

LENGTH = 700
PLACES = (300, 512, 650)


@pytest.fixture(autouse=True)
def reading_is_dear(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiny models read faster than a file is opened; here everything kept comes back."""
    monkeypatch.setattr(speeds, "load", lambda *_: PrefixSpeeds(token_seconds=10.0))
    monkeypatch.setattr(PrefixSpeeds, "observe_prefill", lambda *_: None)


def _open(path: Path, context: int = 1024) -> LlamaCppDecoder:
    return LlamaCppDecoder(path, EngineSettings(context_length=context, kv_type="bf16"))


def _text(length: int = LENGTH, seed: int = 1) -> list[int]:
    return [int(token) for token in np.random.default_rng(seed).integers(300, 4000, length)]


@pytest.mark.parametrize("family", FAMILIES)
def test_state_comes_back_bit_for_bit(family: str, starter: ModelRef, tmp_path: Path) -> None:
    path = make_tiny(family, starter.path, tmp_path / "model.gguf")
    text, more = _text(), _text(20, 2)
    source = _open(path)
    mixed = source.facts.rollback == "checkpoint"
    snapshots = read(source, text, PLACES if mixed else ())
    chunk = source.facts.chunk
    ranges = [
        (start, min(start + chunk, LENGTH), source.export(start, min(start + chunk, LENGTH)))
        for start in range(0, LENGTH, chunk or LENGTH)
        if chunk
    ]
    # exporting changed nothing
    untouched = _open(path)
    read(untouched, text, PLACES if mixed else ())
    assert np.array_equal(after(source, more), after(untouched, more))
    for place in PLACES:
        other = _open(path, 2048)
        for start, end, blob in ranges:
            if start < place:
                assert other.restore(blob, start, end)
        if mixed:
            assert other.back(snapshots[place], place)
        else:
            assert other.truncate(place) == place
        direct = _open(path)
        read(direct, text[:place], PLACES if mixed else ())
        assert np.array_equal(after(other, more), after(direct, more))
        if not mixed:
            # and cut deep, which a sliding window with holes would only pretend to do
            assert other.truncate(place - 150) == direct.truncate(place - 150) == place - 150
            assert np.array_equal(after(other, more), after(direct, more))
        other.close()
        direct.close()
    source.close()
    untouched.close()


class _NoIndex:
    def load(self) -> IndexState:
        return IndexState()

    def __getattr__(self, _name: str) -> Any:
        return lambda *_arguments: None


@pytest.mark.parametrize("family", ["llama", "gemma3", "granitehybrid"])
def test_switching_branches_changes_no_bit(family: str, starter: ModelRef, tmp_path: Path) -> None:
    """Two branches over a shared beginning, in turns, beside other sequences in the context."""
    path = make_tiny(family, starter.path, tmp_path / "model.gguf")
    shared = _text(400)
    branches = [[*shared, *_text(200, seed)] for seed in (3, 4)]
    more = _text(20, 2)
    expected = []
    for branch in branches:
        direct = _open(path)
        read(direct, branch, (400, 600))
        expected.append(after(direct, more))
        direct.close()
    decoder = _open(path, 4096)
    if decoder.facts.leaves > 1:
        # cells of another sequence lie in the same cache, for all the time
        decoder.forward(_text(64, 9), [], seq=2)
    store = PrefixStore(tmp_path / "prefixes", _NoIndex())
    store.wait_until_ready()
    prefix_cache = PrefixCache(
        decoder,
        store,
        keys.namespace(fingerprint(path), decoder.facts.state, decoder.facts.chunk),
        PrefixSpeeds(token_seconds=10.0),
    )
    held: list[int] = []
    for turn in range(6):
        branch = branches[turn % 2]
        prefix_cache.restore(held, branch)
        assert len(held) == (600 if turn > 1 else 400 if turn == 1 else 0)
        while len(held) < len(branch):
            end = min((len(held) // 256 + 1) * 256, 400 if len(held) < 400 else 600)
            part = branch[len(held) : end]
            decoder.forward(part, [])
            held.extend(part)
            prefix_cache.mark(held)
        for _ in prefix_cache.save(held, "c"):
            pass
        assert np.array_equal(after(decoder, more), expected[turn % 2])
        held.extend(more)
    store.close(5)
    decoder.close()


OTHER_PROCESS = """
import sys
from pathlib import Path
from headstart.hub.library import open_model
from headstart.engine.prefix import speeds
from tests.support.prefix_engine import PrefixEngine, prose, system, user
speeds.PrefixSpeeds.see_reading = lambda *_: None
engine = PrefixEngine(Path(sys.argv[1]), open_model(Path(sys.argv[2])))
engine.chat("c")
engine.ask("c", [system("Be brief."), user(prose(300))], 24)
tokens = engine.generator.loaded.resident.tokens
engine.leave()
print(*tokens)
engine.generator.loaded.decoder.forward([300, 301, 302], [2])
print(engine.generator.loaded.decoder.logits(0).tobytes().hex())
engine.stop(save=False)
"""


@pytest.mark.parametrize("family", sampled(FAMILIES, "llama", "gemma3", "granitehybrid"))
def test_another_process_goes_on_bit_for_bit(
    family: str, starter: ModelRef, tmp_path: Path
) -> None:
    path = make_tiny(family, starter.path, tmp_path / "model.gguf")
    done = subprocess.run(
        [sys.executable, "-c", OTHER_PROCESS, str(tmp_path), str(path)],
        capture_output=True,
        text=True,
        check=True,
    )
    first, second = done.stdout.splitlines()
    tokens = [int(token) for token in first.split()]
    engine = PrefixEngine(tmp_path, open_model(path), context=4096)
    engine.generator.preload(
        LoadRequest(engine.model, engine.settings), lambda _: None, StopSignal()
    )
    prefiller, decoder = engine.generator.loaded.prefiller, engine.generator.loaded.decoder
    assert prefiller is not None
    assert prefiller.prefix_cache is not None
    assert isinstance(decoder, LlamaCppDecoder)
    restored = prefiller.prefix_cache.restore(prefiller.resident.tokens, [*tokens, 1])
    assert restored.from_disk == len(tokens) > 300
    decoder.forward([300, 301, 302], [2])
    assert decoder.logits(0).tobytes().hex() == second
    prefiller.resident.tokens.extend([300, 301, 302])
    engine.stop()


@pytest.mark.parametrize("family", sampled(FAMILIES, "llama", "gemma3", "granitehybrid"))
def test_an_edited_message_after_a_restart_is_not_read_from_the_start(
    family: str, starter: ModelRef, tmp_path: Path
) -> None:
    path = make_tiny(family, starter.path, tmp_path / "model.gguf")
    engine = PrefixEngine(tmp_path, open_model(path))
    again, direct = edited_after_a_restart(engine, 300)
    assert again.reused > 250
    assert direct.reused == 0
    assert direct.text == again.text
    engine.stop()
