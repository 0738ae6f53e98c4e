"""The noise that draws tokens: a fixed function of seed, position and token id.

Pure. A token is drawn as the one whose log-probability plus Gumbel noise is highest, which has
exactly the law of the distribution (Gumbel-max). As the noise does not depend on the model, target
and draft get the same noise at the same position, and so mostly choose the same token (coupling
without communication: Daliri, Musco, Suresh 2024), and the text of a seed does not depend on the
draft tokens, their depth, or the use of drafts at all.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

_MASK = (1 << 64) - 1
_STEP = 0x9E3779B97F4A7C15
_ONE, _TWO = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
_ID = np.uint64(0xD1342543DE82EF95)
_UNIT = 2.0**-53


def gumbel(seed: int, position: int, ids: npt.NDArray[np.integer]) -> npt.NDArray[np.float64]:
    """Standard Gumbel noise for the tokens `ids` at `position`, of the same shape as `ids`.

    The bits are SplitMix64's (Steele, Lea, Flood 2014) over a key mixed from all three.
    """
    key = np.uint64(_mix(_mix(seed) + position * _STEP))
    mixed = ids.astype(np.uint64)
    mixed *= _ID
    mixed += key
    mixed ^= mixed >> _S30
    mixed *= _ONE
    mixed ^= mixed >> _S27
    mixed *= _TWO
    mixed ^= mixed >> _S31
    # the middle of each of 2^53 steps: never 0 and never 1
    uniform = ((mixed >> _S11).astype(np.float64) + 0.5) * _UNIT
    noise: npt.NDArray[np.float64] = -np.log(-np.log(uniform))
    return noise


def _mix(value: int) -> int:
    value = (value + _STEP) & _MASK
    value = ((value ^ (value >> 30)) * int(_ONE)) & _MASK
    value = ((value ^ (value >> 27)) * int(_TWO)) & _MASK
    return value ^ (value >> 31)
