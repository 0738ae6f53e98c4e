"""The projector that gives a model vision: a file beside the model, or the one in Ollama's
manifest. Worker threads."""

from __future__ import annotations

import functools
import re
from pathlib import Path

from headstart.core.errors import ModelProblem
from headstart.core.models.ref import ModelRef
from headstart.hub.gguf import GgufHeader, as_count, read_header
from headstart.hub.kinds import why_no_chat
from headstart.hub.sources import ollama_projectors

_NAMED = "mmproj"
_WORDS = re.compile(r"[a-z]+|\d+")
# rank by llama.cpp's file types: half precision first, which loses nothing and is fast everywhere
_TYPES = {1: 0, 7: 1, 0: 2, 32: 3}


def projector_of(model: ModelRef) -> Path | None:
    """The projector beside a model that most likely belongs to it; None without one.

    Whether the two fit shows when they are tried.
    """
    if model.format != "gguf":
        return None
    folders = [model.path.parent]
    if "snapshots" in model.path.parts[:-2]:
        # a repository with a folder for each quantization
        folders.append(model.path.parent.parent)
    files = [
        path
        for folder in folders
        for path in sorted(folder.glob("*.gguf"))
        if _NAMED in path.name.casefold() and path != model.path
    ]
    files += ollama_projectors(model.path)
    known = [(path, header) for path in files if (header := _projector(path)) is not None]
    if not known:
        return None
    width = _width(model.path)

    def worse(candidate: tuple[Path, GgufHeader]) -> tuple[bool, int, int, str]:
        path, header = candidate
        other = as_count(header.metadata.get("clip.vision.projection_dim", 0))
        shared = len(_words(path.name) & _words(model.path.name))
        kind = _TYPES.get(as_count(header.metadata.get("general.file_type", 99)), len(_TYPES))
        return bool(width) and other != width, -shared, kind, path.name

    return min(known, key=worse)[0]


def _projector(path: Path) -> GgufHeader | None:
    header = _header(path)
    if header is None or why_no_chat(header) != "file-is-projector":
        return None
    return header if header.metadata.get("clip.has_vision_encoder", True) else None


def _width(path: Path) -> int:
    header = _header(path)
    if header is None:
        return 0
    return as_count(header.metadata.get(f"{header.architecture}.embedding_length", 0))


def _header(path: Path) -> GgufHeader | None:
    try:
        state = path.stat()
        return _read(path, state.st_size, state.st_mtime_ns)
    except (OSError, ModelProblem):
        return None


@functools.lru_cache(maxsize=64)
def _read(path: Path, _size: int, _changed: int) -> GgufHeader:
    return read_header(path)


def _words(name: str) -> set[str]:
    return set(_WORDS.findall(name.casefold()))
