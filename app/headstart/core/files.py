"""Writing a file whole or not at all, and who may read it.

What the program makes is the user's alone, wherever it lies; what the user saves somewhere, and the
models in the cache that programs share, are as other programs would have made them.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import secrets
import stat
import time
from collections.abc import Collection
from pathlib import Path

from headstart.core.errors import EnvironmentProblem

PARTIAL = ".partial"
_OURS = ".headstart-"
# seconds
_LONGEST_WRITING = 3600.0
_PRIVATE = 0o077
# others write there, or get a group with what they make there
_SHARED = stat.S_IWGRP | stat.S_IWOTH | stat.S_ISVTX | stat.S_ISGID
# the user's mask of modes for new files; to ask is to set it, so it is asked for once,
# before there are threads
_user = os.umask(_PRIVATE)
os.umask(_user)


def keep_private() -> None:
    """From now on nobody but the user may read what this process makes. At its start."""
    os.umask(_PRIVATE)


def private_folder(folder: Path, known: Collection[str] = ()) -> None:
    """Make it where it is not there, and close it to others where it is open.

    One that is there has to be empty or to hold one of the names in `known`, and others must not
    write there: a folder that is shared keeps its mode. Raises EnvironmentProblem, OSError.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if os.name != "posix" or not folder.stat().st_mode & _PRIVATE:
        return
    names = {path.name for path in folder.iterdir()}
    if names.isdisjoint(known) and (names or folder.stat().st_mode & _SHARED):
        raise EnvironmentProblem("home-shared", path=folder)
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


def open_regular(path: Path) -> io.FileIO:
    """A file to read, without waiting for a pipe or a device: those, and folders, raise OSError."""
    if not stat.S_ISREG(path.stat().st_mode):
        # to open some devices does something
        raise OSError(errno.EINVAL, "it is not a file")
    wanted = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    handle = os.open(path, wanted | getattr(os, "O_CLOEXEC", 0))
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "it is not a file")
    return io.FileIO(handle, "rb")


def read_regular(path: Path, most: int) -> bytes:
    """All of a file; raises OSError as `open_regular` does, and ValueError where it has more than
    `most` bytes, also where it grows meanwhile."""
    with open_regular(path) as file:
        data = bytearray()
        while piece := file.read(min(most + 1 - len(data), 1 << 20)):
            data += piece
            if len(data) > most:
                raise ValueError("too large")
    return bytes(data)


def new_partial(folder: Path) -> Path:
    """A new empty file for what is being written: nobody else can have one of this name, nor have
    put a link there. Raises OSError."""
    while True:
        found = folder / f"{_OURS}{secrets.token_hex(8)}{PARTIAL}"
        # a name that is there already, be it a link's, is an error
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        try:
            os.close(os.open(found, flags, 0o600))
        except FileExistsError:
            continue
        return found


def remove_partials(folder: Path) -> None:
    """Take away what a kill left of writing in this folder, unless somebody may be at it yet."""
    with contextlib.suppress(OSError):
        for found in folder.glob(f"{_OURS}*{PARTIAL}"):
            if time.time() - found.lstat().st_mtime > _LONGEST_WRITING:
                found.unlink()


def write_whole(path: Path, data: bytes, *, wait: bool = True, shared: bool = False) -> None:
    """Write beside `path`, in a folder that is there, then rename it over.

    What was there stays until then, and nothing half written is left. `wait` for the disk, so that
    a power cut takes neither; `shared` with whom the user shares other files. Raises OSError.
    """
    partial = new_partial(path.parent)
    try:
        with partial.open("r+b") as file:
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
