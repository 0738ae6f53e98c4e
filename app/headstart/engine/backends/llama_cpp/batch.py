"""The batch of a llama.cpp forward: tokens, positions, sequences, and the rows with logits.

Its arrays are llama.cpp's own memory. Engine thread.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import llama_cpp as lib
import numpy as np
import numpy.typing as npt


class LlamaBatch:
    """At most `size` tokens, each in at most `leaves` sequences, and with a row of `width` numbers
    beside each unless that is 0."""

    def __init__(self, size: int, leaves: int, width: int = 0) -> None:
        self.size = size
        self.native: Any = lib.llama_batch_init(size, width, leaves)
        batch = self.native
        self._own: Any = None
        if width:
            # llama.cpp allocates tokens or rows; heads need both
            self._own = (ctypes.c_int32 * size)()
            batch.token = ctypes.cast(self._own, type(batch.token))
            self._rows: npt.NDArray[np.float32] = np.ctypeslib.as_array(batch.embd, (size, width))
        self._token: npt.NDArray[np.int32] = np.ctypeslib.as_array(batch.token, (size,))
        self._pos: npt.NDArray[np.int32] = np.ctypeslib.as_array(batch.pos, (size,))
        self._logits: npt.NDArray[np.int8] = np.ctypeslib.as_array(batch.logits, (size,))
        self._n_seq: npt.NDArray[np.int32] = np.ctypeslib.as_array(batch.n_seq_id, (size,))
        self._n_seq[:] = 1
        self._seq = -1

    def fill(self, tokens: Sequence[int], start: int, outputs: Sequence[int], seq: int) -> None:
        """Set a run of tokens of one sequence from position `start` on."""
        count = len(tokens)
        if self._seq != seq:
            for index in range(self.size):
                self.native.seq_id[index][0] = seq
            self._n_seq[:] = 1
            self._seq = seq
        if count == 1:
            # the step of plain decoding: numpy's slices would cost more than they save
            self._token[0], self._pos[0], self._logits[0] = tokens[0], start, len(outputs)
        else:
            self._token[:count] = tokens
            self._pos[:count] = np.arange(start, start + count, dtype=np.int32)
            self._logits[:count] = 0
            for index in outputs:
                self._logits[index] = 1
        self.native.n_tokens = count

    def beside(self, rows: npt.NDArray[np.float32]) -> None:
        """Set the rows beside the next tokens."""
        self._rows[: len(rows)] = rows

    def plant(self, paths: Sequence[Sequence[int]], sequences: Sequence[int], start: int) -> None:
        """Turn the tokens of `fill` into a tree: `paths` lead from the root to its leaves, each in
        a separate sequence."""
        self._seq = -1
        self._n_seq[: self.native.n_tokens] = 0
        for path, sequence in zip(paths, sequences, strict=False):
            for depth, node in enumerate(path):
                self.native.seq_id[node][self._n_seq[node]] = sequence
                self._n_seq[node] += 1
                self._pos[node] = start + depth

    def close(self) -> None:
        # drop the views before their memory
        del self._token, self._pos, self._logits, self._n_seq
        if self._own is not None:
            del self._rows
            self.native.token = None
        lib.llama_batch_free(self.native)


def leaf_paths(parents: Sequence[int]) -> list[list[int]]:
    """The path from the root to each leaf, the longest first."""
    inner = set(parents)
    paths = []
    for leaf in range(len(parents)):
        if leaf in inner:
            continue
        path, node = [], leaf
        while node >= 0:
            path.append(node)
            node = parents[node]
        paths.append(path[::-1])
    return sorted(paths, key=len, reverse=True)
