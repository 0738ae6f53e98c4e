"""Models that keep no more of their sliding windows than these: little memory, and still nothing
is prefilled twice."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from headstart.core.models.ref import ModelRef
from headstart.core.settings.schema import EngineSettings, Sampling, Speculation, WindowCache
from headstart.engine.backends.llama_cpp.decoder import LlamaCppDecoder
from headstart.engine.prefix import speeds
from headstart.engine.prefix.speeds import PrefixSpeeds
from headstart.hub.library import open_model
from tests.models.tiny import FAMILIES, WINDOW, make_tiny
from tests.support.decoding import after, read
from tests.support.prefix_engine import (
    PrefixEngine,
    edited_after_a_restart,
    prose,
    user,
)

WINDOWS = [name for name, family in FAMILIES.items() if family.memory == "window"]
LENGTH, PLACES = 1500, (300, 1024, 1400)
# of a logit: the same keys and values, added up in another order; a missing token moves some by ten
NEAR = 0.2


@pytest.fixture(autouse=True)
def reading_is_dear(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tiny models read faster than a file is opened; here everything kept comes back."""
    monkeypatch.setattr(speeds, "load", lambda *_: PrefixSpeeds(token_seconds=10.0))
    monkeypatch.setattr(PrefixSpeeds, "observe_prefill", lambda *_: None)


def _open(path: Path, window_cache: WindowCache = "window") -> LlamaCppDecoder:
    engine = EngineSettings(context_length=2048, kv_type="bf16", window_cache=window_cache)
    return LlamaCppDecoder(path, engine)


def _text(length: int, seed: int = 1) -> list[int]:
    return [int(token) for token in np.random.default_rng(seed).integers(300, 4000, length)]


@pytest.mark.parametrize("family", WINDOWS)
def test_it_computes_what_the_whole_cache_computes(
    family: str, starter: ModelRef, tmp_path: Path
) -> None:
    path = make_tiny(family, starter.path, tmp_path / "model.gguf")
    text, more = _text(LENGTH), _text(20, 2)
    narrow, whole = _open(path), _open(path, "whole")
    read(narrow, text, ())
    read(whole, text, ())
    assert np.allclose(after(narrow, more), after(whole, more), atol=NEAR)
    # drafts are taken back exactly, as many of them as a forward has
    before = narrow.n_past()
    for decoder in (narrow, whole):
        decoder.forward(_text(16, 3), range(16))
        assert decoder.truncate(before + 1) == before + 1
    assert np.allclose(after(narrow, more), after(whole, more), atol=NEAR)
    # what the window has left is gone, and that is said
    assert narrow.reach(WINDOW + 10) == narrow.truncate(WINDOW + 10) == 0
    assert whole.reach(WINDOW + 10) == whole.truncate(WINDOW + 10) == WINDOW + 10
    narrow.close()
    whole.close()


@pytest.mark.parametrize("family", WINDOWS)
def test_its_state_comes_back_byte_for_byte(family: str, starter: ModelRef, tmp_path: Path) -> None:
    path = make_tiny(family, starter.path, tmp_path / "model.gguf")
    text, more = _text(LENGTH), _text(20, 2)
    source = _open(path)
    assert source.facts.snapshots
    assert source.facts.rollback == "exact"
    snapshots = read(source, text, PLACES)
    chunk = source.facts.chunk
    # as wide as every model's: only the other layers have ranges
    assert chunk == 256
    bounds = [(start, min(start + chunk, LENGTH)) for start in range(0, LENGTH, chunk)]
    ranges = {start: source.export(start, end) for start, end in bounds}
    for place in PLACES:
        other = _open(path)
        needed = [(start, end) for start, end in bounds if start < place]
        for start, end in needed:
            assert other.restore(ranges[start], start, end)
        assert other.back(snapshots[place], place)
        assert other.n_past() == place
        assert np.array_equal(other.snapshot(), snapshots[place])
        for start, end in needed[:-1]:
            assert np.array_equal(other.export(start, end), ranges[start])
        direct = _open(path)
        read(direct, text[:place], PLACES)
        assert np.allclose(after(other, more), after(direct, more), atol=NEAR)
        other.close()
        direct.close()
    source.close()


@pytest.mark.parametrize("family", WINDOWS)
def test_an_edited_chat_is_not_prefilled_from_its_start(
    family: str, starter: ModelRef, tmp_path: Path
) -> None:
    path = make_tiny(family, starter.path, tmp_path / "model.gguf")
    engine = PrefixEngine(tmp_path, open_model(path), window_cache="window")
    again, direct = edited_after_a_restart(engine, 900)
    assert again.reused > 850
    assert direct.reused == 0
    assert direct.text == again.text
    engine.stop()


@pytest.mark.parametrize("family", WINDOWS)
def test_drafts_from_repeated_text_change_no_word(
    family: str, starter: ModelRef, tmp_path: Path
) -> None:
    path = make_tiny(family, starter.path, tmp_path / "model.gguf", blocks=True)
    engine = PrefixEngine(tmp_path, open_model(path), window_cache="window")
    engine.chat("c")
    asked = [user(f"{prose(200)} {prose(200)}")]
    sampling = Sampling(temperature=0.8, seed=7, max_tokens=200)
    plain = engine.ask("c", asked, 200, sampling=sampling)
    drafted = engine.ask(
        "c", asked, 200, sampling=sampling, speculation=Speculation(depth_mode="fixed", depth=6)
    )
    assert drafted.text == plain.text
    engine.stop()
