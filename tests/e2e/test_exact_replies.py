"""With the exact setting no reuse changes a word, also of models that are not exact."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from headstart.core.models.ref import ModelRef
from headstart.engine import exactness
from headstart.engine.exactness import Exactness
from headstart.engine.prefix import speeds
from headstart.engine.prefix.speeds import PrefixSpeeds
from tests.models.tiny import make_tiny
from tests.support.exact_pairs import FAMILIES, MODES, Pair, run
from tests.support.sampled import sampled


@pytest.mark.parametrize("family", sampled(FAMILIES, "gemma2", "lfm2"))
def test_whatever_was_reused_the_words_are_the_same(
    family: str, starter: ModelRef, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # tiny models prefill faster than a file is opened; here everything that was kept comes back
    monkeypatch.setattr(speeds, "load", lambda *_: PrefixSpeeds(token_seconds=10.0))
    monkeypatch.setattr(PrefixSpeeds, "observe_prefill", lambda *_: None)
    # on some processors every model is exact: what is tried here is for those that are not
    monkeypatch.setattr(exactness, "check", lambda *_: Exactness(0.03))
    path = make_tiny(family, starter.path, tmp_path / "model.gguf")
    pair = Pair(tmp_path, ModelRef(path, "model", path.stat().st_size))
    counts = {mode: [0, 0] for mode in MODES}
    rng = random.Random(4)
    reused = sum(run(pair, rng, number, counts) for number in range(6))
    assert pair.kept.generator.loaded.exactness is not None
    assert not pair.kept.generator.loaded.exactness.exact
    pair.close()
    assert counts == {mode: [6, 6] for mode in MODES}
    # whole slices of 256 tokens were
    assert reused > 256
