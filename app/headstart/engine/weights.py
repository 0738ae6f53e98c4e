"""The files of a loaded model, as they were when it was opened: whether they still are.

llama.cpp maps files, so that one that is written over in place changes under a loaded model.
"""

from __future__ import annotations

from pathlib import Path

from headstart.core.models.ref import ModelRef
from headstart.core.models.split_files import parts

# of an MLX folder
_WEIGHTS = "*.safetensors"
State = tuple[tuple[int, int, int, int] | None, ...]


class Weights:
    """Made before the files are opened: what changes meanwhile is noticed too."""

    def __init__(self, model: ModelRef) -> None:
        self._files = _files(model)
        self._before = _state(self._files)

    @property
    def changed(self) -> bool:
        """True when a file was written or replaced since; some microseconds. A file that was
        removed is whole for who has it open."""
        pairs = zip(self._before, _state(self._files), strict=True)
        return any(new is not None and new != old for old, new in pairs)

    @property
    def written_over(self) -> bool:
        """True when the same file has other bytes: replies computed meanwhile may be nonsense."""
        pairs = zip(self._before, _state(self._files), strict=True)
        return any(
            old is not None and new is not None and old[2:] == new[2:] and old != new
            for old, new in pairs
        )


def _files(model: ModelRef) -> tuple[Path, ...]:
    if model.format == "gguf":
        return parts(model.path)
    try:
        return tuple(sorted(model.path.glob(_WEIGHTS)))
    except OSError:
        return ()


def _state(files: tuple[Path, ...]) -> State:
    """Size, time of writing and identity of each; None for one that is not there."""
    found: list[tuple[int, int, int, int] | None] = []
    for file in files:
        try:
            status = file.stat()
        except OSError:
            found.append(None)
            continue
        found.append((status.st_size, status.st_mtime_ns, status.st_dev, status.st_ino))
    return tuple(found)
