"""The sampler of the MLX backend: draws in numpy, and predicts its own next draw on the device.

The prediction lets the next forward begin before the last one's row is back in Python (as mlx-lm
does with its own sampler). The draw itself is numpy's: if the two differ by rounding, the early
forward is discarded.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from headstart.core.settings.schema import Sampling
from headstart.engine.backends.mlx.library import mx
from headstart.engine.backends.numpy_sampler import NumpySampler, Row
from headstart.engine.backends.predictions import Draws
from headstart.engine.noise import gumbel

Foresee = Callable[[mx.array], mx.array]


class Foresight(NamedTuple):
    """`tell` gives the decoder a function that predicts the draw from its next forward's row, or
    None; rows have `size` logits, of which those of `suppressed` tokens never count."""

    tell: Callable[[Foresee | None], None]
    size: int
    suppressed: Sequence[int] = ()


class MlxSampler(NumpySampler):
    def __init__(
        self,
        rows: Callable[[int], Row],
        sampling: Sampling,
        draws: Draws,
        foresight: Foresight,
    ) -> None:
        super().__init__(rows, sampling, draws, foresight.suppressed)
        self._tell = foresight.tell
        # penalties and formats depend on tokens not drawn yet
        self._foresees = (
            not self._penalties
            and draws.names is None
            and draws.constraint is None
            and self._masked is None
        )
        self._every = np.arange(foresight.size, dtype=np.int32)

    def look_ahead(self, position: int) -> None:
        if self._foresees:
            self._tell(_greedy if self._greedy else lambda row: self._drawn(row, position))

    def close(self) -> None:
        self._tell(None)

    def _drawn(self, row: mx.array, position: int) -> mx.array:
        """The token that `draw` will probably give for a row, computed on the device."""
        wanted, best = self._sampling, row.max()
        least = best - np.inf
        if wanted.top_k > 0 or wanted.top_p < 1:
            count = wanted.top_k or row.shape[0]
            top = mx.sort(mx.topk(row, min(count, row.shape[0])))[::-1]
            least = top[-1]
            if wanted.top_p < 1:
                reached = mx.cumsum(mx.softmax(top)) >= wanted.top_p
                # if none is (by rounding), the last one stays
                last = mx.where(reached.any(), reached.argmax(), top.shape[0] - 1)
                least = top[last]
        if wanted.min_p > 0:
            least = mx.maximum(least, best + float(np.log(np.float32(wanted.min_p))))
        noise = mx.array(gumbel(self._seed, position, self._every).astype(np.float32))
        scores = row / wanted.temperature + noise
        return mx.where(row >= least, scores, -np.inf).argmax()


def _greedy(row: mx.array) -> mx.array:
    return row.argmax()
