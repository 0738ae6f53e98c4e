"""Heads that draft blocks on MLX. Engine thread; closed before their target."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from headstart.core.models.heads import HeadKind
from headstart.core.settings.schema import EngineSettings
from headstart.engine.backends.heads.mlx_block_net import BlockNet
from headstart.engine.backends.heads.mlx_head import MlxHead
from headstart.engine.backends.mlx.decoder import MlxDecoder
from headstart.engine.backends.predictions import odds
from headstart.engine.decoder import ContextFull, DecodeAborted, Hidden


class MlxBlock(MlxHead):
    """A head of `target`; `engine.decoder.BlockDecoder` has the methods' contract."""

    def __init__(
        self,
        path: Path,
        kind: HeadKind,
        engine: EngineSettings,
        target: MlxDecoder,
        progress: Callable[[float], bool] | None = None,
    ) -> None:
        """Raises ModelProblem."""
        super().__init__(path, kind, engine, target, progress)
        assert isinstance(self._net, BlockNet)
        self._block = self._net
        self._odds: list[float] = []

    def forward(
        self,
        tokens: Sequence[int],
        outputs: Sequence[int],
        seq: int = 0,
        parents: Sequence[int] | None = None,
        hidden: Hidden | None = None,
    ) -> None:
        if hidden is None:
            self._draft(tokens, len(outputs))
        elif outputs:
            raise ValueError("a hidden state for each token is read, and nothing comes of it")
        else:
            super().forward(tokens, (), seq, parents, hidden)

    def _draft(self, tokens: Sequence[int], count: int) -> None:
        if len(tokens) != 1 or not 0 < count <= self._facts.at_once:
            raise ValueError(f"one token, and up to {self._facts.at_once} to draft after it")
        if self._aborted:
            raise DecodeAborted
        lane = self._live
        if lane.length + count + 1 > self._facts.context_length:
            raise ContextFull
        self._check(tokens, lane.length)
        try:
            lane.state.join()
            rows, chances = self._block.block(tokens[0], count, lane.state.caches)
            self._rows = np.array(rows)
            found = [] if chances is None else np.array(chances).tolist()
            self._odds = [odds(one) for one in found]
        except Exception as error:
            self._forget()
            self._fail(error)

    def sureness(self, row: int) -> float:
        return self._odds[row] if self._odds else math.inf

    def chose(self, _row: int, _token: int) -> None:
        """Do nothing: the rows always follow the likeliest tokens."""
