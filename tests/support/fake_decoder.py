"""A decoder made of a table: the next token's logits depend on the last two tokens.

It keeps its KV state as a plain list, checks every rule that a real one has, and moves a fake
clock by what a forward costs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec
import numpy as np
import numpy.typing as npt

from headstart.core.models.described import Vocabulary
from headstart.core.settings.schema import Sampling
from headstart.engine.decoder import (
    Blob,
    Constraint,
    ContextFull,
    Hidden,
    ModelFacts,
    Prediction,
    ReadPixels,
    Tap,
)
from headstart.engine.noise import gumbel
from headstart.engine.prefix.keys import pack, unpack


@dataclass(slots=True)
class Clock:
    now: float = 0.0

    def __call__(self) -> float:
        return self.now


def table(vocabulary: int, seed: int, spread: float = 1.5) -> npt.NDArray[np.float64]:
    """Logits by the last two tokens."""
    shape = (vocabulary, vocabulary, vocabulary)
    return np.random.default_rng(seed).normal(0, spread, shape)


class FakeStates:
    def __init__(self) -> None:
        self.taps: tuple[Tap, ...] = ()
        self.last: list[list[int]] = []

    def keep(self, taps: Sequence[Tap]) -> None:
        self.taps = tuple(taps)

    def rows(self, first: int, last: int) -> Hidden:
        assert self.taps, "nothing was asked for"
        return np.array(self.last[first:last], np.float32)


class FakeDecoder:
    def __init__(
        self,
        logits: npt.NDArray[np.float64],
        cost: Callable[[int], float] = lambda _n: 1.0,
        clock: Clock | None = None,
        context: int = 1 << 30,
        ends: Sequence[int] = (),
        checkpoints: bool = False,
        undo: int = 0,
        leaves: int = 3,
        chunk: int = 256,
    ) -> None:
        self._logits = logits
        self.cost = cost
        self.clock = clock or Clock()
        self.seconds: Callable[[], float] = lambda: self.clock()
        self._ends = frozenset(ends)
        self._checkpoint: int | None = None
        self.checkpoints, self.checkpoint_cost = 0, 0.0
        # tokens of the last forward that can be taken back without one
        self._fresh = 0
        self.tokens: list[int] = []
        self._others: dict[int, list[int]] = {}
        self._planted: list[list[int]] | None = None
        self._rows: list[npt.NDArray[np.float64]] = []
        self.forwards: list[int] = []
        self.facts = ModelFacts(
            context_length=context,
            vocabulary_size=len(logits),
            chat_template=None,
            special_tokens=(),
            begin_token=None,
            begin_text="",
            end_text="",
            batch=4096,
            rollback="checkpoint" if checkpoints else "exact",
            undo=undo,
            snapshots=checkpoints,
            leaves=1 if checkpoints else leaves,
            chunk=chunk,
            width=2,
        )
        self._kept = FakeStates()

    @property
    def pace(self) -> int:
        return 0

    def forget_images(self) -> None:
        """It sees none."""

    def encode(self, text: str) -> list[int]:
        return [ord(character) % len(self._logits) for character in text]

    def image(self, _digest: str, _read: ReadPixels) -> list[int] | None:
        return None

    def lay_out(self, _tokens: Sequence[int]) -> None:
        pass

    def piece(self, token: int) -> bytes:
        return bytes([65 + token])

    def is_end(self, token: int) -> bool:
        return token in self._ends

    def vocabulary(self) -> Vocabulary:
        return Vocabulary("bpe", tuple(self.piece(token) for token in range(len(self._logits))))

    def n_past(self, seq: int = 0) -> int:
        return len(self._others.get(seq, [])) if seq else len(self.tokens)

    def _row(self, path: Sequence[int]) -> npt.NDArray[np.float64]:
        last = (0, 0, *path[-2:])[-2:]
        row: npt.NDArray[np.float64] = self._logits[last[0], last[1]]
        return row

    def forward(
        self,
        tokens: Sequence[int],
        outputs: Sequence[int],
        seq: int = 0,
        parents: Sequence[int] | None = None,
        hidden: Hidden | None = None,
    ) -> None:
        assert hidden is None
        if seq:
            self._elsewhere(seq, tokens, outputs)
            return
        assert 0 < len(tokens) <= self.facts.batch
        assert self._planted is None, "a tree was not kept"
        if len(self.tokens) + len(tokens) > self.facts.context_length:
            raise ContextFull
        self.clock.now += self.cost(len(tokens))
        self.forwards.append(len(tokens))
        paths: list[list[int]] = []
        for index, token in enumerate(tokens):
            parent = index - 1 if parents is None else parents[index]
            before = self.tokens if parent < 0 else paths[parent]
            paths.append([*before[-2:], token] if parents is None else [*before, token])
        self._rows = [self._row(paths[index]) for index in outputs]
        self._kept.last = [[*(0, *path)[-2:][::-1]] for path in paths]
        self._fresh = min(self.facts.undo, len(tokens) - 1)
        if parents is None:
            self.tokens.extend(tokens)
        else:
            self._planted = paths

    @property
    def states(self) -> FakeStates:
        """The state of a token: itself, and the one before it."""
        return self._kept

    def _elsewhere(self, seq: int, tokens: Sequence[int], outputs: Sequence[int]) -> None:
        """A forward on another sequence than the live one."""
        live, self.tokens = self.tokens, self._others.setdefault(seq, [])
        try:
            self.forward(tokens, outputs)
        finally:
            self.tokens = live

    def keep(self, path: Sequence[int]) -> None:
        assert self._planted is not None
        if path:
            self.tokens = self._planted[path[-1]]
        self._planted = None

    def row(self, row: int) -> npt.NDArray[np.float32]:
        return self._rows[row].astype(np.float32)

    def scores(self, row: int) -> npt.NDArray[np.float64]:
        return self._rows[row]

    def argmax(self, row: int) -> int:
        return int(self._rows[row].argmax())

    def sampler(
        self,
        sampling: Sampling,
        seed: int,
        names: Sequence[int] | None = None,
        constraint: Constraint | None = None,
    ) -> FakeSampler:
        return FakeSampler(self, sampling.temperature, seed)

    def checkpoint(self) -> None:
        if self.facts.rollback == "checkpoint":
            self.checkpoints += 1
            self.clock.now += self.checkpoint_cost
            self._checkpoint = len(self.tokens)

    def truncate(self, n: int, seq: int = 0) -> int:
        assert self._planted is None
        if seq:
            del self._others.setdefault(seq, [])[n:]
            return len(self._others[seq])
        if n >= len(self.tokens):
            return len(self.tokens)
        if len(self.tokens) - n <= self._fresh:
            self._fresh = 0
        elif self.facts.rollback == "checkpoint":
            self._fresh = 0
            known = self._checkpoint
            n = known if known is not None and n > 0 and known <= n else 0
            if n == 0:
                self._checkpoint = None
        del self.tokens[n:]
        return n

    # --- the KV state as bytes: the tokens themselves --------------------------------------

    def reach(self, n: int) -> int:
        if n >= len(self.tokens):
            return len(self.tokens)
        if self.facts.rollback != "checkpoint" or len(self.tokens) - n <= self._fresh:
            return n
        known = self._checkpoint
        return known if known is not None and known <= n else 0

    def export(self, start: int, end: int) -> Blob:
        assert 0 <= start < end <= len(self.tokens)
        assert end - start <= self.facts.chunk
        return _blob(self.tokens[start:end])

    def restore(self, blob: Blob, start: int, end: int) -> bool:
        tokens = _tokens(blob)
        if start != len(self.tokens) or len(tokens) != end - start:
            return False
        self.tokens.extend(tokens)
        return True

    def snapshot(self) -> Blob:
        return _blob(self.tokens)

    def back(self, snapshot: Blob, n: int) -> bool:
        tokens = _tokens(snapshot)
        if len(tokens) != n or (self.facts.chunk and self.tokens[:n] != tokens):
            return False
        if self._checkpoint is not None and self._checkpoint > n:
            self._checkpoint = None
        self.tokens = tokens
        return True

    def abort(self) -> None: ...

    def clear_abort(self) -> None: ...

    def close(self) -> None: ...


def _blob(tokens: Sequence[int]) -> Blob:
    return np.frombuffer(pack(tokens), np.uint8)


def _tokens(blob: Blob) -> list[int]:
    return unpack(blob.tobytes())


class FakeHead(FakeDecoder):
    """A head that is as right as its table: it knows the token before only by the hidden state, so
    a row that belongs elsewhere gives another token."""

    def __init__(
        self,
        logits: npt.NDArray[np.float64],
        cost: Callable[[int], float] = lambda _n: 0.1,
        clock: Clock | None = None,
        context: int = 1 << 30,
    ) -> None:
        super().__init__(logits, cost, clock, context)
        self.facts = msgspec.structs.replace(self.facts, wants=("nextn",))
        self._kept.taps = ("nextn",)
        # fails at so manyth forward from now
        self.fails_in: int | None = None

    def forward(
        self,
        tokens: Sequence[int],
        outputs: Sequence[int],
        seq: int = 0,
        parents: Sequence[int] | None = None,
        hidden: Hidden | None = None,
    ) -> None:
        assert hidden is not None
        assert hidden.shape == (len(tokens), 2)
        assert parents is None
        if self.fails_in is not None:
            self.fails_in -= 1
            if self.fails_in < 0:
                raise RuntimeError("the head broke")
        super().forward(tokens, outputs, seq)
        before = [int(row[0]) for row in hidden]
        self._rows = [self._logits[before[index], tokens[index]] for index in outputs]
        self._kept.last = [[token, last] for token, last in zip(tokens, before, strict=True)]


class FakeSampler:
    def __init__(self, decoder: FakeDecoder, temperature: float, seed: int) -> None:
        self._decoder = decoder
        self._temperature = temperature
        self._seed = seed
        self._ids = np.arange(decoder.facts.vocabulary_size)

    def _scores(self, row: int, position: int) -> npt.NDArray[np.float64]:
        logits = self._decoder.scores(row)
        if self._temperature == 0:
            return logits
        return logits / self._temperature + gumbel(self._seed, position, self._ids)

    def draw(self, row: int, position: int) -> int:
        return int(self._scores(row, position).argmax())

    def predict(self, row: int, position: int) -> Prediction:
        scores = self._scores(row, position)
        second, first = np.argsort(scores)[-2:]
        return Prediction(int(first), int(second), float(scores[first] - scores[second]))

    def likeliest(self, row: int) -> Prediction:
        scores = self._decoder.scores(row)
        second, first = np.argsort(scores)[-2:]
        return Prediction(int(first), int(second), float(scores[first] - scores[second]))

    def look_ahead(self, position: int) -> None: ...

    def see(self, tokens: Sequence[int]) -> None: ...

    def accept(self, tokens: Sequence[int]) -> None: ...

    def mark(self) -> None: ...

    def rewind(self) -> None: ...

    def close(self) -> None: ...
