"""Recycling: drafts the target's own candidates from the last time that the same two tokens
occurred, without a model and without repeated text. Pure.

A table from the last two tokens, else from the last one, to the likeliest token of the row computed
after them, and its margin over the second (after Token Recycling, Luo et al. 2024, whose table uses
only the last token and is verified as a tree of 80). The acceptance of candidates is learned for
each kind of key and each margin, from every written token, drafted or not.
"""

from __future__ import annotations

import base64

import msgspec
import numpy as np

from headstart.engine.decoder import Prediction
from headstart.engine.speculation.acceptance import Bins
from headstart.engine.speculation.plan import Chain

# 16 bytes each when stored, 160 in memory
MOST_KEYS = 60_000
# acceptance by margin in SmolLM2's own greedy text: of candidates after two known tokens, after one
EDGES = (0.5, 1.0, 2.0, 4.0)
PAIR_PRIOR = (0.2, 0.3, 0.4, 0.55, 0.75)
LAST_PRIOR = (0.1, 0.15, 0.25, 0.35, 0.5)
# margins are stored as bytes, in steps of this
_STEP = 1 / 16
_MOST = 255
_KEY, _CANDIDATE = np.dtype("<u8"), np.dtype("<u4")


class Recycling:
    """The table of one target. `begin` with each reply; `at` and `wrote` follow its text."""

    def __init__(self, most: int = MOST_KEYS) -> None:
        self._most = most
        # keyed by two tokens, and by the last one: a token and its margin in one number
        self._pairs: dict[int, int] = {}
        self._lasts: dict[int, int] = {}
        self.pair_bins, self.last_bins = _bins(PAIR_PRIOR), _bins(LAST_PRIOR)
        self._key = 0
        # changes since the table was saved
        self.news = 0

    def __len__(self) -> int:
        return len(self._pairs) + len(self._lasts)

    def begin(self) -> None:
        """Begin another reply."""
        self.pair_bins.begin()
        self.last_bins.begin()

    def at(self, before: int, last: int) -> None:
        """Set the text's last two tokens; those of images count as 0."""
        self._key = max(0, before) << 32 | max(0, last)

    def wrote(self, prediction: Prediction, token: int) -> None:
        """Record the prediction of the row after the text, and the `token` drawn from it, which
        continues the text."""
        key, last = self._key, self._key & 0xFFFFFFFF
        known = self._pairs.pop(key, None)
        # a broken card gives NaN, which compares as false
        exact = prediction.margin < _MOST * _STEP
        margin = int(prediction.margin / _STEP) if exact else _MOST
        fresh = prediction.token << 8 | margin
        if known is not None:
            self.pair_bins.observe((known & _MOST) * _STEP, known >> 8 == token)
        else:
            known = self._lasts.get(last)
            if known is not None:
                self.last_bins.observe((known & _MOST) * _STEP, known >> 8 == token)
        # the latest entries come last, so that the oldest are dropped first
        self._pairs[key] = fresh
        self._lasts.pop(last, None)
        self._lasts[last] = fresh
        self.news += 1
        if len(self) > self._most:
            self._drop()
        self._key = last << 32 | token

    def chain(self, depth: int) -> Chain:
        """Probable next tokens, as far as the table reaches."""
        return self._chain(self._key, depth)

    def after(self, before: int, last: int, depth: int) -> Chain:
        """Candidates after two given tokens."""
        return self._chain(max(0, before) << 32 | max(0, last), depth)

    def _chain(self, key: int, depth: int) -> Chain:
        tokens, chances = list[int](), list[float]()
        pairs, lasts = self._pairs, self._lasts
        while len(tokens) < depth:
            found = pairs.get(key)
            if found is not None:
                chances.append(self.pair_bins.chance((found & _MOST) * _STEP))
            else:
                found = lasts.get(key & 0xFFFFFFFF)
                if found is None:
                    break
                chances.append(self.last_bins.chance((found & _MOST) * _STEP))
            tokens.append(found >> 8)
            key = (key & 0xFFFFFFFF) << 32 | found >> 8
        return Chain(tokens, chances)

    def first_chance(self) -> float:
        """The probability of the first token of `chain`, without making one."""
        found = self._pairs.get(self._key)
        if found is not None:
            return self.pair_bins.chance((found & _MOST) * _STEP)
        found = self._lasts.get(self._key & 0xFFFFFFFF)
        return 0.0 if found is None else self.last_bins.chance((found & _MOST) * _STEP)

    def clear(self) -> None:
        """Forget all tokens, but keep the acceptance."""
        self._pairs.clear()
        self._lasts.clear()
        self.news = 0

    def _drop(self) -> None:
        for table in (self._pairs, self._lasts):
            for key in list(table)[: len(table) // 8]:
                del table[key]

    # --- kept between runs of the app -----------------------------------------------------

    def pack(self) -> bytes:
        """Serialize the table as JSON, at most 2 MB."""
        packed = _Packed(_table(self._pairs), _table(self._lasts), self.pair_bins, self.last_bins)
        self.news = 0
        return msgspec.json.encode(packed)

    def unpack(self, data: bytes) -> None:
        """Load a packed table; an unreadable one is ignored."""
        try:
            packed = msgspec.json.decode(data, type=_Packed)
            pairs, lasts = _entries(packed.pairs), _entries(packed.lasts)
        except (msgspec.MsgspecError, ValueError):
            return
        self._pairs, self._lasts = pairs, lasts
        self.pair_bins, self.last_bins = packed.pair_bins, packed.last_bins
        while len(self) > self._most:
            self._drop()


class _Packed(msgspec.Struct):
    pairs: str
    lasts: str
    pair_bins: Bins
    last_bins: Bins


def _bins(prior: tuple[float, ...]) -> Bins:
    return Bins(EDGES, prior)


def _table(entries: dict[int, int]) -> str:
    keys = np.fromiter(entries, _KEY, len(entries))
    values = np.fromiter(entries.values(), _CANDIDATE, len(entries))
    return base64.b64encode(keys.tobytes() + values.tobytes()).decode()


def _entries(text: str) -> dict[int, int]:
    """Raises ValueError."""
    data = base64.b64decode(text, validate=True)
    count, rest = divmod(len(data), _KEY.itemsize + _CANDIDATE.itemsize)
    if rest:
        raise ValueError("torn")
    keys = np.frombuffer(data, _KEY, count)
    values = np.frombuffer(data, _CANDIDATE, count, count * _KEY.itemsize)
    return dict(zip(keys.tolist(), values.tolist(), strict=True))
