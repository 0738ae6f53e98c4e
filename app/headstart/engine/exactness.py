"""Tests whether a loaded model computes the same bits for a token alone and in a batch. Engine
thread.

Only then do speculation, and prefilling a text in other pieces, never change a word. Weight type,
key and value type, processor and kernels decide it, so the model itself is tested.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec

from headstart.core.models.profiles import ProfileKey, ProfileKind, Profiles, recall, remember
from headstart.engine.decoder import ContextFull, DecodeAborted, Decoder
from headstart.engine.stop import NEVER, StopSignal

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

SPARE = 1
# from 512 cells on, some attention kernels sum a single row in another order
LONG, SHORT = 520, 48
ROWS = (2, 5, 16)
TEXT = "The river carries stones from the hills to the sea, and the sea gives back rain. "


class Exactness(msgspec.Struct, frozen=True):
    """`gap`: the largest difference of a logit between a single row and a batch; 0 is exact."""

    gap: float

    @property
    def exact(self) -> bool:
        return self.gap == 0


def recall_exactness(profiles: Profiles | None, model: str, device: str) -> Exactness | None:
    return recall(profiles, ProfileKey(model, "", device, ProfileKind.EXACT), Exactness)


def remember_exactness(
    profiles: Profiles | None, model: str, device: str, found: Exactness
) -> None:
    remember(profiles, ProfileKey(model, "", device, ProfileKind.EXACT), found)


def check(decoder: Decoder, stop: StopSignal = NEVER) -> Exactness:
    """Compute the same tokens one by one and together, after a short and a longer text, and prefill
    a text in other pieces. The live sequence is unchanged. Raises DecodeAborted."""
    cuts = decoder.facts.rollback == "exact"
    positions = [SHORT, LONG] if cuts and decoder.facts.context_length > LONG + 64 else [SHORT]
    tokens = (decoder.encode(TEXT) * 60)[: max(positions) + max(ROWS)]
    gap = 0.0
    try:
        for position in positions:
            more = tokens[position : position + max(ROWS)]
            _prefill(decoder, tokens[:position], (position,), stop)
            single = [_rows(decoder, [token], stop)[0] for token in more]
            for count in ROWS:
                _return_to(decoder, tokens[:position], stop)
                together = _rows(decoder, more[:count], stop)
                for row, other in zip(together, single, strict=False):
                    gap = max(gap, float(abs(row - other).max()))
            # the same text in other pieces, as after a restart
            _prefill(decoder, tokens[:position], (7, position // 2, position - 1), stop)
            other = _rows(decoder, more[:1], stop)[0]
            gap = max(gap, float(abs(single[0] - other).max()))
    except ContextFull:
        # a chat fills the context: the comparisons so far must do
        pass
    finally:
        decoder.truncate(0, SPARE)
    return Exactness(gap)


def _rows(
    decoder: Decoder, tokens: Sequence[int], stop: StopSignal
) -> list[npt.NDArray[np.float32]]:
    if stop.stopped:
        raise DecodeAborted
    decoder.forward(tokens, range(len(tokens)), SPARE)
    return [decoder.row(index) for index in range(len(tokens))]


def _return_to(decoder: Decoder, text: Sequence[int], stop: StopSignal) -> None:
    """Make the spare sequence hold `text` again, prefilled in the same pieces."""
    if decoder.truncate(len(text), SPARE) != len(text):
        _prefill(decoder, text, (len(text),), stop)


def _prefill(decoder: Decoder, text: Sequence[int], ends: Sequence[int], stop: StopSignal) -> None:
    """Prefill `text` from the start in pieces that end at `ends`, and at its own end."""
    decoder.truncate(0, SPARE)
    at = 0
    for end in sorted({*ends, len(text)}):
        while at < end:
            if stop.stopped:
                raise DecodeAborted
            upto = min(end, at + decoder.facts.batch)
            decoder.forward(text[at:upto], [], SPARE)
            at = upto
