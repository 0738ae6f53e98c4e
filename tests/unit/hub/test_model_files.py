"""Models in several files, and files that are no chat models."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from headstart.core.errors import ModelProblem
from headstart.core.models.ref import ModelRef
from headstart.core.models.split_files import parts, title
from headstart.core.settings.schema import EngineSettings
from headstart.engine.backends.llama_cpp.decoder import LlamaCppDecoder
from headstart.engine.prefix.fingerprint import fingerprint
from headstart.hub import library
from headstart.hub.checked import CheckedModelsFile
from headstart.hub.gguf import GgufHeader, peek, read_header
from headstart.hub.kinds import why_no_chat
from tests.models.llama_source import vocabulary
from tests.models.split import split
from tests.models.tiny import make_tiny


@pytest.fixture(scope="module")
def tiny(starter: ModelRef, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny("llama", starter.path, tmp_path_factory.mktemp("tiny") / "tiny.gguf")


def test_the_parts_of_a_model_are_named_by_each_of_them() -> None:
    second = Path("/m/big-Q4_K_M-00002-of-00003.gguf")
    assert [path.name for path in parts(second)] == [
        "big-Q4_K_M-00001-of-00003.gguf",
        "big-Q4_K_M-00002-of-00003.gguf",
        "big-Q4_K_M-00003-of-00003.gguf",
    ]
    assert title(second) == "big-Q4_K_M"
    alone = Path("/m/small.gguf")
    assert parts(alone) == (alone,)
    assert title(alone) == "small"


@pytest.mark.parametrize("first_empty", [False, True])
def test_any_part_opens_the_whole_model(tiny: Path, tmp_path: Path, first_empty: bool) -> None:
    paths = split(tiny, tmp_path, first_empty=first_empty)
    model = library.open_model(paths[1])
    assert model.path == paths[0]
    assert model.name == "split"
    assert model.size == sum(path.stat().st_size for path in paths)
    decoder, whole = (
        LlamaCppDecoder(path, EngineSettings(context_length=512)) for path in (model.path, tiny)
    )
    tokens = decoder.encode("A river runs to the sea.")
    for each in (decoder, whole):
        each.forward(tokens, [len(tokens) - 1])
    assert (decoder.row(0) == whole.row(0)).all()
    decoder.close()
    whole.close()


def test_a_missing_part_is_named(tiny: Path, tmp_path: Path) -> None:
    paths = split(tiny, tmp_path)
    paths[2].unlink()
    with pytest.raises(ModelProblem, match=r"1 of 3 parts are missing .split-00003-of-00003"):
        library.open_model(paths[0])


def test_a_part_of_another_model_is_named(tiny: Path, tmp_path: Path) -> None:
    paths = split(tiny, tmp_path)
    other = tmp_path / "other"
    other.mkdir()
    for path, changed in zip(paths, split(tiny, other, count=4), strict=False):
        if path == paths[1]:
            path.write_bytes(changed.read_bytes())
    with pytest.raises(ModelProblem, match=r"split-00002-of-00003\.gguf does not belong to split"):
        library.open_model(paths[0])


def test_a_part_under_another_name_says_what_it_is(tiny: Path, tmp_path: Path) -> None:
    renamed = split(tiny, tmp_path)[0].rename(tmp_path / "model.gguf")
    with pytest.raises(ModelProblem, match="one of 3 parts"):
        library.open_model(renamed)


def test_a_change_in_any_part_is_another_model(tiny: Path, tmp_path: Path) -> None:
    paths = split(tiny, tmp_path)
    model = library.open_model(paths[0])
    checked = CheckedModelsFile(tmp_path / "checked.json")
    checked.add(model, EngineSettings())
    assert checked.lacking(model, EngineSettings()) is not None
    before = fingerprint(model.path)
    paths[2].write_bytes(paths[2].read_bytes() + b"\0" * 32)
    assert checked.lacking(model, EngineSettings()) is None
    assert fingerprint(model.path) != before


def test_a_vocabulary_alone_is_no_model() -> None:
    with pytest.raises(ModelProblem, match="a vocabulary without weights, not a chat model"):
        library.open_model(vocabulary("phi-3"))


_CHAT = GgufHeader(3, {"general.architecture": "llama"}, 10, 0, 0, 0)


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({}, None),
        ({"general.type": "model", "llama.pooling_type": 0}, None),
        ({"general.architecture": "bert"}, "file-is-embedding"),
        ({"general.architecture": "qwen3", "qwen3.pooling_type": 3}, "file-is-embedding"),
        ({"general.architecture": "qwen3", "qwen3.pooling_type": 4}, "file-is-reranker"),
        ({"general.architecture": "dream"}, "file-is-diffusion"),
        ({"general.architecture": "clip"}, "file-is-projector"),
        ({"general.type": "mmproj"}, "file-is-projector"),
        ({"general.type": "adapter"}, "file-is-adapter"),
        ({"general.architecture": "eagle3"}, "file-is-head"),
        ({"general.architecture": "dflash"}, "file-is-head"),
        ({"general.architecture": "qwen35-dflash-draft"}, "file-is-head"),
        ({"general.architecture": "gemma4-assistant"}, "file-is-head"),
        ({"general.architecture": "flux"}, "file-is-picture-model"),
        ({"general.type": "imatrix"}, "file-is-imatrix"),
    ],
)
def test_other_kinds_of_files_are_told_by_their_headers(
    said: dict[str, str | int | float | bool], why: str | None
) -> None:
    header = msgspec.structs.replace(_CHAT, metadata={**_CHAT.metadata, **said})
    assert why_no_chat(header) == why


@pytest.mark.parametrize(
    ("start", "words"),
    [
        (b"GGUF\0\0\0\3", "another order of bytes"),
        (b"GGUF\0\0\0\2", "another order of bytes"),
        (b"GGUF\1\0\0\0", "version 1, which nothing reads"),
        (b"GGUF\4\0\0\0", "version 4, which this Headstart does not know"),
        (b"GGUF\xff\xff\xff\xff", "damaged"),
        (b"tjgg\3\0\0\0", "old format from before GGUF"),
        (b"lmgg\1\0\0\0", "old format from before GGUF"),
        (b"fmgg\1\0\0\0", "old format from before GGUF"),
        (b"algg\1\0\0\0", "old format from before GGUF"),
    ],
)
def test_a_sound_file_of_another_version_is_not_called_damaged(
    start: bytes, words: str, tmp_path: Path
) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(start + bytes(200))
    with pytest.raises(ModelProblem, match=words):
        read_header(path)
    with pytest.raises(ModelProblem, match=words):
        peek(path.read_bytes(), "m.gguf")
