"""Hidden states of llama.cpp's contexts: binds functions that its library exports but the package
does not bind, and checks what each architecture offers. Engine thread.

The functions are C++ and may change with any release: they are looked up when a head is opened. If
one is missing, only heads are refused. Requesting states that a model's graph does not have ends
the process (`llama-graph.cpp`), hence the lists.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence
from typing import Any

import llama_cpp as lib
import numpy as np

from headstart.core.errors import EnvironmentProblem
from headstart.core.models.heads import LAYER_INPUTS, LAYER_OUTPUT, NEXTN, NO_LAST
from headstart.engine.backends.llama_cpp.context import LlamaContext
from headstart.engine.backends.llama_cpp.exports import exported
from headstart.engine.decoder import Hidden, Tap

# the most tokens of a round: their logits cost little more than those of one
_FEW = 16
_VOID = ctypes.c_void_p
_POINTER = ctypes.c_void_p
# by name: the argument codes of the mangled name, after `_Z<length><name>` by Itanium's rules
# (Linux, macOS), and by Microsoft's; the argument types; the result type
FUNCTIONS: dict[str, tuple[str, str, tuple[Any, ...], Any]] = {
    "llama_set_embeddings_layer_inp": (
        "P13llama_contextjb",
        "YAXPEAUllama_context@@I_N@Z",
        (_VOID, ctypes.c_uint32, ctypes.c_bool),
        None,
    ),
    "llama_get_embeddings_layer_inp": (
        "P13llama_contextj",
        "YAPEAMPEAUllama_context@@I@Z",
        (_VOID, ctypes.c_uint32),
        _POINTER,
    ),
    "llama_set_embeddings_nextn": (
        "P13llama_contextbb",
        "YAXPEAUllama_context@@_N1@Z",
        (_VOID, ctypes.c_bool, ctypes.c_bool),
        None,
    ),
    "llama_get_embeddings_nextn": (
        "P13llama_context",
        "YAPEAMPEAUllama_context@@@Z",
        (_VOID,),
        _POINTER,
    ),
    "llama_get_embeddings_nextn_ith": (
        "P13llama_contexti",
        "YAPEAMPEAUllama_context@@H@Z",
        (_VOID, ctypes.c_int32),
        _POINTER,
    ),
    "llama_set_nextn_layer_offset": (
        "P13llama_contexti",
        "YAXPEAUllama_context@@H@Z",
        (_VOID, ctypes.c_int32),
        None,
    ),
    "llama_model_dflash_selector_top_k": (
        "PK11llama_model",
        "YAHPEBUllama_model@@@Z",
        (_VOID,),
        ctypes.c_int32,
    ),
    "llama_model_target_layer_ids": (
        "PK11llama_model",
        "YAPEBHPEBUllama_model@@@Z",
        (_VOID,),
        _POINTER,
    ),
    "llama_model_target_layer_ids_n": (
        "PK11llama_model",
        "YAIPEBUllama_model@@@Z",
        (_VOID,),
        ctypes.c_uint32,
    ),
}


@functools.cache
def function(name: str) -> Any:
    """One of llama.cpp's functions. Raises EnvironmentProblem if this library lacks it."""
    itanium, microsoft, arguments, result = FUNCTIONS[name]
    for symbol in (name, f"_Z{len(name)}{name}{itanium}", f"?{name}@@{microsoft}"):
        found = exported(symbol, result, *arguments)
        if found is not None:
            return found
    raise EnvironmentProblem("heads-not-in-library", function=name)


class LlamaStates:
    """`States` of one context."""

    def __init__(self, llama: LlamaContext) -> None:
        self._context = llama.context
        self._architecture = llama.architecture
        self._layers: int = lib.llama_model_n_layer(llama.model)
        self._width: int = lib.llama_model_n_embd(llama.model)
        self._taps: tuple[Tap, ...] = ()
        # whether the last forward gave the input of the output layer
        self._last = False

    def begin(self, count: int, outputs: Sequence[int]) -> Sequence[int]:
        """Prepare a forward of `count` tokens; returns the tokens to request logits of. The input
        of the output layer comes only with the logits of all tokens, so it is kept for short
        forwards and those with all outputs, not for a prompt."""
        if "last" not in self._taps:
            return outputs
        if outputs and count <= _FEW:
            outputs = range(count)
        if self._last != (len(outputs) == count):
            self._last = not self._last
            lib.llama_set_embeddings(self._context, self._last)
        return outputs

    def keep(self, taps: Sequence[Tap]) -> None:
        wanted = tuple(taps)
        if wanted == self._taps:
            return
        for tap in wanted:
            if not self._has(tap):
                raise EnvironmentProblem("heads-not-for-architecture", name=self._architecture)
        layers = {tap for tap in (*self._taps, *wanted) if isinstance(tap, int)}
        for layer in sorted(layers):
            function("llama_set_embeddings_layer_inp")(self._context, layer, layer in wanted)
        if "nextn" in wanted or "nextn" in self._taps:
            # for all tokens, not only those whose logits are kept
            function("llama_set_embeddings_nextn")(self._context, "nextn" in wanted, False)
        if self._last and "last" not in wanted:
            self._last = False
            lib.llama_set_embeddings(self._context, False)
        self._taps = wanted

    def _has(self, tap: Tap) -> bool:
        if tap == "last":
            return self._architecture not in NO_LAST
        if tap == "nextn":
            return self._architecture in NEXTN
        layers = self._layers + (self._architecture in LAYER_OUTPUT)
        return self._architecture in LAYER_INPUTS and 0 <= tap < layers

    def rows(self, first: int, last: int) -> Hidden:
        """A copy, since llama.cpp has one array per tap. Missing states are NaN."""
        count, width = last - first, self._width
        found = np.empty((count, len(self._taps) * width), np.float32)
        for index, tap in enumerate(self._taps):
            if tap == "last" and not self._last:
                found[:, index * width : (index + 1) * width] = np.nan
                continue
            if tap == "last":
                for row in range(first, last):
                    address = lib.llama_get_embeddings_ith(self._context, row)
                    if not address:
                        raise EnvironmentProblem("heads-got-nothing")
                    state = floats(address, (width,))
                    found[row - first, index * width : (index + 1) * width] = state
                continue
            if tap == "nextn":
                address = function("llama_get_embeddings_nextn")(self._context)
            else:
                address = function("llama_get_embeddings_layer_inp")(self._context, tap)
            if not address:
                raise EnvironmentProblem("heads-got-nothing")
            rows = floats(address + 4 * width * first, (count, width))
            found[:, index * width : (index + 1) * width] = rows
        return found


def wanted_layers(model: Any) -> tuple[int, ...]:
    """The target's layers whose inputs a head's model takes."""
    count = function("llama_model_target_layer_ids_n")(model)
    address = function("llama_model_target_layer_ids")(model)
    if not count or not address:
        return ()
    return tuple(ctypes.cast(address, ctypes.POINTER(ctypes.c_int32))[:count])


class OwnStates:
    """`States` of a head: its own, of tokens whose logits were kept."""

    def __init__(self, context: Any, width: int) -> None:
        """Raises EnvironmentProblem."""
        self._context = context
        self._width = width
        # index of the requested token that is the first of llama.cpp's batch
        self.first = 0
        self._row = function("llama_get_embeddings_nextn_ith")
        function("llama_set_embeddings_nextn")(context, True, True)

    def keep(self, taps: Sequence[Tap]) -> None:
        assert not taps, "a head has no heads"

    def rows(self, first: int, last: int) -> Hidden:
        found = np.empty((last - first, self._width), np.float32)
        for index in range(first, last):
            address = self._row(self._context, index - self.first)
            if not address:
                raise EnvironmentProblem("heads-got-nothing")
            found[index - first] = floats(address, (self._width,))
        return found


def floats(address: Any, shape: tuple[int, ...]) -> Hidden:
    """A view of llama.cpp's memory."""
    pointer = ctypes.cast(address, ctypes.POINTER(ctypes.c_float))
    return np.ctypeslib.as_array(pointer, shape)
