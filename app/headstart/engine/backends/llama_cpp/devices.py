"""The graphics cards found by llama.cpp, with their free memory. Any thread.

The Python package does not bind these functions of ggml; they are called directly.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any, NamedTuple

import llama_cpp as lib
from msgspec import Struct

from headstart.engine.backends.llama_cpp.exports import exported

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
    registry = _registry()
    if registry is None or not lib.llama_supports_gpu_offload():
        return ()
    found = []
    for index in range(registry.count()):
        device = registry.get(index)
        kind = registry.kind(device)
        if kind not in (_CARD, _INTEGRATED):
            continue
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        registry.memory(device, ctypes.byref(free), ctypes.byref(total))
        name = registry.description(device).decode("utf-8", "replace")
        found.append(Card(name, kind == _INTEGRATED, total.value, free.value))
    return tuple(found)


class _Registry(NamedTuple):
    """ggml's functions about the devices that its backends found."""

    count: Any
    get: Any
    kind: Any
    memory: Any
    description: Any


@functools.cache
def _registry() -> _Registry | None:
    """None if a library of another kind lacks one of them."""
    device, size = ctypes.c_void_p, ctypes.POINTER(ctypes.c_size_t)
    found = _Registry(
        exported("ggml_backend_dev_count", ctypes.c_size_t),
        exported("ggml_backend_dev_get", device, ctypes.c_size_t),
        exported("ggml_backend_dev_type", ctypes.c_int, device),
        exported("ggml_backend_dev_memory", None, device, size, size),
        exported("ggml_backend_dev_description", ctypes.c_char_p, device),
    )
    return None if None in found else found
