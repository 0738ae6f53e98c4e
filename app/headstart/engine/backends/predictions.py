"""Functions shared by the samplers of all backends: the two likeliest tokens, masked tokens."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from headstart.engine.decoder import Constraint, Prediction

# limit of a chance near 0 or 1
_CERTAIN = 1e-6
Scores = npt.NDArray[np.floating]


class Draws(NamedTuple):
    """Everything besides sampling that decides the draws of a turn. See `Decoder.sampler`."""

    seed: int
    names: Sequence[int] | None = None
    constraint: Constraint | None = None


def best_two(logits: npt.NDArray[np.float32]) -> Prediction:
    """The two likeliest of a whole row, for greedy sampling. The row is unchanged afterwards."""
    first = int(logits.argmax())
    best = logits[first]
    # the second is found in place: a copy of the row costs more than the search
    logits[first] = -np.inf
    second = int(logits.argmax())
    logits[first] = best
    return Prediction(first, second, float(best) - float(logits[second]))


def best_two_of(ids: npt.NDArray[np.integer], scores: Scores) -> Prediction:
    """The two best of the tokens that can be drawn; `scores` are changed."""
    first = int(scores.argmax())
    if len(scores) == 1:
        return Prediction(int(ids[first]), int(ids[first]), float("inf"))
    best, scores[first] = float(scores[first]), -np.inf
    second = int(scores.argmax())
    return Prediction(int(ids[first]), int(ids[second]), best - float(scores[second]))


def odds(chance: float) -> float:
    """The log odds of a chance."""
    safe = min(1 - _CERTAIN, max(_CERTAIN, float(chance)))
    return math.log(safe / (1 - safe))


def named_and_masked(
    names: Sequence[int] | None, suppressed: Sequence[int]
) -> tuple[npt.NDArray[np.int32] | None, npt.NDArray[np.intp] | None]:
    """The tokens' ids in another model; and the tokens that are never drawn, because they have no
    such id or are suppressed. None if nothing is renamed, or masked."""
    masked = np.asarray(suppressed, np.intp)
    if names is None:
        return None, masked if len(masked) else None
    named = np.asarray(names, np.int32)
    masked = np.union1d(masked, np.flatnonzero(named < 0))
    return named, masked if len(masked) else None
