"""A head of a table that drafts blocks."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from headstart.engine.decoder import Hidden
from tests.support.fake_decoder import Clock, FakeHead


class FakeBlock(FakeHead):
    """A head that drafts blocks and is as right as its table: of each place it knows what was
    chosen at the two before."""

    def __init__(
        self,
        logits: npt.NDArray[np.float64],
        cost: Callable[[int], float] = lambda n: 0.1 + 0.02 * n,
        clock: Clock | None = None,
        context: int = 1 << 30,
        most: int = 8,
    ) -> None:
        super().__init__(logits, cost, clock, context)
        self.facts = msgspec.structs.replace(self.facts, depth=most, at_once=most)
        # the row that was read last, and of the block what was chosen, from two tokens before it on
        self._read = [0, 0]
        self._chosen: list[int] = []
        self.blocks: list[int] = []

    def forward(
        self,
        tokens: Sequence[int],
        outputs: Sequence[int],
        seq: int = 0,
        parents: Sequence[int] | None = None,
        hidden: Hidden | None = None,
    ) -> None:
        if hidden is not None:
            assert not outputs
            assert not seq
            super().forward(tokens, (), seq, parents, hidden)
            self._read = [int(number) for number in hidden[-1]]
            return
        assert parents is None
        assert len(tokens) == 1
        assert 0 < len(outputs) <= self.facts.at_once
        if self.fails_in is not None:
            self.fails_in -= 1
            if self.fails_in < 0:
                raise RuntimeError("the head broke")
        self.clock.now += self.cost(len(outputs))
        self.blocks.append(len(outputs))
        # the state of a token is itself, and the one before it
        assert tokens[0] == (self.tokens or tokens)[-1], (
            "a block begins with the token that was drawn last"
        )
        self._chosen = [self._read[0], tokens[0]]

    def scores(self, row: int) -> npt.NDArray[np.float64]:
        while len(self._chosen) < row + 2:
            self._chosen.append(int(self._row(self._chosen).argmax()))
        return self._row(self._chosen[: row + 2])

    def argmax(self, row: int) -> int:
        return int(self.scores(row).argmax())

    def sureness(self, _row: int) -> float:
        return math.inf

    def chose(self, row: int, token: int) -> None:
        self.scores(row)
        self._chosen[row + 2 :] = [token]
