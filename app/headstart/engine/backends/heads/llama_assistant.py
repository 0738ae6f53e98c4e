"""Gemma 4's assistants on llama.cpp: heads without their own keys and values. Engine thread.

An assistant uses the keys and values of the target's last two layers, and drafts at one position
only: the end of the target's text. So it needs no prefill, none of its state is kept, and several
of its tokens in a row all take that position (as in its training; see `common/speculative.cpp` in
llama.cpp).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import llama_cpp as lib
import msgspec

from headstart.core.models.heads import HeadKind
from headstart.core.settings.schema import EngineSettings
from headstart.engine.backends.heads.llama_head import LlamaHead
from headstart.engine.backends.llama_cpp.decoder import LlamaCppDecoder
from headstart.engine.decoder import Blob, ContextFull, Hidden


class LlamaAssistant(LlamaHead):
    """An assistant of `target`; `engine.decoder.Decoder` has the methods' contract."""

    def __init__(
        self,
        path: Path,
        engine: EngineSettings,
        target: LlamaCppDecoder,
        progress: Callable[[float], bool] | None = None,
    ) -> None:
        """Raises ModelProblem, EnvironmentProblem, or DecodeAborted when `progress` said to
        stop."""
        self._target = target.llama
        # the reported number of held tokens; really none are held
        self._length = 0
        # the position of the next forward
        self._place: int | None = None
        try:
            super().__init__(path, HeadKind.ASSISTANT, engine, target, progress)
        finally:
            # the shared state was recreated: the target is now empty, and must register it
            lib.llama_memory_clear(self._target.memory, True)
            target.truncate(0)
        self._facts = msgspec.structs.replace(
            self._facts,
            context_length=target.facts.context_length,
            rollback="exact",
            undo=0,
            snapshots=False,
            chunk=0,
            follows=True,
        )

    def n_past(self, _seq: int = 0) -> int:
        return self._length if self._place is None else self._place

    def forward(
        self,
        tokens: Sequence[int],
        outputs: Sequence[int],
        seq: int = 0,
        parents: Sequence[int] | None = None,
        hidden: Hidden | None = None,
    ) -> None:
        count = len(tokens)
        if hidden is None or parents is not None or len(hidden) != count:
            raise ValueError("a head wants a hidden state for each token, and no tree")
        if self._length + count > self._facts.context_length:
            raise ContextFull
        wanted = list(outputs)
        if wanted:
            self._place = int(lib.llama_memory_seq_pos_max(self._target.memory, seq)) + 1
            try:
                asked = [tokens[index] for index in wanted]
                self._decode(asked, range(len(asked)), seq, hidden[wanted])
            finally:
                self._place = None
        # rows are numbered from the end
        self._own.first = count - len(wanted)
        self._length += count

    def truncate(self, n: int, _seq: int = 0) -> int:
        self._length = min(self._length, max(0, n))
        return self._length

    def reach(self, n: int) -> int:
        return min(self._length, n)

    def checkpoint(self) -> None:
        """Do nothing, as there is no state."""

    # writes to its memory would change the target's

    def export(self, start: int, end: int) -> Blob:
        raise ValueError(f"nothing is kept of the tokens {start} to {end}")

    def restore(self, _blob: Blob, _start: int, _end: int) -> bool:
        return False

    def snapshot(self) -> Blob:
        raise ValueError("it has no state")

    def back(self, _snapshot: Blob, _n: int) -> bool:
        return False
