"""Heads on llama.cpp: layers of the target's own file (MTP), files with such layers, and EAGLE-3.

A head is a decoder whose forward takes, beside each token, the hidden state of the token before it.
It has its own keys and values, in its own context. Engine thread; it is closed before its target.

EAGLE-3 (Li et al. 2025): a matrix of the head combines the inputs of three of the target's layers
into one row (llama.cpp's encoder); its own states are used unchanged. MTP (DeepSeek-V3, 2024): the
target's row is used unchanged.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import llama_cpp as lib
import msgspec
import numpy as np

from headstart.core.errors import EnvironmentProblem, ModelProblem
from headstart.core.models.heads import HeadKind
from headstart.core.settings.schema import EngineSettings
from headstart.engine.backends.llama_cpp.context import Made
from headstart.engine.backends.llama_cpp.decoder import LlamaCppDecoder
from headstart.engine.backends.llama_cpp.hidden import OwnStates, floats, function, wanted_layers
from headstart.engine.backends.llama_cpp.library import recent_errors
from headstart.engine.decoder import DecodeAborted, Hidden, Tap

# up to this many tokens, all logits are computed in one forward, in place of two forwards
_FEW = 16


class LlamaHead(LlamaCppDecoder):
    """A head of `target`; `engine.decoder.Decoder` has the methods' contract."""

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
        self._kind = kind
        self._encoder: Any = None
        layers = kind in (HeadKind.OWN, HeadKind.LAYERS)
        shared = kind is HeadKind.OWN
        made = Made(layers=layers, target=target.llama, shared=shared, beside=True)
        super().__init__(path, engine, progress, made=made)
        try:
            model = self.llama.model
            self._width = self.llama.row_width
            wants: tuple[Tap, ...] = ("nextn",)
            if kind is HeadKind.EAGLE3:
                wants = wanted_layers(model)
                self._make_encoder(len(wants) * target.facts.width)
            self._facts = msgspec.structs.replace(
                self._facts,
                wants=wants,
                leaves=1,
                state=f"{self._facts.state}, {kind.value} head",
            )
            if self._facts.vocabulary_size != target.facts.vocabulary_size:
                raise ModelProblem("head-for-another-model", name=path.name)
            self._taps = None
            self._states = self._own = OwnStates(self._context, self._width)
        except BaseException:
            self.close()
            raise

    def _make_encoder(self, width: int) -> None:
        self._encoder = lib.llama_batch_init(self.llama.batch, width, 1)
        size = self.llama.batch
        self._wide: Hidden = np.ctypeslib.as_array(self._encoder.embd, (size, width))
        for index in range(size):
            self._encoder.n_seq_id[index] = 1
            self._encoder.seq_id[index][0] = 0
            self._encoder.logits[index] = 1

    def forward(
        self,
        tokens: Sequence[int],
        outputs: Sequence[int],
        seq: int = 0,
        parents: Sequence[int] | None = None,
        hidden: Hidden | None = None,
    ) -> None:
        if hidden is None or parents is not None or len(hidden) != len(tokens):
            raise ValueError("a head wants a hidden state for each token, and no tree")
        first, count = 0, len(tokens)
        if 0 < len(outputs) < count:
            # some graphs compute the logits of all tokens, and would return the first ones: so
            # request all, and decode a long unwanted part separately first
            first = outputs[0] if count > _FEW else 0
            if first:
                self._decode(tokens[:first], (), seq, hidden[:first])
            self._decode(tokens[first:], range(count - first), seq, hidden[first:])
            self._outputs = [index - first for index in outputs]
        else:
            self._decode(tokens, outputs, seq, hidden)
        self._own.first = first

    def _decode(
        self, tokens: Sequence[int], outputs: Sequence[int], seq: int, hidden: Hidden
    ) -> None:
        batch = self._batch
        assert batch is not None
        if self._encoder is not None and hidden.shape[1] != self._width:
            hidden = self._encode(hidden)
        batch.beside(hidden)
        super().forward(tokens, outputs, seq)

    def _encode(self, rows: Hidden) -> Hidden:
        """Encode the target's rows. Raises DecodeAborted, EnvironmentProblem."""
        count, batch = len(rows), self._encoder
        self._wide[:count] = rows
        batch.n_tokens = count
        # these positions have no meaning, but must continue the context's
        start = self.n_past()
        for index in range(count):
            batch.pos[index] = start + index
        result = int(lib.llama_encode(self._context, batch))
        if result == 2:
            raise DecodeAborted
        address = function("llama_get_embeddings_nextn")(self._context) if result == 0 else None
        if not address:
            reason = recent_errors() or "no reason given"
            raise EnvironmentProblem("llama-failed", result=result, reason=reason)
        # a copy: the head's own states overwrite this memory
        return floats(address, (count, self._width)).copy()

    def close(self) -> None:
        if self._encoder is not None:
            self._wide = np.empty((0, 0), np.float32)
            lib.llama_batch_free(self._encoder)
            self._encoder = None
        super().close()
