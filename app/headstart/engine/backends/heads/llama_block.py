"""Heads on llama.cpp that draft a block of tokens in one forward: DFlash, DFlash 2 and DSpark.
Engine thread; closed before their target.

A head of this kind keeps its own keys and values, computed from the inputs of some of the target's
layers, and processes no token of the text. It drafts with one forward of the last token and as many
blanks as tokens are wanted, each of which sees all the others (block diffusion: Chen et al. 2026,
DFlash). The rest depends on the kind:

- DFlash: every position gives its token independently.
- DSpark: in the graph, the logits of a position are shifted by the token of the position before,
  and another layer gives the confidence of each position. The graph follows the likeliest tokens.
- DFlash 2: a position gives a few tokens, and a score for each pair of one of them with one of the
  position before: this module follows the chosen tokens through them.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import llama_cpp as lib
import msgspec
import numpy as np
import numpy.typing as npt

from headstart.core.errors import EnvironmentProblem, ModelProblem
from headstart.core.models.heads import HeadKind
from headstart.core.settings.schema import EngineSettings
from headstart.engine.backends.llama_cpp.context import Made
from headstart.engine.backends.llama_cpp.decoder import LlamaCppDecoder
from headstart.engine.backends.llama_cpp.forwards import failed
from headstart.engine.backends.llama_cpp.hidden import floats, function, wanted_layers
from headstart.engine.backends.predictions import odds
from headstart.engine.decoder import Hidden

# llama.cpp's block size if a file does not name one
_BLOCK = 16
# positions per row where height and width are rotated separately, as for images
_POSITIONS = 4
_INTS = ctypes.POINTER(ctypes.c_int32)
_NEVER = np.float32(-np.inf)


class LlamaBlock(LlamaCppDecoder):
    """A head of `target`; `engine.decoder.BlockDecoder` has the methods' contract."""

    def __init__(
        self,
        path: Path,
        kind: HeadKind,
        engine: EngineSettings,
        target: LlamaCppDecoder,
        progress: Callable[[float], bool] | None = None,
    ) -> None:
        """Raises ModelProblem, EnvironmentProblem, or DecodeAborted if `progress` returned
        False."""
        self._rows_in: _RowsIn | None = None
        super().__init__(path, engine, progress, made=Made(target=target.llama))
        try:
            llama, facts = self.llama, self._facts
            if facts.vocabulary_size != target.facts.vocabulary_size:
                raise ModelProblem("head-for-another-model", name=path.name)
            self._blank = int(lib.llama_vocab_mask(self.vocab))
            if not 0 <= self._blank < facts.vocabulary_size:
                raise ModelProblem("head-incomplete", name=path.name, missing="mask token")
            size = int(self._says("block_size") or _BLOCK)
            # row of the first drafted token: after the last drawn token, or at it
            at_token = kind is HeadKind.DSPARK and self._says("sample_from_anchor") != "false"
            self._first = 0 if at_token else 1
            wants = wanted_layers(llama.model)
            # at least one token can be drafted
            most = max(1, min(size, llama.batch) - self._first)
            self._facts = msgspec.structs.replace(
                facts,
                wants=wants,
                leaves=1,
                depth=most,
                at_once=most,
                state=f"{facts.state}, {kind.value} head",
            )
            self._rows_in = _RowsIn(llama.batch, len(wants) * target.facts.width, self._turned)
            lib.llama_set_causal_attn(self._context, self._says("attention.causal") == "true")
            self._paired = int(function("llama_model_dflash_selector_top_k")(llama.model))
            self._sure = kind is HeadKind.DSPARK and self._says("has_confidence_head") == "true"
            if self._paired or self._sure:
                # outputs of all tokens, or of those whose logits are kept
                function("llama_set_embeddings_nextn")(self._context, True, not self._paired)
            self._pairs = _Pairs(self._paired, facts.vocabulary_size)
            # log odds of each row
            self._odds: list[float] = []
        except BaseException:
            self.close()
            raise

    def forward(
        self,
        tokens: Sequence[int],
        outputs: Sequence[int],
        seq: int = 0,
        parents: Sequence[int] | None = None,
        hidden: Hidden | None = None,
    ) -> None:
        if parents is not None or seq:
            raise ValueError("a head has one sequence, and no tree")
        if hidden is None:
            self._draft(tokens, len(outputs))
            return
        if outputs or len(hidden) != len(tokens):
            raise ValueError("a hidden state for each token is read, and nothing comes of it")
        start = self.n_past()
        self._check(tokens, start)
        assert self._rows_in is not None
        self._outputs = ()
        result = self._forwards.run(self._rows_in.fill(hidden, start), len(tokens))
        if result:
            raise failed(result)

    def _draft(self, tokens: Sequence[int], count: int) -> None:
        """Draft `count` tokens after the last one, whose hidden state is not available yet."""
        if len(tokens) != 1 or not 0 < count <= self._facts.at_once:
            raise ValueError(f"one token, and up to {self._facts.at_once} to draft after it")
        start, rows = self.n_past(), count + self._first
        block = [tokens[0]] + [self._blank] * (rows - 1)
        try:
            super().forward(block, range(rows))
        finally:
            # the block is not part of the text
            lib.llama_memory_seq_rm(self._memory, 0, start, -1)
        self._outputs = range(self._first, rows)
        if self._paired:
            self._pairs.start(self._beside(rows)[self._first :])
        if self._sure:
            self._odds = [odds(one) for one in self._beside(rows)[self._first :, 0]]

    def logits(self, row: int) -> npt.NDArray[np.float32]:
        return self._pairs.logits(row) if self._paired else super().logits(row)

    def sureness(self, row: int) -> float:
        return self._odds[row] if self._odds else math.inf

    def chose(self, row: int, token: int) -> None:
        if self._paired:
            self._pairs.chose(row, token)

    def close(self) -> None:
        if self._rows_in is not None:
            self._rows_in.close()
            self._rows_in = None
        super().close()

    def _beside(self, count: int) -> Hidden:
        """The graph's outputs besides logits, as a view. Raises EnvironmentProblem."""
        address = function("llama_get_embeddings_nextn")(self._context)
        if not address:
            raise EnvironmentProblem("heads-got-nothing")
        return floats(address, (count, lib.llama_model_n_embd(self.llama.model)))

    def _says(self, name: str) -> str:
        return self.llama.metadata(f"{self.llama.architecture}.{name}")

    @property
    def _turned(self) -> int:
        """Number of positions per row."""
        several = lib.llama_model_rope_type(self.llama.model) == lib.LLAMA_ROPE_TYPE_MROPE
        return _POSITIONS if several else 1


class _RowsIn:
    """A batch of at most `size` rows without tokens, each of `width` numbers with `positions`
    positions."""

    def __init__(self, size: int, width: int, positions: int) -> None:
        self._native: Any = lib.llama_batch_init(size, width, 1)
        self._rows: Hidden = np.ctypeslib.as_array(self._native.embd, (size, width))
        self._positions = positions
        # positions are grouped by dimension; llama.cpp's own array has room for one dimension
        self._pos = np.zeros(size * positions, np.int32)
        self._own = ctypes.cast(self._native.pos, ctypes.c_void_p).value or 0
        self._native.pos = self._pos.ctypes.data_as(_INTS)
        for index in range(size):
            self._native.n_seq_id[index] = 1
            self._native.seq_id[index][0] = 0
            self._native.logits[index] = 0

    def fill(self, rows: Hidden, start: int) -> Any:
        count = len(rows)
        self._rows[:count] = rows
        self._native.n_tokens = count
        # the last dimension is unused
        for one in range(max(1, self._positions - 1)):
            self._pos[one * count : (one + 1) * count] = np.arange(start, start + count)
        self._pos[count * max(1, self._positions - 1) : count * self._positions] = 0
        return self._native

    def close(self) -> None:
        del self._rows
        self._native.pos = ctypes.cast(self._own, _INTS)
        lib.llama_batch_free(self._native)


class _Pairs:
    """The few tokens of each position, with a score for each after each of the position before."""

    def __init__(self, few: int, vocabulary: int) -> None:
        self._few = few
        # a row's logits; other tokens are never drawn
        self._row: npt.NDArray[np.float32] = np.full(vocabulary if few else 0, _NEVER, np.float32)
        self._shown: npt.NDArray[np.int64] = np.empty(0, np.int64)
        self._tokens: npt.NDArray[np.int64] = np.empty((0, few), np.int64)
        self._scores: Hidden = np.empty((0, few, few), np.float32)
        # for each row, the index of the chosen token of the position before
        self._before: list[int] = [0]

    def start(self, packed: Hidden) -> None:
        """Take a drafted block: for each position its tokens, then the scores of each pair."""
        few, count = self._few, len(packed)
        self._tokens = packed[:, :few].astype(np.int64)
        self._scores = packed[:, few : few + few * few].reshape(count, few, few).copy()
        self._before = [0]

    def logits(self, row: int) -> npt.NDArray[np.float32]:
        """A view, valid until the next call."""
        self._row[self._shown] = _NEVER
        self._shown = self._tokens[row]
        self._row[self._shown] = self._after(row)
        return self._row

    def chose(self, row: int, token: int) -> None:
        self._after(row)
        del self._before[row + 1 :]
        found = np.flatnonzero(self._tokens[row] == token)
        self._before.append(int(found[0]) if len(found) else int(self._after(row).argmax()))

    def _after(self, row: int) -> Hidden:
        """The scores of a position's tokens, after the chosen tokens, or the likeliest by
        default."""
        while len(self._before) <= row:
            place = len(self._before) - 1
            self._before.append(int(self._scores[place, self._before[place]].argmax()))
        found: Hidden = self._scores[row, self._before[row]]
        return found
