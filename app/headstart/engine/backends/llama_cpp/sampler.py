"""The sampler chain of llama.cpp without its draw: the draw is ours (see `engine.noise`).

Penalties, top-k, top-p, min-p and temperature run in C over one buffer of candidates that every
chain of a decoder shares; numpy takes the survivor, of a handful, with the highest logit plus
noise.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

import llama_cpp as lib
import numpy as np
import numpy.typing as npt

from headstart.core.settings.schema import Sampling
from headstart.engine.backends.predictions import Draws, best_two, best_two_of, named_and_masked
from headstart.engine.decoder import Prediction
from headstart.engine.noise import gumbel

PENALTY_WINDOW = 256
CANDIDATE = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])
_NEVER = np.float32(-np.inf)


class Candidates:
    """One row's tokens in the form of llama.cpp's samplers; reused for every row."""

    def __init__(self, vocabulary: int, suppressed: Sequence[int] = ()) -> None:
        self.suppressed = suppressed
        self._ids = np.arange(vocabulary, dtype=np.int32)
        self._data = np.zeros(vocabulary, CANDIDATE)
        self._array = lib.llama_token_data_array()
        self._pointer = self._data.ctypes.data_as(ctypes.POINTER(lib.llama_token_data))

    def survivors(
        self, chain: Any, logits: npt.NDArray[np.float32]
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.float32]]:
        """Ids and logits of a row that survive the chain; views, valid until the next call."""
        data, array = self._data, self._array
        data["id"] = self._ids
        data["logit"] = logits
        array.data, array.size = self._pointer, len(data)
        array.selected, array.sorted = -1, False
        lib.llama_sampler_apply(chain, ctypes.byref(array))
        left = data[: array.size]
        return left["id"], left["logit"]


class LlamaCppSampler:
    """See `engine.decoder.Sampler`. `rows` gives the logits of a row of the last forward."""

    def __init__(
        self,
        rows: Any,
        candidates: Candidates,
        sampling: Sampling,
        draws: Draws,
    ) -> None:
        self.logits = rows
        self._constraint = draws.constraint
        self.candidates = candidates
        self._seed = draws.seed
        self._greedy = sampling.temperature == 0
        self._names, self._masked = named_and_masked(draws.names, candidates.suppressed)
        # whether the draw is simply a row's likeliest token
        self._bare = self._greedy and self._masked is None and draws.constraint is None
        self._penalties = sampling.repeat_penalty != 1 or sampling.presence_penalty != 0
        self.chain: Any = None
        self._marked: Any = None
        if self._penalties or not self._greedy:
            self.chain = _chain(sampling, self._penalties, len(candidates._ids))

    def draw(self, row: int, position: int) -> int:
        if self._bare and self.chain is None:
            return int(self.logits(row).argmax())
        ids, scores = self._scores(row, position)
        return int(ids[scores.argmax()])

    def predict(self, row: int, position: int) -> Prediction:
        if self._bare and self.chain is None:
            return best_two(self.logits(row))
        return best_two_of(*self._scores(row, position))

    def likeliest(self, row: int) -> Prediction:
        return best_two(self.logits(row))

    def _scores(
        self, row: int, position: int
    ) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.floating]]:
        """Tokens that can be drawn, and their scores, of which the highest wins; the caller may
        change them."""
        logits = raw = self.logits(row)
        if self._constraint is not None:
            logits = self._constraint.apply(logits)
        if self._masked is not None:
            logits = logits.copy() if logits is raw else logits
            logits[self._masked] = _NEVER
        if self.chain is None:
            return self.candidates._ids, logits.copy() if logits is raw else logits
        ids, left = self.candidates.survivors(self.chain, logits)
        if self._greedy:
            return ids, left.copy()
        noisy = ids if self._names is None else self._names[ids]
        return ids, left + gumbel(self._seed, position, noisy)

    def look_ahead(self, position: int) -> None:
        """Do nothing: llama.cpp computes at once, so nothing can start early."""

    def accept(self, tokens: Sequence[int]) -> None:
        self.see(tokens)
        if self._constraint is not None:
            self._constraint.accept(tokens)

    def see(self, tokens: Sequence[int]) -> None:
        if self._penalties:
            for token in tokens[-PENALTY_WINDOW:]:
                if token >= 0:
                    lib.llama_sampler_accept(self.chain, token)

    def mark(self) -> None:
        if self._constraint is not None:
            self._constraint.mark()
        if self._penalties:
            self._free_mark()
            self._marked = lib.llama_sampler_clone(self.chain)

    def rewind(self) -> None:
        if self._constraint is not None:
            self._constraint.rewind()
        if self._marked is not None:
            lib.llama_sampler_free(self.chain)
            self.chain, self._marked = self._marked, None

    def close(self) -> None:
        self._free_mark()
        if self.chain is not None:
            lib.llama_sampler_free(self.chain)
            self.chain = None

    def _free_mark(self) -> None:
        if self._marked is not None:
            lib.llama_sampler_free(self._marked)
            self._marked = None


def _chain(sampling: Sampling, penalties: bool, vocabulary: int) -> Any:
    chain = lib.llama_sampler_chain_init(lib.llama_sampler_chain_default_params())
    add = lib.llama_sampler_chain_add
    if penalties:
        add(
            chain,
            lib.llama_sampler_init_penalties(
                vocabulary, PENALTY_WINDOW, sampling.repeat_penalty, 0.0, sampling.presence_penalty
            ),
        )
    if sampling.temperature == 0:
        return chain
    if sampling.top_k > 0:
        add(chain, lib.llama_sampler_init_top_k(sampling.top_k))
    if sampling.top_p < 1:
        add(chain, lib.llama_sampler_init_top_p(sampling.top_p, 1))
    if sampling.min_p > 0:
        add(chain, lib.llama_sampler_init_min_p(sampling.min_p, 1))
    add(chain, lib.llama_sampler_init_temp(sampling.temperature))
    return chain
