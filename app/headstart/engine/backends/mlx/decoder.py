"""The MLX backend over mlx-lm's models and caches; Apple's GPU, or a processor for tests.

Everything runs on the engine thread, as MLX requires, except `abort`. MLX computes when a result is
used, and a computation cannot be stopped: long texts are prefilled in pieces, and an abort takes
effect between them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, NoReturn, Protocol

import numpy as np
import numpy.typing as npt
from msgspec import Struct

from headstart.core.errors import EnvironmentProblem
from headstart.core.models.described import Vocabulary
from headstart.core.settings.schema import EngineSettings, Sampling
from headstart.engine.backends.base import DecoderBase
from headstart.engine.backends.mlx.library import clear_memory, mx, on_gpu
from headstart.engine.backends.mlx.model import MlxModel, first_line
from headstart.engine.backends.mlx.sampler import Foresee, Foresight, MlxSampler
from headstart.engine.backends.mlx.state import CacheState, StateLayout
from headstart.engine.backends.mlx.states import Kept, MlxStates
from headstart.engine.backends.mlx.tokenizer import FolderTokenizer
from headstart.engine.backends.predictions import Draws
from headstart.engine.decoder import Blob, Constraint, DecodeAborted, Hidden, ModelFacts

# tokens computed at once. A GPU needs many; on a processor each costs the same (SmolLM2 in 4 bit:
# 105 ms, in any number), and an abort must take effect within a second
GPU_STEP, CPU_STEP = 256, 8
# at least this many tokens before the first wanted row are processed separately, without their rows
SPLIT_FROM = 32
# as in mlx-lm: buffers of past steps are freed after this many tokens
CLEAR_EVERY = 256


class _Lane(Struct):
    """One sequence: its caches, and the number of tokens in them."""

    state: CacheState
    length: int = 0
    checkpoint: tuple[int, list[Any]] | None = None


class LoadedWeights(Protocol):
    """Weights and network of a decoder: a model of mlx-lm, or a head."""

    model: Any
    tokenizer: FolderTokenizer
    layouts: tuple[StateLayout, ...]

    def fresh_caches(self) -> CacheState: ...

    def facts(self, engine: EngineSettings, clamp: bool) -> ModelFacts: ...

    def close(self) -> None: ...


class _Ahead(NamedTuple):
    """A forward begun early, before it was requested."""

    lane: _Lane
    token: mx.array
    rows: mx.array
    # its hidden states, if they are kept
    kept: Kept


class MlxDecoder(DecoderBase):
    """A model folder and its caches; `engine.decoder.Decoder` has the methods' contract."""

    def __init__(
        self,
        folder: Path,
        engine: EngineSettings,
        progress: Callable[[float], bool] | None = None,
        clamp: bool = False,
        loaded: LoadedWeights | None = None,
    ) -> None:
        """Load `folder`; raises ModelProblem, or DecodeAborted if `progress` returned False.

        `clamp` limits the context to the trained length, whatever is requested; `loaded` runs in
        place of the folder's model.
        """
        super().__init__()
        self.loaded: LoadedWeights = loaded or MlxModel(folder, progress, clear_memory)
        self._model: Any = self.loaded.model
        self._states = self._hidden = MlxStates(self._model)
        self._tokenizer = self.loaded.tokenizer
        try:
            self._facts = self.loaded.facts(engine, clamp)
        except BaseException:
            self.loaded.close()
            clear_memory()
            raise
        self._aborted = False
        self._rows: npt.NDArray[np.float32] | None = None
        self._since_clear = 0
        # the draw of the next single row, if the sampler can predict it
        self._foresee: Foresee | None = None
        self.ahead: _Ahead | None = None
        self._step = GPU_STEP if on_gpu() else CPU_STEP
        self._split = SPLIT_FROM if on_gpu() else CPU_STEP
        # the live sequence, and others as needed
        self._lanes: dict[int, _Lane] = {}
        self._ends = frozenset(self._tokenizer.ends)

    def _lane(self, seq: int) -> _Lane:
        if seq not in self._lanes:
            self._lanes[seq] = _Lane(self.loaded.fresh_caches())
        return self._lanes[seq]

    @property
    def _live(self) -> _Lane:
        return self._lane(0)

    def _spell(self, token: int) -> bytes:
        return self._tokenizer.piece(token)

    def encode(self, text: str) -> list[int]:
        return self._tokenizer.encode(text)

    @property
    def pace(self) -> int:
        return 0

    def n_past(self, seq: int = 0) -> int:
        return self._lane(seq).length

    def vocabulary(self) -> Vocabulary:
        return self._tokenizer.vocabulary()

    def forward(
        self,
        tokens: Sequence[int],
        outputs: Sequence[int],
        seq: int = 0,
        parents: Sequence[int] | None = None,
        hidden: Hidden | None = None,
    ) -> None:
        count = len(tokens)
        if parents is not None or hidden is not None:
            raise ValueError("this backend has no trees")
        lane = self._lane(seq)
        self._check(tokens, lane.length)
        foresee, self._foresee = self._foresee, None
        self._rows = None
        if self._aborted:
            raise DecodeAborted
        self._hidden.begin()
        start, mark = lane.length, None
        try:
            first = self._take_ahead(lane, tokens[0])
            lane.state.join()
            # a state that cannot be cut could not recover from an abort in the middle
            mark = lane.state.mark() if lane.state.mixed and count > 1 else None
            rows = self._read(lane, tokens, outputs, first)
            if count == 1 and rows is not None and foresee is not None and not lane.state.mixed:
                self._begin(lane, rows, foresee)
            if rows is not None:
                self._rows = np.array(rows, copy=False)
        except DecodeAborted:
            if mark is not None and lane.state.return_to(mark, lane.length - start):
                lane.length = start
            raise
        except Exception as error:
            self._forget(seq)
            self._fail(error)

    def _read(
        self, lane: _Lane, tokens: Sequence[int], outputs: Sequence[int], first: mx.array | None
    ) -> mx.array | None:
        """Make the lane hold `tokens`, with `first` the row of the first one if it was begun early;
        returns the wanted rows, not yet computed."""
        start = 0 if first is None else 1
        silent = min((index for index in outputs if index >= start), default=len(tokens))
        if silent < len(tokens) and silent - start < self._split:
            silent = start
        for at in range(start, silent, self._step):
            self.compute(lane, tokens[at : min(silent, at + self._step)], [])
        parts = [first] if first is not None and 0 in outputs else []
        if silent < len(tokens):
            rest = [index - silent for index in outputs if index >= silent]
            rows = self.compute(lane, tokens[silent:], rest)
            parts.extend([rows] if rows is not None else [])
        return mx.concatenate(parts) if len(parts) > 1 else parts[0] if parts else None

    def compute(
        self, lane: _Lane, tokens: Sequence[int], outputs: Sequence[int]
    ) -> mx.array | None:
        if self._aborted:
            raise DecodeAborted
        rows = self._rows_of(self._model(mx.array([list(tokens)]), cache=lane.state.caches)[0])
        lane.length += len(tokens)
        self._since_clear += len(tokens)
        if self._since_clear >= CLEAR_EVERY:
            self._since_clear = 0
            clear_memory()
        if not outputs:
            lane.state.evaluate()
            return None
        if len(outputs) < len(tokens):
            rows = rows[mx.array(list(outputs))]
        mx.async_eval(rows)
        return rows

    def _rows_of(self, logits: mx.array) -> mx.array:
        """Rows in the sampler's form; some models have logits for tokens that do not exist."""
        return logits[:, : self._tokenizer.size].astype(mx.float32)

    # --- beginning early -----------------------------------------------------------------

    def _begin(self, lane: _Lane, rows: mx.array, foresee: Foresee) -> None:
        """Start the next forward while this one is computed. The caches then hold one token more
        than `length`."""
        if lane.length + 1 >= self._facts.context_length:
            return
        token = foresee(rows[0])
        mx.async_eval(token)
        kept: Kept = {}
        before = self._hidden.swap(kept)
        following = self._rows_of(self._model(token[None, None], cache=lane.state.caches)[0])
        self._hidden.swap(before)
        mx.async_eval(following)
        self.ahead = _Ahead(lane, token, following, kept)

    def _take_ahead(self, lane: _Lane, token: int) -> mx.array | None:
        """The row after `token`, if it was predicted."""
        ahead = self.ahead
        if ahead is None:
            return None
        if ahead.lane is not lane or ahead.token.item() != token:
            self._drop_ahead()
            return None
        self.ahead = None
        self._hidden.swap(ahead.kept)
        lane.length += 1
        return ahead.rows

    def _drop_ahead(self) -> None:
        ahead, self.ahead = self.ahead, None
        if ahead is not None:
            ahead.lane.state.trim(1)

    def _fail(self, error: Exception) -> NoReturn:
        raise EnvironmentProblem("mlx-failed", reason=first_line(error)) from error

    def keep(self, path: Sequence[int]) -> None:
        raise ValueError("this backend has no trees")

    def logits(self, row: int) -> npt.NDArray[np.float32]:
        assert self._rows is not None
        view: npt.NDArray[np.float32] = self._rows[row]
        return view

    def sampler(
        self,
        sampling: Sampling,
        seed: int,
        names: Sequence[int] | None = None,
        constraint: Constraint | None = None,
    ) -> MlxSampler:
        def tell(foresee: Foresee | None) -> None:
            self._foresee = foresee

        foresight = Foresight(tell, self._tokenizer.size, self._facts.suppressed)
        return MlxSampler(self.logits, sampling, Draws(seed, names, constraint), foresight)

    def checkpoint(self) -> None:
        lane = self._live
        if lane.state.mixed:
            lane.checkpoint = (lane.length, lane.state.mark())

    def truncate(self, n: int, seq: int = 0) -> int:
        self._drop_ahead()
        lane = self._lane(seq)
        past = lane.length
        if n >= past and n > 0:
            return past
        if n > 0:
            if lane.state.can_trim() and lane.state.trim(past - n):
                lane.length = n
                if lane.checkpoint is not None and lane.checkpoint[0] > n:
                    # the checkpoint belongs to another text
                    lane.checkpoint = None
                return n
            if lane.checkpoint is not None and lane.checkpoint[0] <= n:
                position, mark = lane.checkpoint
                if lane.state.return_to(mark, past - position):
                    lane.length = position
                    return position
        self._forget(seq)
        return 0

    def _forget(self, seq: int = 0) -> None:
        lane = self._lanes.pop(seq, None)
        if self.ahead is not None and self.ahead.lane is lane:
            self.ahead = None

    def reach(self, n: int) -> int:
        lane = self._live
        if n >= lane.length:
            return lane.length
        if lane.state.can_trim():
            return n
        position = lane.checkpoint[0] if lane.checkpoint is not None else 0
        return position if position <= n else 0

    def export(self, start: int, end: int) -> Blob:
        return self._live.state.export(start, end)

    def restore(self, blob: Blob, start: int, end: int) -> bool:
        self._drop_ahead()
        lane = self._live
        if start != lane.length or end > self._facts.context_length:
            return False
        if not lane.state.append(blob, end - start, self.loaded.layouts):
            return False
        lane.length = end
        return True

    def snapshot(self) -> Blob:
        return self._live.state.snapshot()

    def back(self, snapshot: Blob, n: int) -> bool:
        lane = self._live
        mark = lane.state.unpack(snapshot)
        if mark is None or (lane.state.ranges and n > lane.length):
            return False
        if lane.checkpoint is not None and lane.checkpoint[0] > n:
            lane.checkpoint = None
        behind = lane.length - n if lane.state.ranges else 0
        if not lane.state.return_to(mark, behind):
            self._forget()
            return False
        lane.length = n
        return True

    def abort(self) -> None:
        self._aborted = True

    def clear_abort(self) -> None:
        self._aborted = False

    def close(self) -> None:
        self._rows = self.ahead = self._foresee = None
        self._lanes.clear()
        self._hidden.keep(())
        self._model = None
        self.loaded.close()
        clear_memory()
