"""A reserve on the heap for low memory: Qt ends the process if it cannot allocate while drawing,
before the user can be told. It is only address space; the system reclaims the pages until needed.
"""

from __future__ import annotations

import contextlib
import ctypes
import sys

from headstart.core.c_library import c_library

# blocks small enough for malloc to take from the heap instead of mapping each one
_BLOCK, _BLOCKS = 96 << 10, 256


def reserve_heap() -> None:
    """Called once, on the main thread; Linux with glibc only."""
    if sys.platform != "linux":
        return
    with contextlib.suppress(OSError, AttributeError):
        libc = c_library()
        libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, (ctypes.c_size_t,)
        libc.free.argtypes = (ctypes.c_void_p,)
        blocks = [libc.malloc(_BLOCK) for _ in range(_BLOCKS)]
        # the last one stays allocated, so that the heap never shrinks
        for block in blocks[:-1]:
            libc.free(block)
        libc.malloc_trim(0)
