"""Locations of models on this computer: our own and the user's folders, and those of other
programs.

Models are used in place. A source only lists them; the shelf reads the files. Pure walks over
folders, called from worker threads; an unreadable folder counts as empty.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import StrEnum
from pathlib import Path

import platformdirs
from msgspec import Struct

from headstart.core.models.ref import ModelFormat
from headstart.core.models.split_files import is_later_part, title
from headstart.core.strange_json import decoded
from headstart.core.text.whole import is_text


class ModelSource(StrEnum):
    STARTER = "starter"
    OPENED = "opened"
    HUGGING_FACE = "hugging-face"
    LM_STUDIO = "lm-studio"
    OLLAMA = "ollama"
    GPT4ALL = "gpt4all"
    FOLDER = "folder"


class ModelFolder(Struct, frozen=True):
    """A folder where a source keeps its models."""

    source: ModelSource
    folder: Path


class FolderModel(Struct, frozen=True):
    """A model at its location; `name` is its name in that source."""

    path: Path
    name: str
    format: ModelFormat
    source: ModelSource


# deeper than any program stores its models
_DEEPEST = 6
# limit for a folder chosen by mistake, such as a whole disk
_MOST_FOLDERS = 20_000
_LARGEST_MANIFEST = 1 << 20
_OLLAMA_WEIGHTS = "application/vnd.ollama.image.model"
_OLLAMA_PROJECTOR = "application/vnd.ollama.image.projector"


def default_places(
    hub_cache: Path, environment: Mapping[str, str] | None = None
) -> list[ModelFolder]:
    """Folders of other programs on this system, existing or not."""
    said = os.environ if environment is None else environment
    home = Path.home()
    ollama = Path(said["OLLAMA_MODELS"]) if said.get("OLLAMA_MODELS") else home / ".ollama/models"
    places = [
        ModelFolder(ModelSource.HUGGING_FACE, hub_cache),
        ModelFolder(ModelSource.LM_STUDIO, _lm_studio(home)),
        ModelFolder(ModelSource.LM_STUDIO, home / ".cache/lm-studio/models"),
        ModelFolder(ModelSource.OLLAMA, ollama),
        ModelFolder(ModelSource.GPT4ALL, _gpt4all(home)),
    ]
    if sys.platform == "linux" and not said.get("OLLAMA_MODELS"):
        # location used by its system service
        places.append(ModelFolder(ModelSource.OLLAMA, Path("/usr/share/ollama/.ollama/models")))
    return places


def walk(place: ModelFolder) -> Iterator[FolderModel]:
    """Every model of a location, by name."""
    with contextlib.suppress(OSError):
        yield from _WALKS.get(place.source, _files)(place)


def _lm_studio(home: Path) -> Path:
    with contextlib.suppress(OSError, ValueError):
        # it may have been moved
        pointed = (home / ".lmstudio-home-pointer").read_text(encoding="utf-8").strip()
        if pointed:
            return Path(pointed) / "models"
    return home / ".lmstudio/models"


def _gpt4all(home: Path) -> Path:
    if sys.platform == "win32":
        return platformdirs.user_data_path("GPT4All", "nomic.ai")
    if sys.platform == "darwin":
        return home / "Library/Application Support/nomic.ai/GPT4All"
    return home / ".local/share/nomic.ai/GPT4All"


# --- folders of files --------------------------------------------------------------------


def _files(place: ModelFolder) -> Iterator[FolderModel]:
    """GGUF files, and folders with weights in MLX's format, at any depth."""
    been: set[tuple[int, int]] = set()

    def inside(folder: Path, depth: int) -> Iterator[FolderModel]:
        try:
            state = folder.stat()
        except OSError:
            return
        if (state.st_dev, state.st_ino) in been or len(been) >= _MOST_FOLDERS:
            # a link that leads back, or a whole disk
            return
        been.add((state.st_dev, state.st_ino))
        entries = _entries(folder)
        if _is_mlx(entries):
            yield FolderModel(folder, folder.name, "mlx", place.source)
        for entry in entries:
            path = folder / entry.name
            if entry.name.startswith("."):
                continue
            if _leads_to_folder(entry):
                if depth < _DEEPEST:
                    yield from inside(path, depth + 1)
            elif _is_gguf(entry.name):
                yield FolderModel(path, title(path), "gguf", place.source)

    yield from inside(place.folder, 0)


def _hugging_face(place: ModelFolder) -> Iterator[FolderModel]:
    """Models in the newest commit of each repository, and models that only older commits have."""
    for repository in _entries(place.folder):
        if repository.name.startswith("models--"):
            yield from _repository(place, place.folder / repository.name)


def _repository(place: ModelFolder, folder: Path) -> Iterator[FolderModel]:
    with contextlib.suppress(OSError):
        name = folder.name.rpartition("--")[2]
        seen: set[str] = set()
        for commit in _commits(folder):
            root = folder / "snapshots" / commit
            for found in _files(ModelFolder(place.source, root)):
                inside = str(found.path.relative_to(root))
                blob = os.path.realpath(found.path) if found.format == "gguf" else inside
                if blob in seen:
                    continue
                seen.add(blob)
                whole = found.format == "gguf" or inside != "."
                yield FolderModel(
                    found.path, found.name if whole else name, found.format, place.source
                )


def _commits(folder: Path) -> list[str]:
    """Commits, the main branch's first, then by age, newest first."""
    main = ""
    with contextlib.suppress(OSError, ValueError):
        main = (folder / "refs/main").read_text(encoding="utf-8").strip()
    entries = _entries(folder / "snapshots")
    with contextlib.suppress(OSError):
        entries.sort(key=lambda entry: (entry.name != main, -entry.stat().st_mtime))
    return [entry.name for entry in entries]


def _ollama(place: ModelFolder) -> Iterator[FolderModel]:
    """Models of manifests, which name their weights among other blobs."""
    root = place.folder / "manifests"
    for folder, _, names in os.walk(root):
        for name in sorted(names):
            path = Path(folder) / name
            blob = _ollama_layer(path, place.folder / "blobs", _OLLAMA_WEIGHTS)
            if blob is not None:
                parts = path.relative_to(root).parts
                shown = [part for part in parts[1:] if part != "library"]
                called = ":".join(("/".join(shown[:-1]), shown[-1])) if len(shown) > 1 else name
                yield FolderModel(blob, called.removesuffix(":latest"), "gguf", place.source)


def ollama_projectors(weights: Path) -> Iterator[Path]:
    """Projectors that manifests list with a model's weights."""
    blobs = weights.parent
    root = blobs.parent / "manifests"
    if blobs.name != "blobs" or not root.is_dir():
        return
    for folder, _, names in os.walk(root):
        for name in sorted(names):
            manifest = Path(folder) / name
            found = _ollama_layer(manifest, blobs, _OLLAMA_PROJECTOR)
            if found is not None and _ollama_layer(manifest, blobs, _OLLAMA_WEIGHTS) == weights:
                yield found


def _ollama_layer(manifest: Path, blobs: Path, kind: str) -> Path | None:
    with contextlib.suppress(OSError, ValueError, TypeError, KeyError, AttributeError):
        if manifest.stat().st_size > _LARGEST_MANIFEST:
            return None
        for layer in decoded(manifest.read_bytes())["layers"]:
            if layer["mediaType"] == kind:
                digest = str(layer["digest"]).replace(":", "-")
                path = blobs / digest
                if "/" not in digest and "\\" not in digest and path.is_file():
                    return path
    return None


_WALKS: dict[ModelSource, Callable[[ModelFolder], Iterable[FolderModel]]] = {
    ModelSource.HUGGING_FACE: _hugging_face,
    ModelSource.OLLAMA: _ollama,
}


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    with contextlib.suppress(OSError), os.scandir(folder) as found:
        # a name in another encoding can neither be stored nor passed to llama.cpp
        named = (entry for entry in found if is_text(entry.name))
        return sorted(named, key=lambda entry: entry.name)
    return []


def _leads_to_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        # a link to itself, or to a folder without access
        return False


def _is_gguf(name: str) -> bool:
    return name.lower().endswith(".gguf") and not is_later_part(name)


def _is_mlx(entries: Iterable[os.DirEntry[str]]) -> bool:
    names = [entry.name for entry in entries]
    return "config.json" in names and any(name.endswith(".safetensors") for name in names)
