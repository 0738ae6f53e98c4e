"""Reading a model's files into the page cache in pieces, before they are mapped.

llama.cpp maps a file whole, and on Linux has the system read it meanwhile: minutes for a large file
on a slow disk, in one call that neither tells how far it is nor hears a stop. What was read before
is mapped in no time. Engine thread.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil

from headstart.engine.decoder import DecodeAborted

# read at once: a stop is heard within the time that a slow disk takes for it
PIECE = 8 << 20
_PAGE = 4096
# larger files would push out their own beginning
_MOST_SHARE = 0.9


def read_through(files: Sequence[Path], progress: Callable[[float], bool]) -> None:
    """`progress` gets what was read, from 0 to 1; raises DecodeAborted when it returns False.

    What cannot be read is left to who opens the file to tell.
    """
    with contextlib.suppress(OSError):
        sizes = [file.stat().st_size for file in files]
        total, done = sum(sizes), 0
        if total > _MOST_SHARE * psutil.virtual_memory().available:
            return
        buffer = memoryview(bytearray(PIECE))
        for file, size in zip(files, sizes, strict=True):
            with file.open("rb", buffering=0) as source:
                for at in range(0, size, PIECE):
                    if not progress(done / total):
                        raise DecodeAborted
                    end = min(at + PIECE, size)
                    if not _is_cached(source.fileno(), at, end):
                        source.seek(at)
                        source.readinto(buffer[: end - at])
                    done += end - at


def _is_cached(file: int, start: int, end: int) -> bool:
    """True if the piece seems to be in memory: its first page, its last, and one between."""
    if not hasattr(os, "RWF_NOWAIT"):
        return False
    page = bytearray(_PAGE)
    try:
        for at in (start, (start + end) // 2, max(start, end - _PAGE)):
            if os.preadv(file, [page], at, os.RWF_NOWAIT) < 1:
                return False
    except OSError:
        # this file system reads only with waiting, or the page is not there
        return False
    return True
