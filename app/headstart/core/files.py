"""Atomic writes of files, and their permissions.

Files of the program are private to the user, wherever they lie; files that the user saves
elsewhere, and models in the cache shared with other programs, get the usual modes.
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

from headstart.core import patient
from headstart.core.errors import EnvironmentProblem

PARTIAL = ".partial"
_OURS = ".headstart-"
# seconds
_LONGEST_WRITING = 3600.0
_PRIVATE = 0o077
# other users can write there, or new files get the folder's group
_SHARED = stat.S_IWGRP | stat.S_IWOTH | stat.S_ISVTX | stat.S_ISGID
# bytes of a disk that are left to chats, settings and other programs: what can wait, or be made
# again, is written above it only
DISK_RESERVE = 512 << 20
# the user's umask for new files; it can only be read by setting it, so that is done once, before
# there are threads
_user = os.umask(_PRIVATE)
os.umask(_user)


def keep_private() -> None:
    """Make all files that this process creates readable by the user alone. At its start."""
    os.umask(_PRIVATE)


def private_folder(folder: Path, known: Collection[str] = ()) -> None:
    """Make a missing folder, and close an open one to other users.

    An open one without any of the names in `known` must be empty and not writable by other users;
    else it keeps its mode and EnvironmentProblem is raised. Raises OSError too.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if os.name != "posix" or not folder.stat().st_mode & _PRIVATE:
        return
    names = {path.name for path in folder.iterdir()}
    if names.isdisjoint(known) and (names or folder.stat().st_mode & _SHARED):
        raise EnvironmentProblem("home-shared", path=folder)
    # another user's folder, or a disk without modes: it stays unchanged
    with contextlib.suppress(OSError):
        folder.chmod(0o700)


def let_others_read(path: Path) -> None:
    """Give a file or folder the mode that the user's other programs would have given it."""
    path.chmod((0o777 if path.is_dir() else 0o666) & ~_user)


def shared_folder(folder: Path) -> None:
    """Make a folder and its missing parents in a location that programs share. Raises OSError."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    for one in missing:
        let_others_read(one)


def typed_path(text: str) -> Path:
    """The absolute path that a user means in the current folder; `~` is the home, and a `~name`
    that is nobody's home stays as it is."""
    return Path(os.path.expanduser(text)).absolute()  # noqa: PTH111


def open_regular(path: Path) -> io.FileIO:
    """Open a file for reading, without blocking on a pipe; pipes, devices and folders raise
    OSError."""
    if not stat.S_ISREG(path.stat().st_mode):
        # merely opening some devices has an effect
        raise OSError(errno.EINVAL, "it is not a file")
    wanted = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    handle = os.open(path, wanted | getattr(os, "O_CLOEXEC", 0))
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "it is not a file")
    return io.FileIO(handle, "rb")


def read_regular(path: Path, most: int) -> bytes:
    """Read a whole file; raises OSError as `open_regular` does, and ValueError beyond `most` bytes,
    even if it grows meanwhile."""
    with open_regular(path) as file:
        data = bytearray()
        while piece := file.read(min(most + 1 - len(data), 1 << 20)):
            data += piece
            if len(data) > most:
                raise ValueError("too large")
    return bytes(data)


def new_partial(folder: Path) -> Path:
    """Make a new empty file to write to, under an unguessable name, so that no other program can
    have created it or put a link there. Raises OSError."""
    while True:
        found = folder / f"{_OURS}{secrets.token_hex(8)}{PARTIAL}"
        # an existing name, even a link's, is an error
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        try:
            os.close(os.open(found, flags, 0o600))
        except FileExistsError:
            continue
        return found


def remove_partials(folder: Path) -> None:
    """Remove unfinished files of killed processes from this folder, unless one may be in use."""
    with contextlib.suppress(OSError):
        for found in folder.glob(f"{_OURS}*{PARTIAL}"):
            if time.time() - found.lstat().st_mtime > _LONGEST_WRITING:
                patient.remove(found, missing_ok=False)


def write_whole(path: Path, data: bytes, *, wait: bool = True, shared: bool = False) -> None:
    """Write beside `path`, in an existing folder, then rename over it.

    The old file stays until then, and no half-written one is left. `wait` for the disk, so that a
    power cut loses neither; `shared` gives the mode of the user's other files. Raises OSError.
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
        patient.replace(partial, path)
        if wait:
            _wait_for_folder(path.parent)
    finally:
        patient.remove(partial)


def _wait_for_folder(folder: Path) -> None:
    """Flush the new name to the disk; not every system can open folders for that."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
