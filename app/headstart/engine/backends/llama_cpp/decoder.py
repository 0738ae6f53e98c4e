"""The llama.cpp backend over its low-level functions (the pip package llama-cpp-python).

Everything runs on the engine thread, except `abort`. The high-level `Llama` class is not used: it
requests the logits of every token and scans them again.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import llama_cpp as lib
import numpy as np
import numpy.typing as npt

from headstart.core.models.abilities import Ability, Lacking
from headstart.core.models.described import Vocabulary
from headstart.core.settings.schema import EngineSettings, Sampling
from headstart.engine.backends.base import DecoderBase
from headstart.engine.backends.llama_cpp import vocabulary as llama_vocabulary
from headstart.engine.backends.llama_cpp.batch import LlamaBatch, leaf_paths
from headstart.engine.backends.llama_cpp.context import A_MODEL, CHUNK, LEAVES, LlamaContext, Made
from headstart.engine.backends.llama_cpp.forwards import Forwards, failed
from headstart.engine.backends.llama_cpp.hidden import LlamaStates
from headstart.engine.backends.llama_cpp.images import LlamaImages
from headstart.engine.backends.llama_cpp.library import build_name
from headstart.engine.backends.llama_cpp.sampler import Candidates, LlamaCppSampler
from headstart.engine.backends.llama_cpp.state import Apart, SequenceState
from headstart.engine.backends.predictions import Draws
from headstart.engine.decoder import (
    Blob,
    Constraint,
    ContextFull,
    Hidden,
    ModelFacts,
)

SPARE = 1
_LEAF_SEQUENCE = 2

# the package's own binding creates a pointer object for each row: five times the cost of an int
_logits_address: Any = ctypes.cast(
    lib.llama_get_logits_ith,
    ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32),
)


class LlamaCppDecoder(DecoderBase):
    """A model and one context; `engine.decoder.Decoder` has the methods' contract."""

    def __init__(
        self,
        path: Path,
        engine: EngineSettings,
        progress: Callable[[float], bool] | None = None,
        clamp: bool = False,
        made: Made = A_MODEL,
    ) -> None:
        """Load `path`; `progress` gets the fraction and returns False to stop.

        `clamp` limits the context to the trained length, whatever is requested; `made`: the purpose
        of the context. Raises ModelProblem, or DecodeAborted if `progress` returned False.
        """
        super().__init__()
        self._batch: LlamaBatch | None = None
        self._images: LlamaImages | None = None
        self._taps: LlamaStates | None = None
        llama = self.llama = LlamaContext(path, engine, progress, clamp, made)
        try:
            self._context, self._memory = llama.context, llama.memory
            self.vocab = lib.llama_model_get_vocab(llama.model)
            self._vocabulary: int = lib.llama_vocab_n_tokens(self.vocab)
            self._window, self._recurrent = llama.window, llama.recurrent
            self._forwards = Forwards(llama, fixed=bool(engine.threads))
            self._batch = LlamaBatch(llama.batch, LEAVES, llama.row_width)
            self._states = self._taps = LlamaStates(llama)
            self._state = SequenceState(
                self._context,
                self._memory,
                SPARE,
                ranges=llama.has_ranges,
                apart=_apart(llama),
            )
            self._ends = llama_vocabulary.ends(self.vocab)
            self._facts = _facts(llama, self.vocab, self._state.ranges, made.lacking)
        except BaseException:
            self.close()
            raise
        self._outputs: Sequence[int] = ()
        self._rows: dict[int, npt.NDArray[np.float32]] = {}
        self._candidates: Candidates | None = None
        self._checkpoint: tuple[int, Any] | None = None
        # number of tokens that the last forward's states can still take back. llama.cpp would take
        # back more, and continue with states of earlier forwards
        self._fresh = 0
        # true after taking some back, until the live sequence's next forward
        self._undone = False
        self._leaf_paths: list[list[int]] = []
        self._tree_start = 0

    @property
    def pace(self) -> int:
        return self._forwards.pace

    def _spell(self, token: int) -> bytes:
        return llama_vocabulary.piece(self.vocab, token)

    def encode(self, text: str) -> list[int]:
        return llama_vocabulary.encode(self.vocab, text)

    def n_past(self, seq: int = 0) -> int:
        last = int(lib.llama_memory_seq_pos_max(self._memory, seq))
        return last + 1 if seq else self._layout.count(last)

    def open_images(self, projector: Path, named: bytes = b"", on_card: bool = False) -> None:
        """Load a projector that was tried with this model; `named` identifies its file. Raises
        ModelProblem."""
        if self._images is None:
            self._images = LlamaImages(self.llama, projector, named, on_card)

    def vocabulary(self) -> Vocabulary:
        return llama_vocabulary.vocabulary(self.vocab)

    def forward(
        self,
        tokens: Sequence[int],
        outputs: Sequence[int],
        seq: int = 0,
        parents: Sequence[int] | None = None,
        hidden: Hidden | None = None,
    ) -> None:
        count, batch = len(tokens), self._batch
        assert batch is not None
        assert hidden is None, "only heads take hidden states"
        start = self.n_past(seq)
        if seq == 0 and self._images is not None and tokens and tokens[0] < 0:
            self._prefill_image(self._images, tokens, start)
            return
        self._check(tokens, start)
        start = self._layout.position(start) if seq == 0 else start
        self._fresh = 0
        if seq and self._undone and not self._back(self.snapshot(), self.n_past()):
            # another sequence's forward moves states, so the live one's is settled first
            raise RuntimeError("llama.cpp does not take its own state")
        wanted = outputs if self._taps is None else self._taps.begin(count, outputs)
        batch.fill(tokens, start, wanted, seq)
        self._leaf_paths = []
        if parents is not None:
            self._plant(batch, parents, start)
        self._outputs = outputs
        result = self._forwards.run(batch.native, count)
        if result == 0:
            if seq == 0 and self._facts.undo:
                self._fresh, self._undone = min(count - 1, self._facts.undo), False
            return
        self._outputs = ()
        if parents is not None:
            self.keep([])
        raise failed(result)

    def _prefill_image(self, images: LlamaImages, tokens: Sequence[int], start: int) -> None:
        if start + len(tokens) > self._facts.context_length:
            raise ContextFull
        self._fresh, self._outputs, self._leaf_paths = 0, (), []
        position = self._layout.position(start)
        self._layout.add(start, tokens)
        try:
            images.decode(tuple(tokens), position)
        except BaseException:
            if self._recurrent:
                # the recurrent state is invalid
                self.truncate(0)
            raise
        self._undone = False

    def _plant(self, batch: LlamaBatch, parents: Sequence[int], start: int) -> None:
        """Give each token of a tree its position and the sequences of its leaves."""
        paths = leaf_paths(parents)
        if len(paths) > LEAVES:
            raise ValueError(f"a tree of {len(paths)} leaves; {LEAVES} are possible")
        self._leaf_paths, self._tree_start = paths, start
        sequences = [0, *range(_LEAF_SEQUENCE, _LEAF_SEQUENCE + len(paths) - 1)]
        for sequence in sequences[1:]:
            lib.llama_memory_seq_cp(self._memory, 0, sequence, -1, -1)
        batch.plant(paths, sequences, start)

    def keep(self, path: Sequence[int]) -> None:
        paths, self._leaf_paths = self._leaf_paths, []
        end = self._tree_start + len(path)
        kept = next(leaf for leaf, nodes in enumerate(paths) if nodes[: len(path)] == list(path))
        remove, memory = lib.llama_memory_seq_rm, self._memory
        if kept:
            remove(memory, 0, self._tree_start, -1)
            lib.llama_memory_seq_cp(memory, _LEAF_SEQUENCE + kept - 1, 0, self._tree_start, end)
        else:
            remove(memory, 0, end, -1)
        for leaf in range(1, len(paths)):
            remove(memory, _LEAF_SEQUENCE + leaf - 1, -1, -1)

    def logits(self, row: int) -> npt.NDArray[np.float32]:
        address = _logits_address(self._context, self._outputs[row])
        view = self._rows.get(address)
        if view is None:
            # the output buffer moves only when it grows, and making a view costs as much as
            # scanning it
            if len(self._rows) > 2 * self._facts.batch:
                self._rows.clear()
            logits = ctypes.cast(address, ctypes.POINTER(ctypes.c_float))
            view = self._rows[address] = np.ctypeslib.as_array(logits, (self._vocabulary,))
        return view

    def sampler(
        self,
        sampling: Sampling,
        seed: int,
        names: Sequence[int] | None = None,
        constraint: Constraint | None = None,
    ) -> LlamaCppSampler:
        if self._candidates is None:
            self._candidates = Candidates(self._vocabulary, self._facts.suppressed)
        return LlamaCppSampler(
            self.logits, self._candidates, sampling, Draws(seed, names, constraint)
        )

    def checkpoint(self) -> None:
        if not self._recurrent or Ability.CUTTING in self._facts.lacking:
            return
        kept = self._checkpoint[1] if self._checkpoint is not None else None
        kept = self._state.snapshot(kept)
        self._checkpoint = None if kept is None else (self.n_past(), kept)

    def truncate(self, n: int, seq: int = 0) -> int:
        past = self.n_past(seq)
        # clears even an apparently empty sequence: a hybrid may have one part without the other
        if n >= past and n > 0:
            if seq == 0:
                self._layout.cut(past)
            return past
        if seq == 0 and 0 < past - n <= self._fresh:
            self._fresh = 0
            cut = lib.llama_memory_seq_rm(self._memory, 0, self._layout.position(n), -1)
            if cut and self.n_past() == n:
                self._undone = True
                self._forget_checkpoint(n)
                return n
        kept = self._checkpoint if seq == 0 and self._recurrent else None
        self._fresh = 0
        if kept is not None and 0 < kept[0] <= n and self._back(kept[1], kept[0]):
            return self.n_past()
        # a recurrent state would return to a stale one
        cuts = not self._recurrent and Ability.CUTTING not in self._facts.lacking
        position = self._layout.position(n) if seq == 0 else n
        if n > 0 and cuts and lib.llama_memory_seq_rm(self._memory, seq, position, -1):
            # a sliding window may have dropped cells that position n still attends to
            first = lib.llama_memory_seq_pos_min(self._memory, seq)
            needed = max(0, position - self._window + 1) if self._window > 0 else 0
            if seq == 0:
                self._layout.cut(n)
            left = self.n_past(seq)
            if 0 < left <= n and first <= needed:
                return left
        lib.llama_memory_seq_rm(self._memory, seq, -1, -1)
        if seq == 0:
            self._checkpoint = None
            self._layout.cut(0)
        return 0

    def reach(self, n: int) -> int:
        past = self.n_past()
        if n >= past:
            return past
        if Ability.CUTTING in self._facts.lacking:
            return 0
        if past - n <= self._fresh:
            return n
        if self._recurrent:
            kept = self._checkpoint[0] if self._checkpoint is not None else 0
            return kept if kept <= n else 0
        # a cache of only the window has lost the cells before the first one
        first = lib.llama_memory_seq_pos_min(self._memory, 0)
        needed = max(0, self._layout.position(n) - self._window + 1) if self._window > 0 else 0
        return n if first <= needed else 0

    def export(self, start: int, end: int) -> Blob:
        first, behind = self._layout.position(start), self._layout.position(end)
        # an image at one position has no cells within it: all of them come at its end
        return self._state.export(first, behind) if behind > first else np.zeros(1, np.uint8)

    def restore(self, blob: Blob, start: int, end: int) -> bool:
        if end > self._facts.context_length:
            return False
        self._fresh = 0
        first, behind = self._layout.position(start), self._layout.position(end)
        return behind == first or self._state.restore(blob, first, self._layout.last_position(end))

    def snapshot(self) -> Blob:
        taken = self._state.snapshot()
        if taken is None:
            raise RuntimeError("llama.cpp gave no state")
        return taken

    def back(self, snapshot: Blob, n: int) -> bool:
        return self._back(snapshot, n)

    def _back(self, snapshot: Blob, n: int) -> bool:
        self._forget_checkpoint(n)
        self._fresh, self._undone = 0, False
        position, last = self._layout.position(n), self._layout.last_position(n)
        self._layout.cut(n)
        return self._state.back(snapshot, position, last)

    def _forget_checkpoint(self, n: int) -> None:
        """Drop a checkpoint after the first `n` tokens, as it belongs to another text."""
        if self._checkpoint is not None and self._checkpoint[0] > n:
            self._checkpoint = None

    def abort(self) -> None:
        self.llama.abort.set()

    def clear_abort(self) -> None:
        self.llama.abort.clear()

    def close(self) -> None:
        self._rows = {}
        if self._images is not None:
            self._images.close()
            self._images = None
        if self._batch is not None:
            self._batch.close()
            self._batch = None
        self.llama.close()


def _facts(llama: LlamaContext, vocab: Any, has_ranges: bool, lacking: Lacking) -> ModelFacts:
    special, added = llama_vocabulary.marked_tokens(vocab)
    texts = {token.id: token.text for token in special}
    begin, end = lib.llama_vocab_bos(vocab), lib.llama_vocab_eos(vocab)
    template = lib.llama_model_chat_template(llama.model, None)
    return ModelFacts(
        context_length=lib.llama_n_ctx(llama.context),
        vocabulary_size=lib.llama_vocab_n_tokens(vocab),
        chat_template=template.decode("utf-8", "replace") if template else None,
        special_tokens=special,
        added_tokens=added,
        begin_token=begin if begin >= 0 and lib.llama_vocab_get_add_bos(vocab) else None,
        begin_text=texts.get(begin, ""),
        end_text=texts.get(end, ""),
        batch=llama.batch,
        suppressed=llama_vocabulary.suppressed(vocab),
        rollback="checkpoint" if llama.recurrent else "exact",
        undo=0 if Ability.CUTTING in lacking else llama.undo,
        snapshots=_apart(llama) is not None,
        leaves=1 if llama.recurrent or Ability.TREES in lacking else LEAVES,
        lacking=lacking,
        device=llama.device,
        flash=llama.flash,
        chunk=_chunk(0 if llama.windowed else llama.window) if has_ranges else 0,
        state=f"{build_name()}, {llama.state_name}",
        width=lib.llama_model_n_embd(llama.model),
        trained=lib.llama_model_n_ctx_train(llama.model),
    )


def _apart(llama: LlamaContext) -> Apart | None:
    """The kind of the state's part without ranges."""
    if llama.recurrent:
        return "recurrent"
    return "window" if llama.windowed else None


def _chunk(window: int) -> int:
    """Tokens per chunk: ranges longer than a sliding window lose cells that no later token attends
    to."""
    return min(CHUNK, 1 << (window.bit_length() - 1)) if window > 0 else CHUNK
