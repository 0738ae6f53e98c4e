"""What files say of themselves as heads: found beside models, and never taken for one."""

from __future__ import annotations

from pathlib import Path

import pytest

from headstart.core.errors import ModelProblem
from headstart.core.models.heads import HeadKind
from headstart.core.models.ref import ModelRef
from headstart.hub import about
from headstart.hub.heads import own_layers, read_head
from headstart.hub.model_files import check_parts
from headstart.hub.shapes import read_shape
from tests.models.heads import only, random_block, random_eagle3
from tests.models.tiny import make_tiny

BEGINNING = 1 << 16


def ref(path: Path) -> ModelRef:
    return ModelRef(path, path.stem, path.stat().st_size)


@pytest.fixture(scope="module")
def own(starter: ModelRef, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("own") / "own.gguf"
    return make_tiny("qwen35", starter.path, path, own_layers=1)


def no_chat(path: Path) -> str:
    return about.of_file(path.name, path.read_bytes()[:BEGINNING], path).no_chat


def test_an_eagle3_file_says_what_it_wants_and_is_no_chat_model(
    starter: ModelRef, tmp_path: Path
) -> None:
    path = random_eagle3(starter.path, tmp_path / "head.gguf", layers=[2, 9, 20])
    facts = read_head(ref(path))
    assert facts is not None
    assert (facts.kind, facts.width, facts.vocabulary) == (HeadKind.EAGLE3, 576, 49_152)
    assert facts.taps == (2, 9, 20)
    assert no_chat(path) == "file-is-head"
    with pytest.raises(ModelProblem, match="drafts for one certain model"):
        check_parts(path)
    assert read_head(starter) is None


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("dflash", HeadKind.DFLASH),
        ("dflash2", HeadKind.DFLASH),
        ("dspark", HeadKind.DSPARK),
    ],
)
def test_a_head_that_drafts_blocks_says_what_it_wants_and_is_no_chat_model(
    kind: str, expected: HeadKind, starter: ModelRef, tmp_path: Path
) -> None:
    path = random_block(starter.path, tmp_path / "head.gguf", kind, taps=[2, 9, 20], block=8)
    facts = read_head(ref(path))
    assert facts is not None
    assert (facts.kind, facts.width, facts.vocabulary) == (expected, 576, 49_152)
    assert (facts.taps, facts.depth) == ((2, 9, 20), 7)
    assert no_chat(path) == "file-is-head"
    shape = read_shape(ref(path))
    # two layers with three heads of keys and values, 64 wide
    assert (shape.keys, shape.values, shape.layers) == (2 * 3 * 64, 2 * 3 * 64, 2)


def test_layers_of_a_models_own_file_are_counted_by_their_tensors(
    own: Path, starter: ModelRef, tmp_path: Path
) -> None:
    found = own_layers(ref(own))
    assert found.usable
    assert (found.there, found.told) == (1, 1)
    assert no_chat(own) == ""
    assert read_shape(ref(own)).own_layers == 1
    assert read_shape(ref(own)).own_keys > 0
    assert not own_layers(starter).usable
    # a converter left them out, and the key stayed
    stripped = only(own, tmp_path / "stripped.gguf", r"^(?!blk\.4)")
    assert not own_layers(ref(stripped)).usable
    assert own_layers(ref(stripped)).told == 1
    assert read_shape(ref(stripped)).own_layers == 0


def test_a_file_of_such_layers_alone_is_a_head(own: Path, tmp_path: Path) -> None:
    alone = only(own, tmp_path / "mtp.gguf", r"^(?!blk\.[0-3]\.)")
    facts = read_head(ref(alone))
    assert facts is not None
    assert (facts.kind, facts.architecture) == (HeadKind.LAYERS, "qwen35")
    assert no_chat(alone) == "file-is-head"
    assert not own_layers(ref(alone)).usable


def test_more_layers_than_a_graph_takes_are_not_used(starter: ModelRef, tmp_path: Path) -> None:
    two = make_tiny("qwen35", starter.path, tmp_path / "two.gguf", own_layers=2)
    found = own_layers(ref(two))
    assert (found.there, found.told, found.usable) == (2, 2, False)
