"""This target's replies in earlier chats, as a source of drafts: finds the last tokens in them, and
the tokens that followed. Engine thread; the index is built while the engine is idle.

A suffix array over the tokens of earlier replies (Manber and Myers 1990; made by prefix doubling,
which numpy sorts): positions with equal following text are adjacent, so binary search finds the
longest run that ends the present text, with all its continuations and their counts.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from headstart.engine.speculation.acceptance import Bins, length_bins
from headstart.engine.speculation.plan import Chain

# tokens of the latest earlier replies: some 1,500 replies, sorted in 40 ms per pass
MOST = 400_000
# shorter runs occur by chance
SHORTEST = 4
_LONGER = (8, 16, 24)
# positions examined for continuations
_COUNTED = 16
# separates two replies, and occurs in no text
_END = -1


class History:
    """Drafts from replies: `add` them, run `build` while the engine is idle, then call `chain`."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._waiting: list[list[int]] = []
        # the indexed replies, with separators
        self._tokens: list[int] = []
        self._places: list[int] = []
        self.bins: Bins = length_bins()

    def __len__(self) -> int:
        """Number of indexed tokens."""
        return len(self._tokens)

    @property
    def waiting(self) -> int:
        """Number of tokens not yet indexed."""
        return sum(len(tokens) for tokens in self._waiting)

    def add(self, reply: Sequence[int]) -> None:
        """Add the tokens of a reply, latest last, without those of images."""
        if len(reply) > SHORTEST:
            self._waiting.append([token for token in reply if token >= 0])

    def clear(self) -> None:
        self._waiting, self._tokens, self._places = [], [], []

    def build(self) -> Iterator[None]:
        """Index the waiting replies, in pieces of some 40 ms at most; the old index stays in use
        until the end, and an abandoned build changes nothing."""
        if not self._waiting:
            return
        count = len(self._waiting)
        tokens = list(self._tokens)
        for reply in self._waiting:
            tokens += [*reply, _END]
        tokens = tokens[-self._most :]
        yield
        order = _Order(np.array(tokens, np.int32))
        while order.improve():
            yield
        self._tokens, self._places = tokens, order.places.tolist()
        del self._waiting[:count]

    # --- drafting -------------------------------------------------------------------------

    def begin(self) -> None:
        """Begin another reply."""
        self.bins.begin()

    def chain(self, text: Sequence[int], depth: int) -> Chain | None:
        """The continuation of the longest known run that ends `text`; None if there is none."""
        found = self._find(text)
        if found is None:
            return None
        length, low, high = found
        tokens, places = self._tokens, self._places
        nexts = [places[index] + length for index in _spread(low, high)]
        nexts = [at for at in nexts if at < len(tokens) and tokens[at] != _END]
        chosen, chances = list[int](), list[float]()
        while nexts and len(chosen) < depth:
            counts = Counter(tokens[at] for at in nexts)
            token, times = counts.most_common(1)[0]
            chances.append(self.bins.chance(length + len(chosen)) * times / len(nexts))
            chosen.append(token)
            nexts = [at + 1 for at in nexts if tokens[at] == token]
            nexts = [at for at in nexts if at < len(tokens) and tokens[at] != _END]
        return Chain(chosen, chances, length) if chosen else None

    def learn(self, chain: Chain, emitted: Sequence[int]) -> None:
        """Learn from the text that followed, whether the chain was verified or not."""
        for index, (token, other) in enumerate(zip(chain.tokens, emitted, strict=False)):
            self.bins.observe(chain.length + index, token == other)
            if token != other:
                break

    def _find(self, text: Sequence[int]) -> tuple[int, int, int] | None:
        """The length of the longest known run, and its range in the index."""
        found = self._range(text, SHORTEST)
        if found is None:
            return None
        best = (SHORTEST, *found)
        for length in _LONGER:
            found = self._range(text, length)
            if found is None:
                break
            best = (length, *found)
        return best

    def _range(self, text: Sequence[int], length: int) -> tuple[int, int] | None:
        if len(text) < length or not self._places:
            return None
        tokens, wanted = self._tokens, list(text[-length:])

        def beginning(place: int) -> list[int]:
            return tokens[place : place + length]

        low = bisect_left(self._places, wanted, key=beginning)
        if low == len(self._places) or beginning(self._places[low]) != wanted:
            return None
        high = low + 1
        if high < len(self._places) and beginning(self._places[high]) == wanted:
            high = bisect_right(self._places, wanted, lo=high, key=beginning)
        return low, high


def _spread(low: int, high: int) -> range:
    """An evenly spaced selection of positions."""
    return range(low, high, max(1, (high - low) // _COUNTED))


class _Order:
    """Positions sorted by their following text; each `improve` doubles the compared tokens."""

    def __init__(self, tokens: npt.NDArray[np.int32]) -> None:
        self.places: npt.NDArray[np.intp] = np.argsort(tokens, kind="stable")
        self._ranks = _ranks(tokens[self.places].astype(np.int64), self.places)
        self._length = 1

    def improve(self) -> bool:
        """Sort by twice as many tokens; False if the order already covers the longest lookup."""
        if self._length >= _LONGER[-1]:
            return False
        # the rank of the text that many tokens later; the end of all text sorts first
        count = len(self._ranks)
        later = np.zeros(count, np.int64)
        behind = self._ranks[self._length :]
        later[: len(behind)] = behind + 1
        keys = self._ranks * (count + 1) + later
        self.places = np.argsort(keys, kind="stable")
        self._ranks = _ranks(keys[self.places], self.places)
        self._length *= 2
        return True


def _ranks(keys: npt.NDArray[np.int64], order: npt.NDArray[np.intp]) -> npt.NDArray[np.int64]:
    """Ranks of the keys; equal keys have equal ranks."""
    steps = np.concatenate([[0], (keys[1:] != keys[:-1]).cumsum()])
    ranks = np.empty(len(keys), np.int64)
    ranks[order] = steps
    return ranks
