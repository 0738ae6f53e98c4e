"""Converts parts of a sequence's KV state to bytes and back, with llama.cpp's public C functions.

Engine thread. A range is copied through a spare sequence: in a unified cache `seq_cp` only marks
cells, it copies nothing. The bytes of a sequence are

    header (8 bytes: magic, sequence)  [attention cells]  [recurrent state, or windows' cells]

and with PARTIAL_ONLY the attention part is missing. Models that have both are stored as ranges of
attention cells, which can be exported at any time, and snapshots of the other part, which can only
be taken at the present end of the text: of a sliding window, only the cells that the next token
sees.
"""

from __future__ import annotations

import ctypes
from typing import Any, Literal

import llama_cpp as lib
import numpy as np

from headstart.engine.backends.llama_cpp.library import forget_errors
from headstart.engine.decoder import Blob

_HEADER = 8
_PARTIAL = lib.LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY
_LIVE = 0
# the part of a state that has no ranges
Apart = Literal["recurrent", "window"]


class StateError(RuntimeError):
    """llama.cpp did not give the announced bytes, or not in the known order."""


class SequenceState:
    """The KV state of sequence 0 of a context. `apart`: the part of a state that has no ranges."""

    def __init__(
        self, context: Any, memory: Any, spare: int, *, ranges: bool, apart: Apart | None
    ) -> None:
        self._context = context
        self._memory = memory
        self._spare = spare
        self.ranges = ranges
        self._apart = apart
        # whether the part with ranges is known to come first
        self._ordered = False

    def export(self, start: int, end: int) -> Blob:
        """The cells at positions `start` to `end`. Raises StateError."""
        spare, memory = self._spare, self._memory
        lib.llama_memory_seq_cp(memory, _LIVE, spare, start, end)
        try:
            if self._apart is None:
                return self._get(spare, 0)
            cut = self._size(spare, 0) - self._size(spare, _PARTIAL) + _HEADER
            if self._ordered:
                return self._beginning(spare, cut)
            blob, other = self._get(spare, 0), self._get(spare, _PARTIAL)[_HEADER:]
            # a newer architecture with a third part would be cut at the wrong offset
            if cut <= _HEADER or not np.array_equal(blob[cut:], other):
                raise StateError("this model's state has parts in another order")
            self._ordered = np.array_equal(self._beginning(spare, cut), blob[:cut])
            return blob[:cut].copy()
        finally:
            lib.llama_memory_seq_rm(memory, spare, -1, -1)

    def restore(self, blob: Blob, start: int, last: int) -> bool:
        """Append a range of positions `start` to `last`."""
        memory, spare = self._memory, self._spare
        if self._apart is not None:
            # the other part is restored once, with `back`
            blob = np.concatenate([blob, self._get(spare, _PARTIAL)[_HEADER:]])
        try:
            if not self._put(spare, blob, 0):
                return False
            if self._apart is None and not self._covers(spare, start, last):
                return False
            lib.llama_memory_seq_cp(memory, spare, _LIVE, -1, -1)
        finally:
            lib.llama_memory_seq_rm(memory, spare, -1, -1)
        # with a missing part, the position is right only after `back`
        return self._apart is not None or int(lib.llama_memory_seq_pos_max(memory, _LIVE)) == last

    def snapshot(self, into: Blob | None = None) -> Blob | None:
        """The present part without ranges (the whole state, if it has no ranges)."""
        try:
            return self._get(_LIVE, _PARTIAL, into)
        except StateError:
            return None

    def back(self, snapshot: Blob, behind: int, last: int) -> bool:
        """Replace the sequence's part without ranges by `snapshot`, which was taken when the next
        position was `behind` and the highest one `last`."""
        if not self._put(_LIVE, snapshot, _PARTIAL):
            return False
        # attention layers still hold later cells
        removed = bool(lib.llama_memory_seq_rm(self._memory, _LIVE, behind, -1))
        return removed and int(lib.llama_memory_seq_pos_max(self._memory, _LIVE)) == last

    def _covers(self, sequence: int, first: int, last: int) -> bool:
        lowest = int(lib.llama_memory_seq_pos_min(self._memory, sequence))
        highest = int(lib.llama_memory_seq_pos_max(self._memory, sequence))
        return (lowest, highest) == (first, last)

    def _beginning(self, sequence: int, size: int) -> Blob:
        """The first `size` bytes: llama.cpp stops at the end of the buffer, which saves copying a
        recurrent state with each range. It logs this as an error."""
        blob = np.empty(size, np.uint8)
        lib.llama_state_seq_get_data_ext(self._context, _pointer(blob), size, sequence, 0)
        forget_errors()
        return blob

    def _size(self, sequence: int, flags: int) -> int:
        return int(lib.llama_state_seq_get_size_ext(self._context, sequence, flags))

    def _get(self, sequence: int, flags: int, into: Blob | None = None) -> Blob:
        size = self._size(sequence, flags)
        blob = into if into is not None and len(into) == size else np.empty(size, np.uint8)
        written = lib.llama_state_seq_get_data_ext(
            self._context, _pointer(blob), size, sequence, flags
        )
        if not size or written != size:
            raise StateError(f"{written} bytes of state instead of {size}")
        return blob

    def _put(self, sequence: int, blob: Blob, flags: int) -> bool:
        read = lib.llama_state_seq_set_data_ext(
            self._context, _pointer(blob), len(blob), sequence, flags
        )
        return bool(read == len(blob))


def _pointer(blob: Blob) -> Any:
    return blob.ctypes.data_as(ctypes.POINTER(ctypes.c_uint8))
