"""Detects changes to the files of a loaded model.

llama.cpp maps files, so a file overwritten in place changes under a loaded model.
"""

from __future__ import annotations

from pathlib import Path

from headstart.core.models.ref import ModelRef
from headstart.core.models.split_files import parts

# the weight files of an MLX folder
_WEIGHTS = "*.safetensors"
State = tuple[tuple[int, int, int, int] | None, ...]


class Weights:
    """The files' states, taken before they are opened, so that a change during loading is noticed
    too."""

    def __init__(self, model: ModelRef) -> None:
        self._files = _files(model)
        self._before = _state(self._files)

    @property
    def changed(self) -> bool:
        """True when a file was written or replaced since; takes some microseconds. A removed file
        stays intact for the process that has it open."""
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
    """Size, modification time and identity of each file; None for a missing one."""
    found: list[tuple[int, int, int, int] | None] = []
    for file in files:
        try:
            status = file.stat()
        except OSError:
            found.append(None)
            continue
        found.append((status.st_size, status.st_mtime_ns, status.st_dev, status.st_ino))
    return tuple(found)
