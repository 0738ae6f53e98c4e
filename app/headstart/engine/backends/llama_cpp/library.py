"""llama.cpp's global state: the log, library initialization, the abort flag.

Imported by the llama.cpp backend only. The log callback is called from native threads.
"""

from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import sys
from collections import deque
from collections.abc import Callable
from typing import Any

import llama_cpp as lib

from headstart.core.c_library import c_library
from headstart.engine.backends.llama_cpp.exports import exported, folder, modules, path_bytes

log = logging.getLogger(__name__)

# a generation of processors (`haswell`, `zen4`, ...) to use in place of the best one for this
# computer, if the package has several
VARIANT = "HEADSTART_CPU"

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
    """Let glibc return each block of KV state to the system: after the first was freed it would put
    the next ones into its heap, which then grows with the holes between them (16 MB in 400 short
    turns). Smaller blocks, such as a vocabulary's logits, stay in the heap."""
    if sys.platform == "linux":
        # musl has no such function
        with contextlib.suppress(OSError, AttributeError):
            c_library().mallopt(_M_MMAP_THRESHOLD, 3 << 19)


_M_MMAP_THRESHOLD = -3
_keep_large_blocks_apart()
lib.llama_log_set(log_callback, None)


def _load_backends() -> bool:
    """Load the best library for this processor, if each generation has one, and those for graphics
    cards; True if such libraries exist."""
    found = modules()
    variants = {
        path.stem.split("ggml-cpu-")[-1]: path for path in found if "ggml-cpu-" in path.stem
    }
    load = exported("ggml_backend_load", ctypes.c_void_p, ctypes.c_char_p)
    load_all = exported("ggml_backend_load_all_from_path", None, ctypes.c_char_p)
    if not variants or load is None or load_all is None:
        return False
    wanted = os.environ.get(VARIANT, "")
    if wanted in variants:
        for path in found:
            if path not in variants.values():
                load(path_bytes(path))
        if load(path_bytes(variants[wanted])):
            return True
    if wanted:
        log.warning("%s=%s: one of %s", VARIANT, wanted, ", ".join(sorted(variants)))
    load_all(path_bytes(folder()))
    return True


def _watched() -> Callable[[], int]:
    """Watch mapped files; returns the counter of those that became unreadable. A library not built
    by this project has no such watch, and counts none (packaging/native/mapped.h); Windows lets
    nobody cut a file that is mapped."""
    watch, lost = exported("headstart_watch_mappings", None), exported("headstart_lost_mappings")
    if watch is None or lost is None:
        return lambda: 0
    # set last, so that Python's own handler of these signals runs after it
    watch()
    found: Callable[[], int] = lost
    return found


def _kernels() -> int:
    """The number of our own kernels (packaging/native/fixes.h); 0 if the library has none."""
    number = exported("headstart_kernels")
    return 0 if number is None else int(number())


_portable = _load_backends()
lib.llama_backend_init()
lost_mappings = _watched()


def build_name() -> str:
    """The name of the library build: equal names mean equal bits on the same processor."""
    name = f"llama.cpp {lib.__version__}"
    if kernels := _kernels():
        name += f" with kernels {kernels}"
    if not _portable:
        return name
    features = lib.llama_print_system_info().decode("utf-8", "replace").strip()
    return f"{name} ({features})"


def forget_errors() -> None:
    _log.clear()


def recent_errors() -> str:
    """The last lines that llama.cpp wrote as errors, newest last."""
    lines = [line.strip() for line in "".join(_log).splitlines() if line.strip()]
    return "; ".join(lines[-3:])


class AbortFlag:
    """A C function over two bytes as the abort callback, which needs no interpreter lock.

    `strlen` of the buffer is 0 (continue) until the first byte is set. A Python function would make
    every check wait for the thread that runs Python (a decode went from 19 to 141 ms).
    """

    def __init__(self) -> None:
        # the request, and True if it waits until `release`
        self._wanted = self._held = False
        self.buffer = ctypes.create_string_buffer(2)
        self.callback = ctypes.cast(c_library().strlen, lib.ggml_abort_callback)

    def set(self) -> None:
        # in this order: a thread in `release` at the same moment finds it set
        self._wanted = True
        if not self._held:
            self.buffer[0] = b"\x01"

    def clear(self) -> None:
        self._wanted = False
        self.buffer[0] = b"\x00"

    def hold(self) -> bool:
        """Delay aborts until `release`; False if one was already requested."""
        self._held = True
        return not self._wanted

    def release(self) -> None:
        self._held = False
        if self._wanted:
            self.buffer[0] = b"\x01"
