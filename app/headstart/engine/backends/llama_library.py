"""llama.cpp's global side: log, library start, the abort flag.

Imported by the llama.cpp backend only. The log callback is called from native threads.
"""

from __future__ import annotations

import contextlib
import ctypes
import sys
from collections import deque
from typing import Any

import llama_cpp as lib

_ERROR_LEVEL = 4
_CONT_LEVEL = 5
_log: deque[str] = deque(maxlen=200)
_last_level = 0


@lib.llama_log_callback  # type: ignore[untyped-decorator]
def log_callback(level: int, text: bytes | None, _data: Any) -> None:
    # called from native threads too: only append
    global _last_level
    if level != _CONT_LEVEL:
        _last_level = level
    if _last_level >= _ERROR_LEVEL and text:
        _log.append(text.decode("utf-8", "replace"))


def _keep_large_blocks_apart() -> None:
    """Let glibc give blocks of KV state back to the system one by one: once one was freed it would
    put the next ones into its heap, which then grows with the holes between them (16 MB in 400
    short turns). Smaller blocks, a vocabulary's numbers among them, stay in the heap."""
    if sys.platform == "linux":
        # musl has no such function
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, 3 << 19)


_M_MMAP_THRESHOLD = -3
_keep_large_blocks_apart()
lib.llama_log_set(log_callback, None)
lib.llama_backend_init()


def forget_errors() -> None:
    _log.clear()


def recent_errors() -> str:
    """The last lines that llama.cpp wrote as errors, newest last."""
    lines = [line.strip() for line in "".join(_log).splitlines() if line.strip()]
    return "; ".join(lines[-3:])


class AbortFlag:
    """A C function over two bytes as the abort callback: no interpreter lock on the way.

    `strlen` of the buffer is 0 (go on) until the first byte is set. A Python function instead
    makes every check wait for whichever thread runs Python (a decode went from 19 to 141 ms).
    """

    def __init__(self) -> None:
        # what was asked for, and whether it waits until `release`
        self._wanted = self._held = False
        self.buffer = ctypes.create_string_buffer(2)
        libc = ctypes.CDLL(None)
        self.callback = ctypes.cast(libc.strlen, lib.ggml_abort_callback)

    def set(self) -> None:
        # in this order: a thread in `release` at the same moment finds it set
        self._wanted = True
        if not self._held:
            self.buffer[0] = b"\x01"

    def clear(self) -> None:
        self._wanted = False
        self.buffer[0] = b"\x00"

    def hold(self) -> bool:
        """Nothing is cut off until `release`; False when that was asked for already."""
        self._held = True
        return not self._wanted

    def release(self) -> None:
        self._held = False
        if self._wanted:
            self.buffer[0] = b"\x01"
