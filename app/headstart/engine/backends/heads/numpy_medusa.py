"""Medusa heads in numpy, for models on llama.cpp, which has no graph for them. Engine thread.

Each head is a residual block and an output over the target's last hidden state (Cai et al. 2024):
head k predicts the token k + 2 after the one whose state it sees. It has no attention and keeps no
state. A product with an output matrix of 50,000 x 4,096 numbers takes 50 ms on two cores, so these
are for small models; published heads are safetensors (pickle is never opened).

The number of the next head is appended to the state, as on MLX.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import safetensors

from headstart.core.errors import ModelProblem
from headstart.core.models.described import Vocabulary
from headstart.core.settings.schema import Sampling
from headstart.engine.backends.base import DecoderBase
from headstart.engine.backends.numpy_sampler import NumpySampler
from headstart.engine.backends.predictions import Draws
from headstart.engine.decoder import Blob, Constraint, DecodeAborted, Decoder, Hidden, Tap

Array = npt.NDArray[np.float32]
# limit in bytes, since all of it is read for every drafted token
LARGEST = 1 << 28
_HALF = {"F16": np.float16, "F32": np.float32}


class MedusaHead(DecoderBase):
    """Heads of `target`; `engine.decoder.Decoder` has the methods' contract."""

    def __init__(self, path: Path, target: Decoder) -> None:
        """Raises ModelProblem."""
        super().__init__()
        weights = _read(path)
        numbers = {name.split(".")[0] for name in weights}
        depth = sum(number.isdecimal() for number in numbers)
        size = target.facts.vocabulary_size
        self._blocks, self._last = list[list[tuple[Array, Array | None]]](), list[Array]()
        for head in range(depth):
            blocks, index = [], 0
            while f"{head}.{index}.linear.weight" in weights:
                name = f"{head}.{index}.linear"
                blocks.append((weights[f"{name}.weight"], weights.get(f"{name}.bias")))
                index += 1
            output = weights.get(f"{head}.{index}.weight")
            if output is None or output.ndim != 2 or len(output) < size:
                raise ModelProblem("head-incomplete", name=path.name, missing=f"{head}.{index}")
            self._blocks.append(blocks)
            self._last.append(output[:size])
        width = target.facts.width
        squares = all(weight.shape == (width, width) for head in self._blocks for weight, _ in head)
        added = all(
            bias is None or bias.shape == (width,) for head in self._blocks for _, bias in head
        )
        ends = all(output.shape[1] == width for output in self._last)
        if not (depth and squares and added and ends):
            raise ModelProblem("head-for-another-model", name=path.name)
        self._target = target
        self._facts = msgspec.structs.replace(
            target.facts,
            chat_template=None,
            rollback="exact",
            undo=0,
            snapshots=False,
            leaves=1,
            chunk=0,
            state=f"{target.facts.state}, medusa head",
            width=target.facts.width + 1,
            wants=("last",),
            depth=depth,
        )
        self._states = self._own = _OwnStates()
        self._length = 0
        self._rows: Array = np.empty((0, size), np.float32)
        self._aborted = False

    @property
    def pace(self) -> int:
        return self._target.pace

    def _spell(self, token: int) -> bytes:
        return self._target.piece(token)

    def is_end(self, token: int) -> bool:
        return self._target.is_end(token)

    def encode(self, text: str) -> list[int]:
        return self._target.encode(text)

    def vocabulary(self) -> Vocabulary:
        return self._target.vocabulary()

    def n_past(self, _seq: int = 0) -> int:
        return self._length

    def forward(
        self,
        tokens: Sequence[int],
        outputs: Sequence[int],
        _seq: int = 0,
        parents: Sequence[int] | None = None,
        hidden: Hidden | None = None,
    ) -> None:
        if hidden is None or parents is not None or len(hidden) != len(tokens):
            raise ValueError("a head wants a hidden state for each token, and no tree")
        self._check(tokens, self._length)
        if self._aborted:
            raise DecodeAborted
        rows = hidden[list(outputs)]
        own = rows.shape[1] == self._facts.width
        states = rows[:, :-1] if own else rows
        number = round(float(rows[-1, -1])) if own and len(rows) else 0
        number = min(number, self._facts.depth - 1)
        behind = np.full((len(states), 1), number + 1, np.float32)
        self._own.keep_rows(np.concatenate([states, behind], axis=1), len(tokens) - len(states))
        x = states
        for weight, bias in self._blocks[number]:
            made = x @ weight.T + (0 if bias is None else bias)
            x = x + made / (1 + np.exp(-made))
        self._rows = np.asarray(x @ self._last[number].T, np.float32)
        self._length += len(tokens)

    def keep(self, path: Sequence[int]) -> None:
        raise ValueError(f"no trees, and no {path}")

    def logits(self, row: int) -> Array:
        view: Array = self._rows[row]
        return view

    def sampler(
        self,
        sampling: Sampling,
        seed: int,
        names: Sequence[int] | None = None,
        constraint: Constraint | None = None,
    ) -> NumpySampler:
        draws = Draws(seed, names, constraint)
        return NumpySampler(self.logits, sampling, draws, self._facts.suppressed)

    def checkpoint(self) -> None:
        """Do nothing, as there is no state."""

    def truncate(self, n: int, _seq: int = 0) -> int:
        self._length = min(self._length, max(0, n))
        return self._length

    def reach(self, n: int) -> int:
        return min(self._length, n)

    def export(self, start: int, end: int) -> Blob:
        raise ValueError(f"nothing is kept of the tokens {start} to {end}")

    def restore(self, _blob: Blob, _start: int, _end: int) -> bool:
        return False

    def snapshot(self) -> Blob:
        # no content, but a state without ranges always needs a snapshot
        return np.zeros(1, np.uint8)

    def back(self, _snapshot: Blob, n: int) -> bool:
        self._length = n
        return True

    def abort(self) -> None:
        self._aborted = True

    def clear_abort(self) -> None:
        self._aborted = False

    def close(self) -> None:
        self._blocks, self._last = [], []


class _OwnStates:
    def __init__(self) -> None:
        self._rows: Hidden = np.empty((0, 0), np.float32)
        self._first = 0

    def keep(self, taps: Sequence[Tap]) -> None:
        assert not taps, "a head has no heads"

    def keep_rows(self, rows: Hidden, first: int) -> None:
        self._rows, self._first = rows, first

    def rows(self, first: int, last: int) -> Hidden:
        return self._rows[first - self._first : last - self._first]


def _read(path: Path) -> Mapping[str, Array]:
    """The weights of a file, or of a folder's files. Raises ModelProblem."""
    files = sorted(path.glob("*.safetensors")) if path.is_dir() else [path]
    if not files or any(file.suffix != ".safetensors" for file in files):
        raise ModelProblem("head-incomplete", name=path.name, missing="safetensors")
    size = sum(file.stat().st_size for file in files)
    if size > LARGEST:
        raise ModelProblem("head-output-too-large", name=path.name, size=size)
    found: dict[str, Array] = {}
    try:
        for file in files:
            told_of: Any = safetensors.deserialize(file.read_bytes())  # type: ignore[no-untyped-call]
            for name, told in told_of:
                found[name] = _numbers(told)
    except (safetensors.SafetensorError, ValueError, KeyError) as error:
        raise ModelProblem("head-incomplete", name=path.name, missing=error) from error
    return found


def _numbers(told: Mapping[str, Any]) -> Array:
    """Raises KeyError for a type that no head has."""
    data, shape = bytes(told["data"]), tuple(told["shape"])
    if told["dtype"] == "BF16":
        halves = np.frombuffer(data, np.uint16).astype(np.uint32) << np.uint32(16)
        return halves.view(np.float32).reshape(shape)
    return np.frombuffer(data, _HALF[told["dtype"]]).astype(np.float32).reshape(shape)
