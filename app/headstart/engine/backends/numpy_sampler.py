"""The sampler chain over numpy rows, for backends without one; the draw is ours (`noise`).

The steps and their order are llama.cpp's: penalties over the last tokens, top-k, top-p, min-p,
temperature. Of the handful of survivors, the highest logit plus noise wins.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from headstart.core.settings.schema import Sampling
from headstart.engine.backends.predictions import Draws, best_two, best_two_of, named_and_masked
from headstart.engine.decoder import Prediction
from headstart.engine.noise import gumbel

PENALTY_WINDOW = 256
# the likeliest tokens are searched within these distances of the best one: sorting or partitioning
# a whole vocabulary costs a millisecond
_REACHES = (4.0, 8.0, 16.0, 32.0)

Row = npt.NDArray[np.float32]
Ids = npt.NDArray[np.int64]


class NumpySampler:
    """See `engine.decoder.Sampler`. `rows` gives the logits of a row of the last forward."""

    def __init__(
        self,
        rows: Callable[[int], Row],
        sampling: Sampling,
        draws: Draws,
        suppressed: Sequence[int] = (),
    ) -> None:
        self._constraint = draws.constraint
        self._rows = rows
        self._sampling = sampling
        self._seed = draws.seed
        self._greedy = sampling.temperature == 0
        self._names, self._masked = named_and_masked(draws.names, suppressed)
        self._penalties = sampling.repeat_penalty != 1 or sampling.presence_penalty != 0
        self._last: deque[int] = deque(maxlen=PENALTY_WINDOW)
        self._marked: deque[int] | None = None

    def draw(self, row: int, position: int) -> int:
        logits = self._penalised(row)
        if self._greedy:
            return int(logits.argmax())
        ids, scores = self._scores(logits, position)
        return int(ids[scores.argmax()])

    def predict(self, row: int, position: int) -> Prediction:
        logits = self._penalised(row)
        if self._greedy:
            return best_two(logits)
        return best_two_of(*self._scores(logits, position))

    def likeliest(self, row: int) -> Prediction:
        return best_two(self._rows(row))

    def look_ahead(self, position: int) -> None:
        """Do nothing: this sampler starts nothing early."""

    def accept(self, tokens: Sequence[int]) -> None:
        self.see(tokens)
        if self._constraint is not None:
            self._constraint.accept(tokens)

    def see(self, tokens: Sequence[int]) -> None:
        if self._penalties:
            self._last.extend(tokens[-PENALTY_WINDOW:])

    def mark(self) -> None:
        if self._constraint is not None:
            self._constraint.mark()
        self._marked = self._last.copy()

    def rewind(self) -> None:
        if self._constraint is not None:
            self._constraint.rewind()
        if self._marked is not None:
            self._last, self._marked = self._marked, None

    def close(self) -> None:
        pass

    def _penalised(self, row: int) -> Row:
        """The row's logits; a copy if they are changed."""
        logits = self._rows(row)
        if self._constraint is not None:
            logits = self._constraint.apply(logits)
        if self._masked is None and not self._penalties:
            return logits
        logits = logits.copy()
        if self._penalties:
            seen = np.fromiter(Counter(self._last), np.int64)
            own, repeat = logits[seen], np.float32(self._sampling.repeat_penalty)
            own = np.where(own <= 0, own * repeat, own / repeat)
            logits[seen] = own - np.float32(self._sampling.presence_penalty)
        if self._masked is not None:
            logits[self._masked] = -np.inf
        return logits

    def _scores(self, logits: Row, position: int) -> tuple[Ids, npt.NDArray[np.floating]]:
        """Tokens that can be drawn, and their scores, of which the highest wins; the caller may
        change them."""
        ids, left = self._survivors(logits)
        left = left / np.float32(self._sampling.temperature)
        noisy = ids.astype(np.int32) if self._names is None else self._names[ids]
        return ids, left + gumbel(self._seed, position, noisy)

    def _survivors(self, logits: Row) -> tuple[Ids, Row]:
        wanted = self._sampling
        best = logits.max()
        ids = _likeliest(logits, best, wanted.top_k) if wanted.top_k > 0 else None
        if wanted.top_p < 1:
            ids = _nucleus(logits, best, ids, wanted.top_p)
        if ids is None:
            ids = np.arange(len(logits))
        left = logits[ids]
        if wanted.min_p > 0:
            keep = left >= best + np.log(np.float32(wanted.min_p))
            ids, left = ids[keep], left[keep]
        return ids, left


def _likeliest(logits: Row, best: np.floating, count: int) -> Ids:
    """The `count` likeliest tokens, the likeliest first."""
    found = None
    for reach in _REACHES:
        near = np.flatnonzero(logits >= best - reach)
        if len(near) >= count:
            found = near
            break
    if found is None:
        found = np.arange(len(logits))
    order = np.argsort(-logits[found], kind="stable")
    return found[order[:count]]


def _nucleus(logits: Row, best: np.floating, ids: Ids | None, share: float) -> Ids:
    """The likeliest of `ids` (sorted; None: all tokens) that together reach `share`."""
    if ids is None:
        weights = np.exp(logits - best)
        total = weights.sum()
        ids = np.flatnonzero(logits >= best - _REACHES[-1])
        ids = ids[np.argsort(-logits[ids], kind="stable")]
        weights = weights[ids]
    else:
        weights = np.exp(logits[ids] - best)
        total = weights.sum()
    reached = np.cumsum(weights) >= share * total
    return ids[: int(reached.argmax()) + 1] if reached.any() else ids
