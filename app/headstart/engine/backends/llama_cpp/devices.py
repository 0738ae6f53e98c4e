"""The graphics cards found by llama.cpp, with their free memory. Any thread.

The Python package does not bind these functions of ggml; they are called directly.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any

import llama_cpp as lib
from msgspec import Struct

from headstart.engine.backends.llama_cpp.library import ggml

# values of `enum ggml_backend_dev_type`
_CARD, _INTEGRATED = 1, 2


class Card(Struct, frozen=True):
    """A graphics card, with sizes in bytes; an integrated one shares the computer's memory."""

    name: str
    integrated: bool
    total: int
    free: int

    @property
    def software(self) -> bool:
        """True for a software renderer in place of a card. Mesa's (22.3) ends the process inside
        flash attention, usually but not always already in the trial."""
        return any(name in self.name.lower() for name in ("llvmpipe", "swiftshader"))


def cards() -> tuple[Card, ...]:
    """The present cards; none if this build has no backend for them."""
    library = _library()
    if library is None or not lib.llama_supports_gpu_offload():
        return ()
    found = []
    for index in range(library.ggml_backend_dev_count()):
        device = library.ggml_backend_dev_get(index)
        kind = library.ggml_backend_dev_type(device)
        if kind not in (_CARD, _INTEGRATED):
            continue
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        library.ggml_backend_dev_memory(device, ctypes.byref(free), ctypes.byref(total))
        name = library.ggml_backend_dev_description(device).decode("utf-8", "replace")
        found.append(Card(name, kind == _INTEGRATED, total.value, free.value))
    return tuple(found)


@functools.cache
def _library() -> Any | None:
    """ggml's registry; None if the library is not found."""
    library = ggml()
    if library is None:
        return None
    library.ggml_backend_dev_get.restype = ctypes.c_void_p
    library.ggml_backend_dev_get.argtypes = [ctypes.c_size_t]
    library.ggml_backend_dev_count.restype = ctypes.c_size_t
    library.ggml_backend_dev_type.argtypes = [ctypes.c_void_p]
    library.ggml_backend_dev_description.argtypes = [ctypes.c_void_p]
    library.ggml_backend_dev_description.restype = ctypes.c_char_p
    size = ctypes.POINTER(ctypes.c_size_t)
    library.ggml_backend_dev_memory.argtypes = [ctypes.c_void_p, size, size]
    return library
