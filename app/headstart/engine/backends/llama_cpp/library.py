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
from pathlib import Path
from typing import Any

import llama_cpp as lib

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
            ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, 3 << 19)


_M_MMAP_THRESHOLD = -3
_keep_large_blocks_apart()
lib.llama_log_set(log_callback, None)


def ggml() -> Any | None:
    """The library with ggml's registry that llama.cpp uses; None if it is not found."""
    folder = _folder()
    # symbols of a library's dependencies are found through it, except on Windows
    for name in ("*llama.*", "*ggml.*", "*ggml-base.*"):
        for path in sorted(folder.glob(name)):
            with contextlib.suppress(OSError, AttributeError):
                library = ctypes.CDLL(str(path))
                library.ggml_backend_dev_count.restype = ctypes.c_size_t
                return library
    return None


def _folder() -> Path:
    # llama_cpp looks in the same folder
    elsewhere = os.environ.get("LLAMA_CPP_LIB_PATH")
    return Path(elsewhere) if elsewhere else Path(lib.__file__).parent / "lib"


def _load_backends() -> bool:
    """Load the best library for this processor, if each generation has one, and those for graphics
    cards; True if such libraries exist."""
    folder = _folder()
    variants = {path.stem.split("ggml-cpu-")[-1]: path for path in folder.glob("*ggml-cpu-*")}
    library = ggml()
    if not variants or library is None:
        return False
    library.ggml_backend_load.restype = ctypes.c_void_p
    library.ggml_backend_load.argtypes = [ctypes.c_char_p]
    wanted = os.environ.get(VARIANT, "")
    if wanted in variants:
        for path in sorted({*folder.glob("*ggml-*")} - {*variants.values()}):
            if "ggml-base" not in path.name:
                library.ggml_backend_load(os.fsencode(path))
        if library.ggml_backend_load(os.fsencode(variants[wanted])):
            return True
    if wanted:
        log.warning("%s=%s: one of %s", VARIANT, wanted, ", ".join(sorted(variants)))
    library.ggml_backend_load_all_from_path.restype = None
    library.ggml_backend_load_all_from_path.argtypes = [ctypes.c_char_p]
    library.ggml_backend_load_all_from_path(os.fsencode(folder))
    return True


def _watched() -> Callable[[], int]:
    """Watch mapped files; returns the counter of those that became unreadable. A library not built
    by this project has no such watch, and counts none (packaging/native/mapped.h)."""
    library = ggml()
    try:
        assert library is not None
        library.headstart_watch_mappings.restype = None
        # set last, so that Python's own handler of these signals runs after it
        library.headstart_watch_mappings()
        library.headstart_lost_mappings.restype = ctypes.c_int
        found: Callable[[], int] = library.headstart_lost_mappings
        return found
    except (AssertionError, AttributeError):
        return lambda: 0


def _kernels() -> int:
    """The number of our own kernels (packaging/native/fixes.h); 0 if the library has none."""
    number = getattr(ggml(), "headstart_kernels", None)
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
        """Delay aborts until `release`; False if one was already requested."""
        self._held = True
        return not self._wanted

    def release(self) -> None:
        self._held = False
        if self._wanted:
            self.buffer[0] = b"\x01"
