"""Writing a file whole or not at all."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

PARTIAL = ".partial"


def write_whole(path: Path, data: bytes, *, wait: bool = True) -> None:
    """Write beside `path`, in a folder that is there, then rename it over.

    What was there stays until then, and nothing half written is left. `wait` for the disk, so that
    a power cut takes neither. Raises OSError.
    """
    partial = path.with_name(path.name + PARTIAL)
    try:
        with partial.open("wb") as file:
            file.write(data)
            if wait:
                file.flush()
                os.fsync(file.fileno())
        partial.replace(path)
        if wait:
            _wait_for_folder(path.parent)
    finally:
        partial.unlink(missing_ok=True)


def _wait_for_folder(folder: Path) -> None:
    """The new name is on the disk too; not every system lets folders be opened for that."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
