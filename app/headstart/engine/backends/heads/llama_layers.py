"""Several draft layers, one for each token further ahead (MiMo-V2, Step-3.5, Hunyuan 3). Engine
thread.

Layer k was trained to predict the token k + 2 after the one whose state it sees, with its own keys
and values of the whole text. So each layer processes the text, and when layer k drafts, it
processes the open part again (the last pair of the text, and the tokens drafted since), which is
first cut from the cache (the order of `common/speculative.cpp` in llama.cpp). The open part then
has only one layer's keys and values, and is repaired before anything follows it.
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
        """Raises ModelProblem, EnvironmentProblem, or DecodeAborted if `progress` returned
        False."""
        super().__init__(path, kind, engine, target, progress)
        self._layers = int(lib.llama_model_n_layer_nextn(self.llama.model))
        # the open part: tokens with their states, and its start; only the first one belongs to the
        # text
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
            # no text that it could follow: only for timing
            self._read(tokens, outputs, np.ascontiguousarray(hidden[:, :-1]))
        else:
            self._draft(tokens, hidden)

    def _read(self, tokens: Sequence[int], outputs: Sequence[int], hidden: Hidden) -> None:
        """Make every layer hold a part of the text; the logits are the first layer's."""
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
        """Draft one more token, with the layer whose number came with the state."""
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
        # it is the only requested token
        self._own.first -= last
        self._choose(0)
        self._numbered.number = number + 1

    def _mend(self) -> None:
        """Make every layer hold the last pair of the text again, if anything was drafted."""
        if len(self._open) < 2:
            return
        token, row = self._open[0]
        lib.llama_memory_seq_rm(self._memory, 0, self._open_at, -1)
        self._read([token], (), row.reshape(1, -1))

    def truncate(self, n: int, seq: int = 0) -> int:
        if len(self._open) > 1:
            # only one layer holds the last pair: it is processed again with the next tokens
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
    """A head's own states, with the number of the next layer appended."""

    def __init__(self, own: OwnStates) -> None:
        self._own = own
        self.number = 1

    def keep(self, taps: Sequence[Tap]) -> None:
        self._own.keep(taps)

    def rows(self, first: int, last: int) -> Hidden:
        rows = self._own.rows(first, last)
        return np.concatenate([rows, np.full((len(rows), 1), self.number, np.float32)], axis=1)
