"""Models that keep a state for each of the last forward's tokens: some are taken back without a
copy of the state, and never more than there are."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import numpy as np
import pytest

from headstart.core.models.fit import UNDO
from headstart.core.models.ref import ModelRef
from headstart.core.settings.schema import EngineSettings
from headstart.engine.backends.llama_cpp.decoder import LlamaCppDecoder
from headstart.engine.decoder import DecodeAborted
from tests.models.tiny import FAMILIES, make_tiny
from tests.support.decoding import after, read

TAKE_BACK = ("lfm2", "qwen35", "nemotron_h")
SPARE = 1
# of a logit: the same tokens in forwards of other lengths. A wrong state moves some by ten
NEAR = 0.2


def _open(path: Path) -> LlamaCppDecoder:
    return LlamaCppDecoder(path, EngineSettings(context_length=2048, kv_type="bf16"))


@pytest.mark.parametrize("family", FAMILIES)
def test_what_llama_cpp_clamps_to_nothing_is_not_promised(
    family: str, starter: ModelRef, tmp_path: Path
) -> None:
    decoder = _open(make_tiny(family, starter.path, tmp_path / "model.gguf"))
    assert decoder.facts.undo == (UNDO if family in TAKE_BACK else 0)
    decoder.close()


@pytest.mark.parametrize("family", TAKE_BACK)
@pytest.mark.parametrize("seed", [1, pytest.param(2, marks=pytest.mark.proof)])
def test_what_is_taken_back_was_never_there(
    family: str, seed: int, starter: ModelRef, tmp_path: Path
) -> None:
    path = make_tiny(family, starter.path, tmp_path / "model.gguf")
    random = np.random.default_rng(seed)
    decoder, direct = _open(path), _open(path)
    text: list[int] = []
    without_copy = 0

    def more(count: int) -> list[int]:
        return [int(token) for token in random.integers(300, 4000, count)]

    for _ in range(80):
        new = more(int(random.integers(1, 10)))
        decoder.forward(new, [len(new) - 1])
        text += new
        match int(random.integers(6)):
            case 0:
                decoder.checkpoint()
            case 1:
                # reading and copying between a forward and a cut changes nothing
                start = max(0, len(text) - 20)
                decoder.export(start, len(text))
                decoder.snapshot()
            case 2:
                decoder.truncate(0, SPARE)
                decoder.forward(more(3), [2], SPARE)
        back = int(random.integers(0, len(new)))
        wanted = len(text) - back
        promised = decoder.reach(wanted)
        left = decoder.truncate(wanted)
        assert left == promised
        assert left == decoder.n_past() <= len(text)
        without_copy += 0 < back <= UNDO and left == wanted
        if random.integers(3) == 0 and left > 1:
            # a second cut after the same forward
            left = decoder.truncate(left - 1)
            assert left <= wanted - 1
        if random.integers(4) == 0 and left:
            # another sequence, with a cut that the live one has not yet gone on from
            decoder.truncate(0, SPARE)
            decoder.forward(more(2), [1], SPARE)
        text = text[:left]
        assert decoder.n_past() == left
        probe = more(1)
        direct.truncate(0)
        read(direct, text)
        assert np.allclose(after(decoder, probe), after(direct, probe), atol=NEAR)
        text += probe
    assert without_copy > 15
    decoder.close()
    direct.close()


@pytest.mark.parametrize("family", [name for name in FAMILIES if FAMILIES[name].memory == "hybrid"])
def test_ranges_are_the_same_with_and_without_the_state_beside_them(
    family: str, starter: ModelRef, tmp_path: Path
) -> None:
    decoder = _open(make_tiny(family, starter.path, tmp_path / "model.gguf"))
    read(decoder, [300 + at * 7 % 3000 for at in range(600)])
    first = decoder.export(0, 256)
    # the first one looked at all of it; later ones leave the state out while they copy
    assert np.array_equal(decoder.export(0, 256), first)
    assert len(decoder.export(256, 512)) == len(first)
    assert np.array_equal(decoder.export(256, 512), decoder.export(256, 512))
    decoder.close()


@pytest.mark.parametrize("family", [*TAKE_BACK, "mamba", "falcon-h1", "llama"])
def test_a_stop_in_the_middle_of_a_reply_leaves_the_text_as_it_was(
    family: str, starter: ModelRef, tmp_path: Path
) -> None:
    """llama.cpp goes on with stale states where a short forward is cut off."""
    path = make_tiny(family, starter.path, tmp_path / "model.gguf")
    random = np.random.default_rng(3)
    decoder, direct = _open(path), _open(path)
    text = [int(token) for token in random.integers(300, 4000, 40)]
    for each in (decoder, direct):
        each.forward(text, [39])
    over = threading.Event()

    def stop_and_go_on() -> None:
        pause = 0.0003
        while not over.is_set():
            decoder.abort()
            time.sleep(0.0003)
            decoder.clear_abort()
            time.sleep(pause)
            # on a slow computer a forward needs a longer pause to come to its end
            pause = 0.0003 if pause > 0.02 else pause * 1.2

    stopping = threading.Thread(target=stop_and_go_on)
    stopping.start()
    cut = 0
    try:
        for _ in range(120):
            new = [int(token) for token in random.integers(300, 4000, random.integers(1, 6))]
            while True:
                try:
                    decoder.forward(new, [len(new) - 1])
                    break
                except DecodeAborted:
                    cut += 1
                    assert decoder.truncate(len(text)) == decoder.n_past() == len(text)
            direct.forward(new, [len(new) - 1])
            assert np.array_equal(decoder.row(0), direct.row(0))
            text += new
    finally:
        over.set()
        stopping.join()
    assert cut > 5
    decoder.close()
    direct.close()
