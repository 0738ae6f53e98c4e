"""Writing a file whole or not at all, and who may read it.

What the program makes is the user's alone, wherever it lies; what the user saves somewhere, and the
models in the cache that programs share, are as other programs would have made them.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

PARTIAL = ".partial"
_PRIVATE = 0o077
# what the user takes from the modes of new files; to ask is to set it, so it is asked for once,
# before there are threads
_user = os.umask(_PRIVATE)
os.umask(_user)


def keep_private() -> None:
    """From now on nobody but the user may read what this process makes. At its start."""
    os.umask(_PRIVATE)


def private_folder(folder: Path) -> None:
    """Make it where it is not there, and close it to others where it is open. Raises OSError."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if os.name == "posix" and folder.stat().st_mode & _PRIVATE:
        # somebody else's folder, or a disk without modes: it stays as it is
        with contextlib.suppress(OSError):
            folder.chmod(0o700)


def let_others_read(path: Path) -> None:
    """Give a file or folder the mode that the user's other programs would have given it."""
    path.chmod((0o777 if path.is_dir() else 0o666) & ~_user)


def shared_folder(folder: Path) -> None:
    """Make a folder, and those above it, in a place that programs share. Raises OSError."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for one in missing:
        let_others_read(one)


def write_whole(path: Path, data: bytes, *, wait: bool = True, shared: bool = False) -> None:
    """Write beside `path`, in a folder that is there, then rename it over.

    What was there stays until then, and nothing half written is left. `wait` for the disk, so that
    a power cut takes neither; `shared` with whom the user shares other files. Raises OSError.
    """
    partial = path.with_name(path.name + PARTIAL)
    try:
        with partial.open("wb") as file:
            file.write(data)
            if wait:
                file.flush()
                os.fsync(file.fileno())
        if shared:
            let_others_read(partial)
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
