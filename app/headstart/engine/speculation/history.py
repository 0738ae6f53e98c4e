"""This target's replies in earlier chats, as a source of drafts: where did the last tokens stand in
them, and what came next? Engine thread; the index is made while the engine is idle.

A suffix array over the tokens of earlier replies (Manber and Myers 1990; made by prefix doubling,
which numpy sorts): places whose text begins alike lie together, so the longest run that ends the
present text is found by halving, with all its continuations and their counts.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from headstart.engine.speculation.acceptance import Bins, length_bins
from headstart.engine.speculation.plan import Chain

# tokens of earlier replies, the latest ones: some 1,500 replies, sorted in 40 ms a round
MOST = 400_000
# shorter runs come by chance
SHORTEST = 4
_LONGER = (8, 16, 24)
# places that are looked at for what comes next
_COUNTED = 16
# stands between two replies, and is in no text
_END = -1


class History:
    """`add` replies, let `build` run while nothing else is to be done, then `chain`."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._waiting: list[list[int]] = []
        # replies as they are indexed, the ends between them included
        self._tokens: list[int] = []
        self._places: list[int] = []
        self.bins: Bins = length_bins()

    def __len__(self) -> int:
        """Tokens that are indexed."""
        return len(self._tokens)

    @property
    def waiting(self) -> int:
        """Tokens that are not indexed yet."""
        return sum(len(tokens) for tokens in self._waiting)

    def add(self, reply: Sequence[int]) -> None:
        """The tokens of a reply; the latest one comes last. Images are none."""
        if len(reply) > SHORTEST:
            self._waiting.append([token for token in reply if token >= 0])

    def clear(self) -> None:
        self._waiting, self._tokens, self._places = [], [], []

    def build(self) -> Iterator[None]:
        """Index what waits, in pieces of some 40 ms at most; what was indexed before stays in use
        until the end, and a build that is not gone on with changes nothing."""
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
        """Another reply."""
        self.bins.begin()

    def chain(self, text: Sequence[int], depth: int) -> Chain | None:
        """Continuation of the longest run that ends `text`; None where even a short one is new."""
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
        """Learn the text after a chain, verified or not."""
        for index, (token, other) in enumerate(zip(chain.tokens, emitted, strict=False)):
            self.bins.observe(chain.length + index, token == other)
            if token != other:
                break

    def _find(self, text: Sequence[int]) -> tuple[int, int, int] | None:
        """The longest run that is known, and its places in the index."""
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
    """Some of the places, evenly."""
    return range(low, high, max(1, (high - low) // _COUNTED))


class _Order:
    """Places by the text that begins there; `improve` compares twice as many tokens each time."""

    def __init__(self, tokens: npt.NDArray[np.int32]) -> None:
        self.places: npt.NDArray[np.intp] = np.argsort(tokens, kind="stable")
        self._ranks = _ranks(tokens[self.places].astype(np.int64), self.places)
        self._length = 1

    def improve(self) -> bool:
        """False: as many tokens as are ever looked up are compared."""
        if self._length >= _LONGER[-1]:
            return False
        # the rank of what comes so many tokens later; the end of all comes first
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
    """Equal keys have equal ranks."""
    steps = np.concatenate([[0], (keys[1:] != keys[:-1]).cumsum()])
    ranks = np.empty(len(keys), np.int64)
    ranks[order] = steps
    return ranks
