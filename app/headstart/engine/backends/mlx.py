"""The MLX backend over mlx-lm's models and caches; Apple's GPU, or a processor for tests.

Everything runs on the engine thread, which MLX asks for, except `abort`. MLX computes when a
result is looked at, and a computation cannot be stopped: long texts are read in pieces, and an
abort is seen between them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from headstart.core.errors import EnvironmentProblem, ModelProblem
from headstart.core.models import Vocabulary
from headstart.core.settings import EngineSettings, Sampling
from headstart.engine.backends.mlx_library import (
    clear_memory,
    mlx_cache,
    mlx_utils,
    mx,
    on_gpu,
    prepare,
    versions,
)
from headstart.engine.backends.mlx_state import CacheState, Layout
from headstart.engine.backends.mlx_tokenizer import FolderTokenizer
from headstart.engine.backends.numpy_sampler import NumpySampler
from headstart.engine.decoder import Blob, ContextFull, DecodeAborted, ModelFacts

BATCH = 256
AUTOMATIC_CONTEXT = 8192
# tokens computed at once. A GPU wants many; on a processor each costs the same (SmolLM2 in 4 bit:
# 105 ms, however many there are), and an abort is to be seen within a second
GPU_STEP, CPU_STEP = 256, 8
# so many tokens in front of the first row that is wanted are read without computing their rows
SPLIT_FROM = 32
# as mlx-lm does: buffers of past steps are given back after so many tokens
CLEAR_EVERY = 256
_UNKNOWN = "The folder may be damaged, or of a kind that this version does not know."


class MlxDecoder:
    """A model folder and its caches. See `engine.decoder.Decoder` for what the methods promise."""

    def __init__(
        self,
        folder: Path,
        engine: EngineSettings,
        progress: Callable[[float], bool] | None = None,
        clamp: bool = False,
    ) -> None:
        """Load `folder`; raises ModelProblem, or DecodeAborted when `progress` said to stop.

        `clamp` keeps the context within what the model was trained for, whatever is asked.
        """
        self._name = folder.name
        self._progress = progress
        self._aborted = False
        self._rows: npt.NDArray[np.float32] | None = None
        self._length = 0
        self._checkpoint: tuple[int, list[Any]] | None = None
        self._since_clear = 0
        prepare()
        self._step = GPU_STEP if on_gpu() else CPU_STEP
        self._split = SPLIT_FROM if on_gpu() else CPU_STEP
        config = self._load(folder)
        self._tokenizer = FolderTokenizer(folder, config)
        self._tell(0.8)
        self._state = self._fresh()
        self._layouts = self._learn(config)
        self._pieces: dict[int, bytes] = {}
        self._facts = self._read_facts(config, engine, clamp)
        self._tell(1.0)

    def _load(self, folder: Path) -> dict[str, Any]:
        self._tell(0.0)
        try:
            self._model, config = mlx_utils.load_model(folder, lazy=True)
            parameters = _arrays(self._model.parameters())
            self._tell(0.1)
            # in parts, so that loading can be followed and stopped
            for index in range(0, len(parameters), 32):
                mx.eval(parameters[index : index + 32])
                self._tell(0.1 + 0.7 * min(1.0, (index + 32) / len(parameters)))
        except DecodeAborted:
            raise
        except Exception as error:
            raise ModelProblem(
                f"MLX cannot open {self._name}: {_first_line(error)}.", _UNKNOWN
            ) from error
        return dict(config)

    def _tell(self, fraction: float) -> None:
        if self._progress is not None and not self._progress(fraction):
            raise DecodeAborted

    def _fresh(self) -> CacheState:
        return CacheState(mlx_cache.make_prompt_cache(self._model))

    def _learn(self, config: dict[str, Any]) -> tuple[Layout, ...]:
        """Read one token: what the caches look like, and whether all of it fits together."""
        size = self._tokenizer.size
        try:
            rows = self._model(mx.array([[0]]), cache=self._state.caches).shape[-1]
            self._state.evaluate()
            layouts = self._state.learn()
        except Exception as error:
            raise ModelProblem(
                f"MLX cannot use {self._name}: {_first_line(error)}.", _UNKNOWN
            ) from error
        ends = config.get("eos_token_id")
        ends = ends if isinstance(ends, list) else [] if ends is None else [ends]
        control = {token.id for token in self._tokenizer.special}
        if size > rows or 2 * size < rows or (ends and not control.intersection(ends)):
            raise ModelProblem(
                f"The tokenizer of {self._name} does not match its model: it has {size:,} tokens, "
                f"the model {rows:,}.",
                "Files of different models may have been mixed. Download the folder again.",
            )
        self._state = self._fresh()
        return layouts

    def _read_facts(
        self, config: dict[str, Any], engine: EngineSettings, clamp: bool
    ) -> ModelFacts:
        inner = config.get("text_config")
        trained = config.get("max_position_embeddings") or (
            inner.get("max_position_embeddings") if isinstance(inner, dict) else None
        )
        trained = trained if isinstance(trained, int) else AUTOMATIC_CONTEXT
        wanted = engine.context_length or AUTOMATIC_CONTEXT
        tokenizer, state = self._tokenizer, self._state
        device = "GPU" if on_gpu() else "processor"
        layout = f"{state.kinds}, {'/'.join(sorted({part.type for part in self._layouts}))}"
        return ModelFacts(
            context_length=min(trained, wanted) if clamp or not engine.context_length else wanted,
            vocabulary_size=tokenizer.size,
            chat_template=tokenizer.chat_template,
            special_tokens=tokenizer.special,
            begin_token=tokenizer.begin_token,
            begin_text=tokenizer.begin_text,
            end_text=tokenizer.end_text,
            batch=BATCH,
            rollback="checkpoint" if state.mixed else "exact",
            device=f"{versions()}, {device}",
            chunk=BATCH if state.ranges else 0,
            state=f"{versions()}, {device}, {layout}",
        )

    @property
    def facts(self) -> ModelFacts:
        return self._facts

    def encode(self, text: str) -> list[int]:
        return self._tokenizer.encode(text)

    def piece(self, token: int) -> bytes:
        known = self._pieces.get(token)
        if known is None:
            known = self._pieces[token] = self._tokenizer.piece(token)
        return known

    def is_end(self, token: int) -> bool:
        return token in self._tokenizer.ends

    def n_past(self, seq: int = 0) -> int:
        return self._length

    def vocabulary(self) -> Vocabulary:
        return self._tokenizer.vocabulary()

    def forward(
        self,
        tokens: Sequence[int],
        outputs: Sequence[int],
        seq: int = 0,
        parents: Sequence[int] | None = None,
    ) -> None:
        count = len(tokens)
        if not 0 < count <= BATCH:
            raise ValueError(f"{count} tokens in one forward; 1 to {BATCH} are possible")
        if seq or parents is not None:
            raise ValueError("this backend has one sequence, and no trees")
        if self._length + count > self._facts.context_length:
            raise ContextFull
        if min(tokens) < 0 or max(tokens) >= self._tokenizer.size:
            raise ValueError("token id outside the vocabulary")
        self._rows = None
        self._state.join()
        silent = min(outputs, default=count)
        if count > silent and silent < self._split:
            silent = 0
        for start in range(0, silent, self._step):
            self._compute(tokens[start : min(silent, start + self._step)])
        if silent < count:
            self._compute(tokens[silent:], [index - silent for index in outputs])

    def _compute(self, tokens: Sequence[int], outputs: Sequence[int] = ()) -> None:
        if self._aborted:
            raise DecodeAborted
        try:
            logits = self._model(mx.array([list(tokens)]), cache=self._state.caches)
            if outputs:
                rows = logits[0]
                if len(outputs) < len(tokens):
                    rows = rows[mx.array(list(outputs))]
                # some models have rows for tokens that do not exist
                rows = rows[:, : self._tokenizer.size].astype(mx.float32)
                mx.eval(rows)
                self._rows = np.array(rows, copy=False)
            else:
                self._state.evaluate()
        except Exception as error:
            self._forget()
            self._fail(error)
        self._length += len(tokens)
        self._since_clear += len(tokens)
        if self._since_clear >= CLEAR_EVERY:
            self._since_clear = 0
            clear_memory()

    def _fail(self, error: Exception) -> NoReturn:
        raise EnvironmentProblem(
            f"MLX failed to compute: {_first_line(error)}.",
            "Try again; if it fails again, close other programs to free memory.",
        ) from error

    def keep(self, path: Sequence[int]) -> None:
        raise ValueError("this backend has no trees")

    def argmax(self, row: int) -> int:
        return int(self.logits(row).argmax())

    def logits(self, row: int) -> npt.NDArray[np.float32]:
        """A row's logits, good until the next forward; for the sampler."""
        assert self._rows is not None
        view: npt.NDArray[np.float32] = self._rows[row]
        return view

    def sampler(
        self, sampling: Sampling, seed: int, names: Sequence[int] | None = None
    ) -> NumpySampler:
        return NumpySampler(self.logits, sampling, seed, names)

    def checkpoint(self) -> None:
        if self._state.mixed:
            self._checkpoint = (self._length, self._state.mark())

    def truncate(self, n: int, seq: int = 0) -> int:
        past = self._length
        if n >= past and n > 0:
            return past
        if n > 0:
            if self._state.can_trim() and self._state.trim(past - n):
                self._length = n
                return n
            if self._checkpoint is not None and self._checkpoint[0] <= n:
                place, mark = self._checkpoint
                if self._state.return_to(mark, past - place):
                    self._length = place
                    return place
        self._forget()
        return 0

    def _forget(self) -> None:
        self._state = self._fresh()
        self._checkpoint = None
        self._length = 0

    def reach(self, n: int) -> int:
        if n >= self._length:
            return self._length
        if self._state.can_trim():
            return n
        place = self._checkpoint[0] if self._checkpoint is not None else 0
        return place if place <= n else 0

    def export(self, start: int, end: int) -> Blob:
        return self._state.export(start, end)

    def restore(self, blob: Blob, start: int, end: int, snapshot: Blob | None = None) -> bool:
        if start != self._length or end > self._facts.context_length:
            return False
        if self._state.mixed and snapshot is None:
            return False
        if not self._state.append(blob, end - start, self._layouts):
            return False
        self._length = end
        return True

    def snapshot(self) -> Blob:
        return self._state.snapshot()

    def back(self, snapshot: Blob, n: int) -> bool:
        mark = self._state.unpack(snapshot)
        if mark is None or (self._state.ranges and n > self._length):
            return False
        if self._checkpoint is not None and self._checkpoint[0] > n:
            self._checkpoint = None
        behind = self._length - n if self._state.ranges else 0
        if not self._state.return_to(mark, behind):
            self._forget()
            return False
        self._length = n
        return True

    def abort(self) -> None:
        self._aborted = True

    def clear_abort(self) -> None:
        self._aborted = False

    def close(self) -> None:
        self._rows = None
        self._model = self._state = None  # type: ignore[assignment]
        clear_memory()


def _arrays(tree: Any) -> list[mx.array]:
    if isinstance(tree, mx.array):
        return [tree]
    parts = tree.values() if isinstance(tree, dict) else tree if isinstance(tree, list) else ()
    return [array for part in parts for array in _arrays(part)]


def _first_line(error: Exception) -> str:
    text = str(error).strip() or type(error).__name__
    line = text.splitlines()[0].strip().rstrip(".")
    return line if len(line) <= 200 else f"{line[:199]}…"
