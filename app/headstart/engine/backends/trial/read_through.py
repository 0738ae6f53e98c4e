"""Reads a model's files into the page cache in pieces, before they are mapped.

llama.cpp maps a whole file, and on Linux has the system read it meanwhile: minutes for a large file
on a slow disk, in one call that neither reports progress nor can be stopped. A file read before is
mapped at once. Engine thread.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil

from headstart.engine.decoder import DecodeAborted

# bytes read at once: a stop takes effect after one such read of a slow disk
PIECE = 8 << 20
_PAGE = 4096
# larger files would evict their own beginning
_MOST_SHARE = 0.9


def read_through(files: Sequence[Path], progress: Callable[[float], bool]) -> None:
    """Read the files; `progress` gets the fraction read; raises DecodeAborted if it returns False.

    Unreadable files are reported later, when they are opened.
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
    """True if the piece seems to be in memory: checks its first page, its last, and one between."""
    if not hasattr(os, "RWF_NOWAIT"):
        return False
    page = bytearray(_PAGE)
    try:
        for at in (start, (start + end) // 2, max(start, end - _PAGE)):
            if os.preadv(file, [page], at, os.RWF_NOWAIT) < 1:
                return False
    except OSError:
        # the file system supports only blocking reads, or the page is not in memory
        return False
    return True
