"""Layers for drafting of which there are several, one for each token further ahead (MiMo-V2,
Step-3.5, Hunyuan 3). Engine thread.

Layer k was trained to say what comes k + 2 tokens after the one whose state it sees, over its own
keys and values of the whole text. So what is read is read by each of them, and when layer k drafts,
the open part (the last pair of the text, and what was drafted since) is read again by it: its place
in the cache is cut each time (the order of `common/speculative.cpp` in llama.cpp). What is left of
that holds one layer's keys and values only, and is mended before anything follows it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import llama_cpp as lib
import msgspec
import numpy as np

from headstart.core.models.heads import HeadKind
from headstart.core.settings.schema import EngineSettings
from headstart.engine.backends.heads.llama_head import LlamaHead
from headstart.engine.backends.llama_cpp.decoder import LlamaCppDecoder
from headstart.engine.backends.llama_cpp.hidden import OwnStates, function
from headstart.engine.decoder import Blob, Hidden, Tap


class LlamaLayers(LlamaHead):
    """Layers of `target`; `engine.decoder.Decoder` has the methods' contract. One layer is
    a `LlamaHead`."""

    def __init__(
        self,
        path: Path,
        kind: HeadKind,
        engine: EngineSettings,
        target: LlamaCppDecoder,
        progress: Callable[[float], bool] | None = None,
    ) -> None:
        """Raises ModelProblem, EnvironmentProblem, or DecodeAborted when `progress` said to
        stop."""
        super().__init__(path, kind, engine, target, progress)
        self._layers = int(lib.llama_model_n_layer_nextn(self.llama.model))
        # the open part: tokens with their states, and where it begins; only the first one is the
        # text's
        self._open: list[tuple[int, Hidden]] = []
        self._open_at = 0
        if self._layers > 1:
            self._numbered = _Numbered(self._own)
            self._states = self._numbered
            self._facts = msgspec.structs.replace(self._facts, depth=self._layers)

    def forward(
        self,
        tokens: Sequence[int],
        outputs: Sequence[int],
        seq: int = 0,
        parents: Sequence[int] | None = None,
        hidden: Hidden | None = None,
    ) -> None:
        if self._layers <= 1 or hidden is None or parents is not None:
            super().forward(tokens, outputs, seq, parents, hidden)
        elif hidden.shape[1] == self._width:
            self._mend()
            self._read(tokens, outputs, hidden)
        elif not self._open:
            # nothing that it could follow: to be timed
            self._read(tokens, outputs, np.ascontiguousarray(hidden[:, :-1]))
        else:
            self._draft(tokens, hidden)

    def _read(self, tokens: Sequence[int], outputs: Sequence[int], hidden: Hidden) -> None:
        """Have every layer hold a part of the text; the logits are those of the first."""
        start = self.n_past()
        self._open = []
        for layer in reversed(range(self._layers)):
            if self.n_past() > start:
                lib.llama_memory_seq_rm(self._memory, 0, start, -1)
            self._choose(layer)
            super().forward(tokens, outputs if layer == 0 else (), 0, None, hidden)
        self._open = [(tokens[-1], hidden[-1].copy())]
        self._open_at = start + len(tokens) - 1
        self._numbered.number = 1

    def _draft(self, tokens: Sequence[int], hidden: Hidden) -> None:
        """One more token ahead, by the layer whose number came with the state."""
        if len(tokens) != 1:
            raise ValueError("one token at a time is drafted")
        number = min(round(float(hidden[0, -1])), self._layers - 1)
        part = [*self._open, (tokens[0], hidden[0, :-1].copy())]
        lib.llama_memory_seq_rm(self._memory, 0, self._open_at, -1)
        self._open = part
        self._choose(number)
        rows = np.array([row for _, row in part])
        last = len(part) - 1
        super().forward([token for token, _ in part], [last], 0, None, rows)
        # it is the only token that was asked for
        self._own.first -= last
        self._choose(0)
        self._numbered.number = number + 1

    def _mend(self) -> None:
        """Have every layer hold the last pair of the text again, where something was drafted."""
        if len(self._open) < 2:
            return
        token, row = self._open[0]
        lib.llama_memory_seq_rm(self._memory, 0, self._open_at, -1)
        self._read([token], (), row.reshape(1, -1))

    def truncate(self, n: int, seq: int = 0) -> int:
        if len(self._open) > 1:
            # the last pair is held by one layer only: it is read again with what follows
            n = min(n, self._open_at)
        if n <= self._open_at:
            self._open = []
        return super().truncate(n, seq)

    def export(self, start: int, end: int) -> Blob:
        self._mend()
        return super().export(start, end)

    def _choose(self, layer: int) -> None:
        function("llama_set_nextn_layer_offset")(self._context, layer)


class _Numbered:
    """A head's own states, with which layer comes next as one more number."""

    def __init__(self, own: OwnStates) -> None:
        self._own = own
        self.number = 1

    def keep(self, taps: Sequence[Tap]) -> None:
        self._own.keep(taps)

    def rows(self, first: int, last: int) -> Hidden:
        rows = self._own.rows(first, last)
        return np.concatenate([rows, np.full((len(rows), 1), self.number, np.float32)], axis=1)
