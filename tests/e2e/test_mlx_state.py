"""The state of MLX models: kept and brought back, cut, gone back to; tokenizers; drafts. On any
processor."""

from __future__ import annotations

from tests.support import needs_mlx  # noqa: F401

# isort: split
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from headstart.core.settings.schema import EngineSettings, Speculation
from headstart.engine.backends.mlx.decoder import MlxDecoder
from headstart.engine.decoder import DecodeAborted
from headstart.engine.speculation.draft_model import DraftModel
from headstart.engine.speculation.profile import PairProfile, TargetProfile
from headstart.engine.speculation.token_mapping import make_mapping
from headstart.hub.library import open_model
from tests.models.tiny_mlx import FAMILIES, WINDOW
from tests.support.decoding import after, plain, read, speculated

LENGTH = 400


PLACES = (150, 256, 370)


TOKENS = 50


# forwards of one and of several tokens sum in another order
NEAR_TIE = 0.02


def _open(path: Path, context: int = 1024) -> MlxDecoder:
    return MlxDecoder(path, EngineSettings(context_length=context))


def _text(length: int = LENGTH, seed: int = 1) -> list[int]:
    return [int(token) for token in np.random.default_rng(seed).integers(300, 4000, length)]


@pytest.mark.parametrize("family", FAMILIES)
def test_state_comes_back_bit_for_bit(family: str, folders: dict[str, Path]) -> None:
    path = folders[family]
    text, more = _text(), _text(20, 2)
    source = _open(path)
    mixed = source.facts.rollback == "checkpoint"
    assert mixed == (family != "llama")
    snapshots = read(source, text, PLACES)
    chunk = source.facts.chunk
    assert chunk == (0 if family == "mamba2" else 256)
    ranges = [
        (start, min(start + chunk, LENGTH), source.export(start, min(start + chunk, LENGTH)))
        for start in range(0, LENGTH, chunk or LENGTH)
        if chunk
    ]
    untouched = _open(path)
    read(untouched, text, PLACES)
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
        assert other.n_past() == place
        direct = _open(path)
        read(direct, text[:place], PLACES)
        assert np.array_equal(after(other, more), after(direct, more))
        other.close()
        direct.close()
    source.close()
    untouched.close()


@pytest.mark.parametrize("family", FAMILIES)
def test_a_cut_is_exact_or_says_how_far_it_went(family: str, folders: dict[str, Path]) -> None:
    """Also where a window has wrapped: what the library would cut in silence is noticed."""
    text, more = _text(200), _text(12, 2)
    for length, checkpoint in ((WINDOW - 8, 20), (200, 190), (WINDOW + 6, WINDOW - 2)):
        decoder = _open(folders[family])
        read(decoder, text[:checkpoint])
        decoder.checkpoint()
        decoder.forward(text[checkpoint:length], [])
        assert decoder.n_past() == length
        foretold = decoder.reach(length - 3)
        left = decoder.truncate(length - 3)
        assert left == foretold
        assert left in (length - 3, checkpoint)
        assert decoder.n_past() == left
        direct = _open(folders[family])
        read(direct, text[:left])
        difference = np.abs(after(decoder, more) - after(direct, more)).max()
        assert difference < 1e-3
        decoder.close()
        direct.close()


def test_a_checkpoint_survives_what_comes_after_it(folders: dict[str, Path]) -> None:
    """Arrays that are written in place must not change what was remembered."""
    text, more = _text(120), _text(12, 2)
    for family in ("gemma3_text", "mamba2", "falcon_h1"):
        decoder = _open(folders[family])
        read(decoder, text)
        decoder.checkpoint()
        expected = None
        for _ in range(3):
            for token in _text(7, 5):
                decoder.forward([token], [0])
            assert decoder.truncate(len(text)) == len(text)
            found = after(decoder, more)
            assert expected is None or np.array_equal(found, expected)
            expected = found
            assert decoder.truncate(len(text)) == len(text)
        decoder.close()


def test_a_checkpoint_of_another_text_is_never_gone_back_to(folders: dict[str, Path]) -> None:
    """Cut exactly below it, and read something else past the window."""
    decoder = _open(folders["gemma3_text"])
    read(decoder, _text(30))
    decoder.checkpoint()
    assert decoder.truncate(10) == 10
    other = [*_text(30)[:10], *_text(80, 7)]
    read(decoder, other)
    assert decoder.reach(85) == 0
    assert decoder.truncate(85) == 0
    decoder.close()


def test_an_abort_in_the_middle_leaves_a_window_where_it_was(folders: dict[str, Path]) -> None:
    text = _text(150)
    for family in ("gemma3_text", "falcon_h1", "mamba2"):
        decoder, direct = _open(folders[family]), _open(folders[family])
        read(decoder, text[:100])
        read(direct, text[:100])
        steps = 0
        compute = decoder.compute

        def stop(*arguments: Any, compute: Any = compute, decoder: Any = decoder) -> Any:
            nonlocal steps
            steps += 1
            if steps == 3:
                decoder.abort()
            return compute(*arguments)

        decoder.compute = stop  # type: ignore[assignment,method-assign]
        with pytest.raises(DecodeAborted):
            decoder.forward(text[100:], [49])
        assert decoder.n_past() == 100
        decoder.clear_abort()
        assert np.array_equal(after(decoder, text[100:]), after(direct, text[100:]))
        decoder.close()
        direct.close()


def test_tokenizers_as_people_publish_them_are_read_right(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    """Leftovers of training, control tokens that are not marked, more tokens than rows."""
    folder = Path(shutil.copytree(folders["llama"], tmp_path / "model"))
    raw = json.loads((folder / "tokenizer.json").read_text())
    raw["truncation"] = {
        "direction": "Right", "max_length": 3, "strategy": "LongestFirst", "stride": 0,
    }  # fmt: skip
    for token in raw["added_tokens"]:
        token["special"] = False
    extra = {**raw["added_tokens"][0], "id": 4096, "content": "<image_soft_token>"}
    raw["added_tokens"].append(extra)
    (folder / "tokenizer.json").write_text(json.dumps(raw))
    model = open_model(folder)
    decoder = MlxDecoder(model.path, EngineSettings(context_length=128))
    assert decoder.facts.vocabulary_size == 4096
    assert len(decoder.encode("one two three four five six")) > 5
    assert decoder.is_end(2)
    assert 2 not in decoder.encode("<|im_end|>")
    decoder.forward(decoder.encode("Hello"), [0])
    decoder.close()


@pytest.mark.parametrize("family", FAMILIES)
def test_speculation_changes_no_word(family: str, folders: dict[str, Path]) -> None:
    prompt = list(range(300, 330)) * 2
    target, draft = _open(folders[family]), _open(folders[f"{family} draft"])
    own_words, gaps = plain(target, prompt, TOKENS)
    mapping, match = make_mapping(target, draft)
    assert mapping is not None
    assert match.tier == "same"
    model = DraftModel(draft, mapping)
    pair, profile = PairProfile(), TargetProfile()
    accepted = 0
    for wanted in (
        Speculation(draft="d", depth_mode="fixed", depth=3, prompt_lookup=False),
        Speculation(draft="d", depth_mode="fixed", depth=6, tree_branches="always"),
        Speculation(draft="d"),
        Speculation(),
    ):
        written, right = speculated(target, model, (profile, pair), wanted, prompt, TOKENS)
        accepted += right
        for place, (token, own) in enumerate(zip(written, own_words, strict=False)):
            if token != own:
                assert gaps[place] < NEAR_TIE, f"{wanted} differs at {place}"
                break
    assert accepted > 0
    model.close()
    target.close()
