"""Reads a model folder's facts, and checks that it is complete; loads nothing.

The format is that of MLX and of Hugging Face repositories: `config.json`, weights in safetensors
files, `tokenizer.json`. Called from worker threads. Nothing in the folder is trusted.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from headstart.core.errors import ModelProblem
from headstart.core.strange_json import decoded

_BITS = frozenset((1, 2, 3, 4, 5, 6, 8))
_GROUPS = frozenset((16, 32, 64, 128))
_MODES = frozenset(("affine", "mxfp4", "mxfp8", "nvfp4"))
_METHODS = frozenset(
    ("awq", "gptq", "mxfp4", "mxfp8", "fp8", "bitnet", "compressed-tensors", "modelopt")
)
_PART = re.compile(r"-(\d{5})-of-(\d{5})\.safetensors$")
_LARGEST_HEADER = 100_000_000
_LARGEST_JSON = 200_000_000
# files that a folder needs beside its weights
FOLDER_FILES = re.compile(
    r"config\.json|generation_config\.json|tokenizer.*|special_tokens_map\.json|added_tokens\.json"
    r"|vocab\.(?:json|txt)|merges\.txt|chat_template.*|.*\.index\.json|.*\.tiktoken|.*\.model",
    re.IGNORECASE,
)


class MlxFolder(Struct, frozen=True):
    """`config` is `config.json`, or its part for the text model if a folder has several."""

    config: Mapping[str, Any]
    tokenizer: Mapping[str, Any]
    # the tokens that begin and end a text, from the tokenizer's configuration
    begin: str
    end: str
    size: int


# of models, and of heads
_WEIGHTS = ("model*.safetensors", "medusa*.safetensors")


def is_folder(path: Path) -> bool:
    """True if this looks like a model folder; quick."""
    weights = any(True for form in _WEIGHTS for _ in path.glob(form))
    return weights and (path / "config.json").is_file()


def weight_size(path: Path) -> int:
    """Bytes of the existing weights; raises OSError."""
    return sum(file.stat().st_size for file in path.glob("*.safetensors"))


def read_folder(path: Path) -> MlxFolder:
    """Check the folder at `path`; raises ModelProblem with the fault and a remedy."""
    name = path.name
    try:
        if not (path / "config.json").is_file():
            raise _not_a_folder(path)
        config = _json(path / "config.json")
        inner = config.get("text_config")
        text = {**config, **inner} if isinstance(inner, dict) else config
        if not isinstance(config.get("model_type"), str):
            raise ModelProblem("model-type-missing", name=name)
        if config.get("model_file"):
            raise ModelProblem("program-code", name=name, file=config["model_file"])
        size = _check_weights(path)
        _check_quantization(name, config)
        if not (path / "tokenizer.json").is_file():
            other = [*path.glob("tokenizer.model"), *path.glob("*.tiktoken")]
            raise ModelProblem("tokenizer-of-another-form" if other else "no-tokenizer", name=name)
        tokenizer = _json(path / "tokenizer.json")
        _check_tokenizer(name, text, tokenizer)
        own = path / "tokenizer_config.json"
        names = _json(own) if own.is_file() else {}
    except OSError as error:
        raise ModelProblem(
            "folder-unreadable", path=path, reason=error.strerror or error
        ) from error
    return MlxFolder(text, tokenizer, _token(names, "bos_token"), _token(names, "eos_token"), size)


def tokens(tokenizer: Mapping[str, Any]) -> dict[str, int]:
    """Every token of a `tokenizer.json` and its id."""
    model = tokenizer.get("model")
    words = model.get("vocab") if isinstance(model, dict) else None
    found: dict[str, int] = {}
    if isinstance(words, dict):
        found |= {str(text): id_ for text, id_ in words.items() if isinstance(id_, int)}
    elif isinstance(words, list):
        found |= {str(item[0]): id_ for id_, item in enumerate(words)}
    for item in tokenizer.get("added_tokens") or ():
        if isinstance(item, dict) and isinstance(item.get("id"), int):
            found[str(item.get("content"))] = item["id"]
    return found


def _not_a_folder(path: Path) -> ModelProblem:
    """The reason why a folder without `config.json` is not a model."""
    if not path.exists():
        return ModelProblem("model-missing", path=path)
    if next(path.glob("*.gguf"), None) is not None:
        return ModelProblem("folder-of-gguf-files", name=path.name)
    return ModelProblem("not-a-model-folder", name=path.name)


def _check_weights(path: Path) -> int:
    """Check that every weight file exists and is complete; returns their size in bytes."""
    there = {file.name: file for file in path.glob("model*.safetensors")}
    if not there:
        others = [*path.glob("*.bin"), *path.glob("*.pt"), *path.glob("*.pth")]
        raise ModelProblem(
            "folder-of-pytorch" if others else "folder-without-weights", name=path.name
        )
    wanted = _wanted(path, there)
    missing = sorted(wanted - set(there))
    if missing:
        shown = ", ".join(missing[:2]) + (", …" if len(missing) > 2 else "")
        raise ModelProblem(
            "weight-files-missing",
            name=path.name,
            missing=len(missing),
            wanted=len(wanted),
            shown=shown,
        )
    for file in sorted(there.values()):
        _check_file(path, file)
    return sum(file.stat().st_size for file in there.values())


def _wanted(path: Path, there: Iterable[str]) -> set[str]:
    """The files in the index, or those implied by the numbering of the existing ones."""
    index = path / "model.safetensors.index.json"
    # a single file is complete; an index beside it was left by a conversion
    if index.is_file() and set(there) != {"model.safetensors"}:
        mapped = _json(index).get("weight_map")
        if isinstance(mapped, dict):
            return {str(file) for file in mapped.values()}
    wanted = set()
    for file in there:
        part = _PART.search(file)
        if part is not None:
            stem = file[: part.start()]
            count = min(int(part[2]), 10_000)
            wanted |= {f"{stem}-{n:05}-of-{part[2]}.safetensors" for n in range(1, count + 1)}
    return wanted


def _check_file(folder: Path, file: Path) -> None:
    size = file.stat().st_size
    with file.open("rb") as opened:
        start = opened.read(8)
        length = struct.unpack("<Q", start)[0] if len(start) == 8 else 0
        whole = 0 < length <= min(_LARGEST_HEADER, max(0, size - 8))
        try:
            header = json.loads(opened.read(length)) if whole else {}
            ends = [
                entry["data_offsets"][1] for name, entry in header.items() if name != "__metadata__"
            ]
            end = 8 + length + max(ends, default=0)
        except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
            whole, end = False, 0
    if not whole or not isinstance(end, int) or end > size:
        if whole and isinstance(end, int):
            raise ModelProblem(
                "weight-file-cut", name=folder.name, size=size, needed=end, file_name=file.name
            )
        raise ModelProblem("weight-file-damaged", name=folder.name, size=size, file_name=file.name)


def _check_quantization(name: str, config: Mapping[str, Any]) -> None:
    own = config.get("quantization")
    if isinstance(own, dict):
        # layers may have their own quantization, different from the rest
        every = [own, *(item for item in own.values() if isinstance(item, dict))]
        for item in every:
            bits, group = item.get("bits", 4), item.get("group_size", 64)
            mode = item.get("mode", "affine")
            if bits not in _BITS or group not in _GROUPS or mode not in _MODES:
                raise _unknown(name, f"{bits} bits in groups of {group}, {mode}")
        return
    other = config.get("quantization_config")
    if isinstance(other, dict) and other.get("quant_method") not in _METHODS:
        raise _unknown(name, str(other.get("quant_method") or "without a name"))


def _unknown(name: str, what: str) -> ModelProblem:
    return ModelProblem("quantization-unknown", name=name, what=what)


def _check_tokenizer(name: str, config: Mapping[str, Any], tokenizer: Mapping[str, Any]) -> None:
    found, rows = tokens(tokenizer), config.get("vocab_size")
    size = 1 + max(found.values(), default=-1)
    # some tokenizers have added tokens that the model never sees
    added = {item.get("id") for item in tokenizer.get("added_tokens") or ()}
    base = 1 + max((id_ for id_ in found.values() if id_ not in added), default=-1)
    if not size:
        raise ModelProblem("tokenizer-empty", name=name)
    if isinstance(rows, int) and (base > rows or 2 * size < rows):
        raise ModelProblem("tokenizer-mismatch", name=name, size=size, rows=rows)


def _json(path: Path) -> dict[str, Any]:
    if path.stat().st_size > _LARGEST_JSON:
        raise ModelProblem("json-too-large", name=path.name, parent_name=path.parent.name)
    try:
        found = decoded(path.read_bytes())
    except ValueError as error:
        raise ModelProblem("json-damaged", name=path.name, parent_name=path.parent.name) from error
    if not isinstance(found, dict):
        raise ModelProblem("json-senseless", name=path.name, parent_name=path.parent.name)
    return found


def _token(names: Mapping[str, Any], which: str) -> str:
    found = names.get(which)
    if isinstance(found, dict):
        found = found.get("content")
    return found if isinstance(found, str) else ""
