"""The llama.cpp backend over its low-level functions (the pip package llama-cpp-python).

Everything here runs on the engine thread, except `abort`. The high-level `Llama` class is not
used: it asks for logits of every token and scans them again.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import llama_cpp as lib
import numpy as np
import numpy.typing as npt

from headstart.core.errors import EnvironmentProblem, ModelProblem
from headstart.core.models import Vocabulary
from headstart.core.settings import EngineSettings, Sampling
from headstart.engine.backends import llama_vocabulary
from headstart.engine.backends.cores import automatic_threads
from headstart.engine.backends.llama_library import AbortFlag, forget_errors, recent_errors
from headstart.engine.backends.llama_sampler import Candidates, LlamaCppSampler
from headstart.engine.backends.llama_state import SequenceState
from headstart.engine.backends.thread_count import ThreadCount
from headstart.engine.decoder import (
    Blob,
    ContextFull,
    DecodeAborted,
    ModelFacts,
)

# tokens of a KV chunk, and what a forward takes unless the settings say otherwise: 256 reads
# within 2 % as fast as 512, and what is read later as chunks was read in the same slices
CHUNK = 256
# draft tokens, tree branches and measurements fit into one forward
LEAST_BATCH = 128
AUTOMATIC_CONTEXT = 8192
# llama.cpp rounds contexts up to this, but cuts the batch to the context before it does: a
# smaller one ends the process with an assertion at the first larger forward
CONTEXT_STEP = 256
# sequences of the unified KV cache: the live one, a spare one to export and import through, and
# one for each further leaf of a tree
LEAVES = 3
SEQUENCES = 1 + LEAVES
SPARE = 1
_LEAF_SEQUENCE = 2

# the package has no name for bf16
_KV_TYPES = {"f16": lib.GGML_TYPE_F16, "bf16": 30, "q8_0": lib.GGML_TYPE_Q8_0}

# the package's own binding makes a pointer object for each row: five times the cost of an int
_logits_address: Any = ctypes.cast(
    lib.llama_get_logits_ith,
    ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int32),
)


class LlamaCppDecoder:
    """A model and one context. See `engine.decoder.Decoder` for what the methods promise."""

    def __init__(
        self,
        path: Path,
        engine: EngineSettings,
        progress: Callable[[float], bool] | None = None,
        clamp: bool = False,
    ) -> None:
        """Load `path`; `progress` gets the fraction and returns False to stop.

        `clamp` keeps the context within what the model was trained for, whatever is asked.
        Raises ModelProblem, or DecodeAborted when `progress` said to stop.
        """
        forget_errors()
        self._model: Any = None
        self._context: Any = None
        self._batch: Any = None
        stopped = False

        def on_progress(fraction: float, _data: Any) -> bool:
            nonlocal stopped
            stopped = progress is not None and not progress(fraction)
            return not stopped

        parameters = lib.llama_model_default_params()
        callback = lib.llama_progress_callback(on_progress)
        parameters.progress_callback = callback
        if engine.gpu_layers >= 0:
            parameters.n_gpu_layers = engine.gpu_layers
        self._without_gpu = engine.gpu_layers == 0
        self._model = lib.llama_model_load_from_file(os.fsencode(path), parameters)
        if not self._model:
            if stopped:
                raise DecodeAborted
            raise ModelProblem(
                f"llama.cpp cannot open {path.name}: {recent_errors() or 'no reason given'}.",
                "The file may be damaged, or of a kind that this version does not know.",
            )
        if lib.llama_model_has_encoder(self._model):
            self.close()
            raise ModelProblem(
                f"{path.name} is not a chat model (it has an encoder).", "Choose a chat model."
            )
        self._vocab = lib.llama_model_get_vocab(self._model)
        self._abort = AbortFlag()
        self._batch_size = max(LEAST_BATCH, engine.batch) if engine.batch else CHUNK
        self._open_context(path, engine, clamp)
        flash = "flash attention" if engine.flash_attention else "plain attention"
        self._state_name = f"{engine.kv_type}, {flash}"
        self._state_name += self._rope_name()
        self._window = lib.llama_model_n_swa(self._model)
        self._recurrent = bool(
            lib.llama_model_is_recurrent(self._model) or lib.llama_model_is_hybrid(self._model)
        )
        ranges = not lib.llama_model_is_recurrent(self._model)
        self._state = SequenceState(
            self._context, self._memory, SPARE, ranges=ranges, mixed=self._recurrent
        )
        self._vocabulary = lib.llama_vocab_n_tokens(self._vocab)
        self._pieces: dict[int, bytes] = {}
        self._ends = llama_vocabulary.ends(self._vocab)
        self._rows: dict[int, npt.NDArray[np.float32]] = {}
        self._candidates: Candidates | None = None
        self._checkpoint: tuple[int, Any] | None = None
        self._leaf_paths: list[list[int]] = []
        self._tree_start = 0
        self._facts = self._read_facts()

    def _rope_name(self) -> str:
        """Some models (Phi, MiniCPM) turn positions by other factors where the context is longer
        than the original one: keys of one are nonsense under the other."""
        original = lib.llama_model_n_ctx_train(self._model)
        architecture = self._metadata("general.architecture")
        found = self._metadata(f"{architecture}.rope.scaling.original_context_length")
        if found.isdigit():
            original = int(found)
        return ", long rope" if lib.llama_n_ctx(self._context) > original else ""

    def _metadata(self, key: str) -> str:
        buffer = ctypes.create_string_buffer(256)
        size = lib.llama_model_meta_val_str(self._model, key.encode(), buffer, len(buffer))
        return buffer.value.decode("utf-8", "replace") if size >= 0 else ""

    def _open_context(self, path: Path, engine: EngineSettings, clamp: bool) -> None:
        trained = lib.llama_model_n_ctx_train(self._model)
        threads = engine.threads or automatic_threads()
        layers = "" if engine.gpu_layers < 0 else f", {engine.gpu_layers} GPU layers"
        flash = "" if engine.flash_attention else ", plain attention"
        self._device = f"llama.cpp, {threads} threads, {engine.kv_type}{layers}{flash}"
        parameters = lib.llama_context_default_params()
        wanted = engine.context_length or AUTOMATIC_CONTEXT
        length = min(trained, wanted) if clamp or not engine.context_length else wanted
        parameters.n_ctx = -(-max(1, length) // CONTEXT_STEP) * CONTEXT_STEP
        parameters.n_batch = self._batch_size
        parameters.n_ubatch = self._batch_size
        parameters.n_seq_max = SEQUENCES
        parameters.kv_unified = True
        parameters.n_threads = threads
        parameters.n_threads_batch = threads
        self._threads = ThreadCount(threads, fixed=bool(engine.threads))
        self._thread_count = threads
        # pinned, never AUTO: KV state saved under one of the two is garbage under the other
        parameters.flash_attn_type = (
            lib.LLAMA_FLASH_ATTN_TYPE_ENABLED
            if engine.flash_attention
            else lib.LLAMA_FLASH_ATTN_TYPE_DISABLED
        )
        parameters.type_k = parameters.type_v = _KV_TYPES[engine.kv_type]
        if engine.kv_type == "q8_0" and not engine.flash_attention:
            # llama.cpp has quantized values only with flash attention
            parameters.type_v = _KV_TYPES["f16"]
        if self._without_gpu:
            # by itself, llama.cpp would still compute large batches there
            parameters.offload_kqv = parameters.op_offload = False
        # without the whole cache a window model could not take back what it drafted
        parameters.swa_full = True
        parameters.no_perf = True
        parameters.abort_callback = self._abort.callback
        parameters.abort_callback_data = ctypes.addressof(self._abort.buffer)
        self._context = lib.llama_init_from_model(self._model, parameters)
        if not self._context:
            errors = recent_errors()
            self.close()
            raise ModelProblem(
                f"{path.name} cannot be used with a context of {parameters.n_ctx:,} tokens"
                f"{f': {errors}' if errors else ''}.",
                "If memory is short, choose a smaller context length in the settings; else the "
                "model is of a kind that this version cannot run.",
            )
        self._memory = lib.llama_get_memory(self._context)
        # what the context really has, not what was asked for
        size = self._batch_size = min(self._batch_size, lib.llama_n_batch(self._context))
        self._batch = lib.llama_batch_init(size, 0, LEAVES)
        batch = self._batch
        self._token: npt.NDArray[np.int32] = np.ctypeslib.as_array(batch.token, (size,))
        self._pos: npt.NDArray[np.int32] = np.ctypeslib.as_array(batch.pos, (size,))
        self._logits: npt.NDArray[np.int8] = np.ctypeslib.as_array(batch.logits, (size,))
        self._n_seq: npt.NDArray[np.int32] = np.ctypeslib.as_array(batch.n_seq_id, (size,))
        self._n_seq[:] = 1
        self._seq_of_batch = -1
        self._outputs: Sequence[int] = ()

    def _read_facts(self) -> ModelFacts:
        vocab = self._vocab
        special = llama_vocabulary.special_tokens(vocab)
        texts = {token.id: token.text for token in special}
        begin, end = lib.llama_vocab_bos(vocab), lib.llama_vocab_eos(vocab)
        template = lib.llama_model_chat_template(self._model, None)
        return ModelFacts(
            context_length=lib.llama_n_ctx(self._context),
            vocabulary_size=self._vocabulary,
            chat_template=template.decode("utf-8", "replace") if template else None,
            special_tokens=special,
            begin_token=begin if begin >= 0 and lib.llama_vocab_get_add_bos(vocab) else None,
            begin_text=texts.get(begin, ""),
            end_text=texts.get(end, ""),
            batch=self._batch_size,
            rollback="checkpoint" if self._recurrent else "exact",
            leaves=1 if self._recurrent else LEAVES,
            device=self._device,
            chunk=self._chunk(),
            state=f"llama.cpp {lib.__version__}, {self._state_name}, unified, full",
        )

    def _chunk(self) -> int:
        """Ranges longer than a sliding window lose the cells that no later token looks at."""
        if not self._state.ranges:
            return 0
        return min(CHUNK, 1 << (self._window.bit_length() - 1)) if self._window > 0 else CHUNK

    @property
    def facts(self) -> ModelFacts:
        return self._facts

    @property
    def pace(self) -> int:
        return self._threads.pace

    def encode(self, text: str) -> list[int]:
        return llama_vocabulary.encode(self._vocab, text)

    def piece(self, token: int) -> bytes:
        known = self._pieces.get(token)
        if known is None:
            known = self._pieces[token] = llama_vocabulary.piece(self._vocab, token)
        return known

    def is_end(self, token: int) -> bool:
        return token in self._ends

    def n_past(self, seq: int = 0) -> int:
        return int(lib.llama_memory_seq_pos_max(self._memory, seq)) + 1

    def vocabulary(self) -> Vocabulary:
        return llama_vocabulary.vocabulary(self._vocab)

    def forward(
        self,
        tokens: Sequence[int],
        outputs: Sequence[int],
        seq: int = 0,
        parents: Sequence[int] | None = None,
    ) -> None:
        count = len(tokens)
        if not 0 < count <= self._batch_size:
            raise ValueError(f"{count} tokens in one forward; 1 to {self._batch_size} are possible")
        start = lib.llama_memory_seq_pos_max(self._memory, seq) + 1
        if start + count > self._facts.context_length:
            raise ContextFull
        # an id out of range makes ggml end the process
        if min(tokens) < 0 or max(tokens) >= self._vocabulary:
            raise ValueError("token id outside the vocabulary")
        if self._seq_of_batch != seq:
            for index in range(self._batch_size):
                self._batch.seq_id[index][0] = seq
            self._n_seq[:] = 1
            self._seq_of_batch = seq
        if count == 1:
            # the step of plain decoding: numpy's slices would cost more than they do
            self._token[0], self._pos[0], self._logits[0] = tokens[0], start, len(outputs)
        else:
            self._token[:count] = tokens
            self._pos[:count] = np.arange(start, start + count, dtype=np.int32)
            self._logits[:count] = 0
            for index in outputs:
                self._logits[index] = 1
        self._leaf_paths = []
        if parents is not None:
            self._plant(parents, start)
        self._outputs = outputs
        self._batch.n_tokens = count
        threads = self._threads.next(count)
        if threads != self._thread_count:
            lib.llama_set_n_threads(self._context, threads, threads)
            self._thread_count = threads
        began, used = perf_counter(), process_time()
        result = lib.llama_decode(self._context, self._batch)
        if result == 0:
            self._threads.took(count, perf_counter() - began, process_time() - used)
            return
        self._outputs = ()
        if parents is not None:
            self.keep([])
        if result == 1:
            raise ContextFull
        if result == 2:
            raise DecodeAborted
        raise EnvironmentProblem(
            f"llama.cpp failed to compute (code {result}): {recent_errors() or 'no reason given'}.",
            "Try again; if it fails again, close other programs to free memory.",
        )

    def _plant(self, parents: Sequence[int], start: int) -> None:
        """Give each token of a tree its place and the sequences of the leaves above it."""
        paths = _leaf_paths(parents)
        if len(paths) > LEAVES:
            raise ValueError(f"a tree of {len(paths)} leaves; {LEAVES} are possible")
        self._leaf_paths, self._tree_start = paths, start
        self._seq_of_batch = -1
        self._n_seq[: len(parents)] = 0
        for leaf, path in enumerate(paths):
            sequence = _LEAF_SEQUENCE + leaf - 1 if leaf else 0
            if leaf:
                lib.llama_memory_seq_cp(self._memory, 0, sequence, -1, -1)
            for depth, node in enumerate(path):
                self._batch.seq_id[node][self._n_seq[node]] = sequence
                self._n_seq[node] += 1
                self._pos[node] = start + depth

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

    def argmax(self, row: int) -> int:
        return int(self.logits(row).argmax())

    def row(self, row: int) -> npt.NDArray[np.float32]:
        return self.logits(row).copy()

    def logits(self, row: int) -> npt.NDArray[np.float32]:
        """A view of a row's logits, good until the next forward; for the sampler."""
        address = _logits_address(self._context, self._outputs[row])
        view = self._rows.get(address)
        if view is None:
            # the output buffer moves only when it grows: making the view costs as much as
            # looking through it
            if len(self._rows) > 2 * self._batch_size:
                self._rows.clear()
            logits = ctypes.cast(address, ctypes.POINTER(ctypes.c_float))
            view = self._rows[address] = np.ctypeslib.as_array(logits, (self._vocabulary,))
        return view

    def sampler(
        self, sampling: Sampling, seed: int, names: Sequence[int] | None = None
    ) -> LlamaCppSampler:
        if self._candidates is None:
            self._candidates = Candidates(self._vocabulary)
        return LlamaCppSampler(self.logits, self._candidates, sampling, seed, names)

    def checkpoint(self) -> None:
        if not self._recurrent:
            return
        kept = self._checkpoint[1] if self._checkpoint is not None else None
        kept = self._state.snapshot(kept)
        self._checkpoint = None if kept is None else (self.n_past(), kept)

    def truncate(self, n: int, seq: int = 0) -> int:
        past = self.n_past(seq)
        # also when nothing seems to be there: a hybrid may have one part without the other
        if n >= past and n > 0:
            return past
        if self._recurrent and seq == 0 and n > 0 and self._back_to_checkpoint(n):
            return self.n_past()
        if n > 0 and lib.llama_memory_seq_rm(self._memory, seq, n, -1):
            # a sliding window may have dropped cells that position n still looks at
            first = lib.llama_memory_seq_pos_min(self._memory, seq)
            needed = max(0, n - self._window + 1) if self._window > 0 else 0
            if self.n_past(seq) == n and first <= needed:
                return n
        lib.llama_memory_seq_rm(self._memory, seq, -1, -1)
        if seq == 0:
            self._checkpoint = None
        return 0

    def _back_to_checkpoint(self, n: int) -> bool:
        """Make the state that of the checkpoint, if that is not beyond `n`."""
        if self._checkpoint is None or self._checkpoint[0] > n:
            return False
        position, kept = self._checkpoint
        return self._state.back(kept, position)

    def reach(self, n: int) -> int:
        past = self.n_past()
        if n >= past:
            return past
        if self._recurrent:
            kept = self._checkpoint[0] if self._checkpoint is not None else 0
            return kept if kept <= n else 0
        # whether a window lost cells is only known by cutting; `swa_full` keeps them
        first = lib.llama_memory_seq_pos_min(self._memory, 0)
        needed = max(0, n - self._window + 1) if self._window > 0 else 0
        return n if first <= needed else 0

    def export(self, start: int, end: int) -> Blob:
        return self._state.export(start, end)

    def restore(self, blob: Blob, start: int, end: int, snapshot: Blob | None = None) -> bool:
        if end > self._facts.context_length:
            return False
        return self._state.restore(blob, start, end, snapshot)

    def snapshot(self) -> Blob:
        taken = self._state.snapshot()
        if taken is None:
            raise RuntimeError("llama.cpp gave no state")
        return taken

    def back(self, snapshot: Blob, n: int) -> bool:
        if self._checkpoint is not None and self._checkpoint[0] > n:
            self._checkpoint = None
        return self._state.back(snapshot, n)

    def abort(self) -> None:
        self._abort.set()

    def clear_abort(self) -> None:
        self._abort.clear()

    def close(self) -> None:
        self._rows = {}
        if self._batch is not None:
            # the views end before the memory they look at
            del self._token, self._pos, self._logits, self._n_seq
            lib.llama_batch_free(self._batch)
            self._batch = None
        if self._context:
            lib.llama_free(self._context)
            self._context = None
        if self._model:
            lib.llama_model_free(self._model)
            self._model = None


def _leaf_paths(parents: Sequence[int]) -> list[list[int]]:
    """The way from the root to each leaf, the longest first."""
    inner = set(parents)
    paths = []
    for leaf in range(len(parents)):
        if leaf in inner:
            continue
        path, node = [], leaf
        while node >= 0:
            path.append(node)
            node = parents[node]
        paths.append(path[::-1])
    return sorted(paths, key=len, reverse=True)
