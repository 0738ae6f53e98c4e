"""Removal of a model from the disk: the files that belong to it alone, and the space regained.

In the cache shared by Hugging Face's tools, snapshots point to blobs: a blob is removed with the
last pointer to it. Worker threads.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct

from headstart.core import patient
from headstart.core.errors import ModelProblem
from headstart.core.files import read_regular
from headstart.core.models.installed import InstalledModel
from headstart.core.models.split_files import parts
from headstart.core.strange_json import decoded
from headstart.hub.sources import ModelSource

# files beside the weights in a model's folder, by the names that programs write: any other file
# there is the user's own
_BESIDE = re.compile(
    r"config\.json|generation_config\.json|tokenizer(?:_config)?\.json|tokenizer\.model(?:\.v\d+)?"
    r"|tekken\.json|special_tokens_map\.json|added_tokens\.json|vocab\.(?:json|txt|tiktoken)"
    r"|merges\.txt|chat_template\.(?:jinja|json)|model\.safetensors\.index\.json|qwen\.tiktoken"
    r"|spiece\.model|sentencepiece\.bpe\.model|(?:pre)?processor_config\.json"
)
# bytes
_LARGEST_INDEX = 100 << 20
_WEIGHTS = re.compile(r"(?:model|weights)(?:[-.]\d+(?:-of-\d+)?)?\.safetensors")


class Removal(Struct, frozen=True):
    """Files to remove. `size`: bytes regained; `program`: the code of the program that owns the
    folder."""

    files: tuple[Path, ...]
    size: int
    program: str


def plan(model: InstalledModel) -> Removal:
    """Plan the removal of a model; raises ModelProblem for one that we must not remove."""
    if model.source == ModelSource.STARTER:
        raise ModelProblem("starter-stays", name=model.ref.name)
    if model.source == ModelSource.OLLAMA:
        raise ModelProblem("remove-with-ollama", name=model.ref.name)
    files = _of_folder(model.ref.path) if model.ref.path.is_dir() else parts(model.ref.path)
    own = [file for file in files if file.is_file() or file.is_symlink()]
    repository = _repository(model.ref.path)
    if repository is not None:
        own = _with_blobs(repository, own)
    return Removal(tuple(own), _size(own), model.source)


def _of_folder(folder: Path) -> list[Path]:
    """Files that make a folder a model: no other files, and no subfolders."""
    weights = _weights(folder)
    return [
        path
        for path in folder.iterdir()
        if path.name in weights or _WEIGHTS.fullmatch(path.name) or _BESIDE.fullmatch(path.name)
    ]


def _weights(folder: Path) -> set[str]:
    """Weight files listed in the folder's index."""
    try:
        index = decoded(read_regular(folder / "model.safetensors.index.json", _LARGEST_INDEX))
        return {name for name in index["weight_map"].values() if isinstance(name, str)}
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return set()


def remove(removal: Removal) -> None:
    """Remove the files, and folders left empty; raises ModelProblem."""
    for file in removal.files:
        try:
            patient.remove(file)
        except OSError as error:
            raise ModelProblem(
                "not-removed", name=file.name, reason=error.strerror or error
            ) from error
    for folder in sorted({file.parent for file in removal.files}, reverse=True):
        _prune(folder)


def _prune(folder: Path) -> None:
    """Remove empty folders inside a repository of the cache, then the empty repository."""
    repository = _repository(folder)
    while repository is not None and folder != repository.parent:
        with contextlib.suppress(OSError):
            if folder == repository:
                _prune_repository(repository)
            folder.rmdir()
        if folder.exists():
            return
        folder = folder.parent


def _prune_repository(repository: Path) -> None:
    blobs = repository / "blobs"
    if any((repository / "snapshots").glob("*/*")) or (blobs.exists() and any(blobs.iterdir())):
        return
    for name in ("refs", "blobs", "snapshots", ".no_exist"):
        for path in sorted((repository / name).rglob("*"), reverse=True):
            patient.remove(path, missing_ok=False) if path.is_file() else path.rmdir()
        with contextlib.suppress(OSError):
            (repository / name).rmdir()


def _repository(path: Path) -> Path | None:
    """The folder in the shared cache of the repository that a path belongs to."""
    for folder in (path, *path.parents):
        if folder.name.startswith("models--") and (folder / "snapshots").is_dir():
            return folder
    return None


def _with_blobs(repository: Path, own: list[Path]) -> list[Path]:
    """Add the same file of other commits, and blobs without any other pointer."""
    snapshots = repository / "snapshots"
    blobs = {_identity(path) for path in own}
    inside = {path.relative_to(snapshots).parts[1:] for path in own if snapshots in path.parents}
    pointers = [path for path in snapshots.rglob("*") if not path.is_dir()]
    same = [
        path
        for path in pointers
        if path.relative_to(snapshots).parts[1:] in inside
        and path.suffix in (".gguf", ".safetensors")
        and _identity(path) in blobs
    ]
    going = list(dict.fromkeys([*own, *same]))
    needed = {_identity(path) for path in pointers if path not in going}
    bytes_ = [
        blob
        for blob in (repository / "blobs").glob("*")
        if _identity(blob) in blobs and _identity(blob) not in needed
    ]
    return [*going, *bytes_]


def _identity(path: Path) -> tuple[int, int] | str:
    """Identity of the file behind a name, through symbolic and hard links."""
    try:
        state = path.stat()
    except OSError:
        return str(path)
    return state.st_dev, state.st_ino


def _size(files: Iterable[Path]) -> int:
    """Bytes regained: from files that lose all their names."""
    names: dict[tuple[int, int], int] = {}
    total = 0
    for file in files:
        with contextlib.suppress(OSError):
            state = file.lstat()
            if file.is_symlink():
                continue
            key = (state.st_dev, state.st_ino)
            names[key] = names.get(key, 0) + 1
            total += state.st_size if names[key] == state.st_nlink else 0
    return total
