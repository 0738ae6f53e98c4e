"""Room on the heap for when memory runs out: Qt ends the process where it gets none for drawing,
before anybody could be told. It is address space; the system takes the pages back until then.
"""

from __future__ import annotations

import contextlib
import ctypes
import sys

# blocks that malloc takes from the heap, and not from the system one by one
_BLOCK, _BLOCKS = 96 << 10, 256


def reserve_heap() -> None:
    """Once, on the main thread; Linux with glibc only."""
    if sys.platform != "linux":
        return
    with contextlib.suppress(OSError, AttributeError):
        libc = ctypes.CDLL(None)
        libc.malloc.restype, libc.malloc.argtypes = ctypes.c_void_p, (ctypes.c_size_t,)
        libc.free.argtypes = (ctypes.c_void_p,)
        blocks = [libc.malloc(_BLOCK) for _ in range(_BLOCKS)]
        # the last one stays: the heap's end is never given back
        for block in blocks[:-1]:
            libc.free(block)
        libc.malloc_trim(0)
