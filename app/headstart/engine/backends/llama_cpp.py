"""The llama.cpp backend over its low-level functions (the pip package llama-cpp-python).

Everything here runs on the engine thread, except `abort`. The high-level `Llama` class is not
used: it asks for logits of every token and scans them again.
"""

from __future__ import annotations

import ctypes
import os
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import llama_cpp as lib
import numpy as np
import numpy.typing as npt
import psutil

from headstart.core.errors import EnvironmentProblem, ModelProblem
from headstart.core.settings import EngineSettings, Sampling
from headstart.engine.decoder import ContextFull, DecodeAborted, ModelFacts, SpecialToken

# tokens a forward may take: 256 reads within 2 % as fast as 512 and is one KV chunk, so that
# what is read later as chunks was read in the same slices
BATCH = 256
AUTOMATIC_CONTEXT = 8192
# sequences of the unified KV cache: the live one, and a spare one to export and import through
SEQUENCES = 2
PENALTY_WINDOW = 256

_ERROR_LEVEL = 4
_CONT_LEVEL = 5
_log: deque[str] = deque(maxlen=200)
_last_level = 0


@lib.llama_log_callback  # type: ignore[untyped-decorator]
def _on_log(level: int, text: bytes | None, _data: Any) -> None:
    # called from native threads too: only append
    global _last_level
    if level != _CONT_LEVEL:
        _last_level = level
    if _last_level >= _ERROR_LEVEL and text:
        _log.append(text.decode("utf-8", "replace"))


lib.llama_log_set(_on_log, None)
lib.llama_backend_init()


def recent_errors() -> str:
    """The last lines that llama.cpp wrote as errors, newest last."""
    lines = [line.strip() for line in "".join(_log).splitlines() if line.strip()]
    return "; ".join(lines[-3:])


def automatic_threads() -> int:
    return psutil.cpu_count(logical=False) or 1


class _AbortFlag:
    """A C function over two bytes as the abort callback: no interpreter lock on the way.

    `strlen` of the buffer is 0 (go on) until the first byte is set. A Python function instead
    makes every check wait for whichever thread runs Python (a decode went from 19 to 141 ms).
    """

    def __init__(self) -> None:
        self.buffer = ctypes.create_string_buffer(2)
        libc = ctypes.CDLL(None)
        self.callback = ctypes.cast(libc.strlen, lib.ggml_abort_callback)

    def set(self) -> None:
        self.buffer[0] = b"\x01"

    def clear(self) -> None:
        self.buffer[0] = b"\x00"


class LlamaCppDecoder:
    """A model and one context. See `engine.decoder.Decoder` for what the methods promise."""

    def __init__(
        self, path: Path, engine: EngineSettings, progress: Callable[[float], bool] | None = None
    ) -> None:
        """Load `path`; `progress` gets the fraction and returns False to stop.

        Raises ModelProblem, or DecodeAborted when `progress` said to stop.
        """
        _log.clear()
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
        self._abort = _AbortFlag()
        self._open_context(path, engine)
        self._window = lib.llama_model_n_swa(self._model)
        self._vocabulary = lib.llama_vocab_n_tokens(self._vocab)
        self._pieces: dict[int, bytes] = {}
        self._rows: dict[int, npt.NDArray[np.float32]] = {}
        self._facts = self._read_facts()

    def _open_context(self, path: Path, engine: EngineSettings) -> None:
        trained = lib.llama_model_n_ctx_train(self._model)
        threads = engine.threads or automatic_threads()
        parameters = lib.llama_context_default_params()
        parameters.n_ctx = engine.context_length or min(trained, AUTOMATIC_CONTEXT)
        parameters.n_batch = BATCH
        parameters.n_ubatch = BATCH
        parameters.n_seq_max = SEQUENCES
        parameters.kv_unified = True
        parameters.n_threads = threads
        parameters.n_threads_batch = threads
        # pinned, never AUTO: KV state saved under one of the two is garbage under the other
        parameters.flash_attn_type = lib.LLAMA_FLASH_ATTN_TYPE_ENABLED
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
        self._batch = lib.llama_batch_init(BATCH, 0, 1)
        batch = self._batch
        self._token: npt.NDArray[np.int32] = np.ctypeslib.as_array(batch.token, (BATCH,))
        self._pos: npt.NDArray[np.int32] = np.ctypeslib.as_array(batch.pos, (BATCH,))
        self._logits: npt.NDArray[np.int8] = np.ctypeslib.as_array(batch.logits, (BATCH,))
        np.ctypeslib.as_array(batch.n_seq_id, (BATCH,))[:] = 1
        self._seq_of_batch = -1
        self._outputs: list[int] = []

    def _read_facts(self) -> ModelFacts:
        vocab = self._vocab
        control = lib.LLAMA_TOKEN_ATTR_CONTROL
        special = []
        for token in range(self._vocabulary):
            attributes = lib.llama_vocab_get_attr(vocab, token)
            if attributes & control:
                text = lib.llama_vocab_get_text(vocab, token).decode("utf-8", "replace")
                left = bool(attributes & lib.LLAMA_TOKEN_ATTR_LSTRIP)
                right = bool(attributes & lib.LLAMA_TOKEN_ATTR_RSTRIP)
                special.append(SpecialToken(token, text, left, right))
        texts = {token.id: token.text for token in special}
        begin, end = lib.llama_vocab_bos(vocab), lib.llama_vocab_eos(vocab)
        template = lib.llama_model_chat_template(self._model, None)
        return ModelFacts(
            context_length=lib.llama_n_ctx(self._context),
            vocabulary_size=self._vocabulary,
            chat_template=template.decode("utf-8", "replace") if template else None,
            special_tokens=tuple(special),
            begin_token=begin if begin >= 0 and lib.llama_vocab_get_add_bos(vocab) else None,
            begin_text=texts.get(begin, ""),
            end_text=texts.get(end, ""),
            batch=BATCH,
        )

    @property
    def facts(self) -> ModelFacts:
        return self._facts

    def encode(self, text: str) -> list[int]:
        data = text.encode("utf-8", "replace")
        room = len(data) + 8
        buffer = (lib.llama_token * room)()
        count = lib.llama_tokenize(self._vocab, data, len(data), buffer, room, False, False)
        if count < 0:
            raise RuntimeError(f"tokenization of {len(data)} bytes wants {-count} tokens")
        return list(buffer[:count])

    def piece(self, token: int) -> bytes:
        known = self._pieces.get(token)
        if known is None:
            size = 64
            while True:
                buffer = ctypes.create_string_buffer(size)
                count = lib.llama_token_to_piece(self._vocab, token, buffer, size, 0, False)
                if count >= 0:
                    break
                size = -count
            known = self._pieces[token] = buffer.raw[:count]
        return known

    def is_end(self, token: int) -> bool:
        return bool(lib.llama_vocab_is_eog(self._vocab, token))

    def n_past(self, seq: int = 0) -> int:
        return int(lib.llama_memory_seq_pos_max(self._memory, seq)) + 1

    def forward(self, tokens: Sequence[int], outputs: Sequence[int], seq: int = 0) -> None:
        count = len(tokens)
        if not 0 < count <= BATCH:
            raise ValueError(f"{count} tokens in one forward; 1 to {BATCH} are possible")
        start = self.n_past(seq)
        if start + count > self._facts.context_length:
            raise ContextFull
        # an id out of range makes ggml end the process
        if min(tokens) < 0 or max(tokens) >= self._vocabulary:
            raise ValueError("token id outside the vocabulary")
        if count == 1:
            # the step of plain decoding: numpy's slices would cost more than they do
            self._token[0], self._pos[0], self._logits[0] = tokens[0], start, len(outputs)
        else:
            self._token[:count] = tokens
            self._pos[:count] = np.arange(start, start + count, dtype=np.int32)
            self._logits[:count] = 0
            for index in outputs:
                self._logits[index] = 1
        self._outputs = list(outputs)
        if self._seq_of_batch != seq:
            for index in range(BATCH):
                self._batch.seq_id[index][0] = seq
            self._seq_of_batch = seq
        self._batch.n_tokens = count
        result = lib.llama_decode(self._context, self._batch)
        if result == 0:
            return
        self._outputs = []
        if result == 1:
            raise ContextFull
        if result == 2:
            raise DecodeAborted
        raise EnvironmentProblem(
            f"llama.cpp failed to compute (code {result}): {recent_errors() or 'no reason given'}.",
            "Try again; if it fails again, close other programs to free memory.",
        )

    def argmax(self, row: int) -> int:
        logits = lib.llama_get_logits_ith(self._context, self._outputs[row])
        address = ctypes.cast(logits, ctypes.c_void_p).value or 0
        view = self._rows.get(address)
        if view is None:
            # the output buffer moves only when it grows: making the view costs as much as
            # looking through it
            if len(self._rows) > 2 * BATCH:
                self._rows.clear()
            view = self._rows[address] = np.ctypeslib.as_array(logits, (self._vocabulary,))
        return int(view.argmax())

    def sampler(self, sampling: Sampling, seed: int) -> LlamaCppSampler:
        return LlamaCppSampler(self, sampling, seed)

    def draw(self, chain: Any, row: int) -> int:
        """Apply a sampler chain to a row, draw and accept; for LlamaCppSampler."""
        return int(lib.llama_sampler_sample(chain, self._context, self._outputs[row]))

    def truncate(self, n: int, seq: int = 0) -> int:
        past = self.n_past(seq)
        if n >= past:
            return past
        if n > 0 and lib.llama_memory_seq_rm(self._memory, seq, n, -1):
            # a sliding window may have dropped cells that position n still looks at
            first = lib.llama_memory_seq_pos_min(self._memory, seq)
            needed = max(0, n - self._window + 1) if self._window > 0 else 0
            if self.n_past(seq) == n and first <= needed:
                return n
        lib.llama_memory_seq_rm(self._memory, seq, -1, -1)
        return 0

    def abort(self) -> None:
        self._abort.set()

    def clear_abort(self) -> None:
        self._abort.clear()

    def close(self) -> None:
        self._rows = {}
        if self._batch is not None:
            # the views end before the memory they look at
            del self._token, self._pos, self._logits
            lib.llama_batch_free(self._batch)
            self._batch = None
        if self._context:
            lib.llama_free(self._context)
            self._context = None
        if self._model:
            lib.llama_model_free(self._model)
            self._model = None


class LlamaCppSampler:
    """Penalties, top-k, top-p, min-p, temperature, draw; or plain arg-max at temperature 0."""

    def __init__(self, decoder: LlamaCppDecoder, sampling: Sampling, seed: int) -> None:
        self._decoder = decoder
        self._chain: Any = None
        penalties = sampling.repeat_penalty != 1 or sampling.presence_penalty != 0
        if sampling.temperature == 0 and not penalties:
            return
        self._chain = lib.llama_sampler_chain_init(lib.llama_sampler_chain_default_params())
        add = lib.llama_sampler_chain_add
        if penalties:
            add(
                self._chain,
                lib.llama_sampler_init_penalties(
                    decoder.facts.vocabulary_size,
                    PENALTY_WINDOW,
                    sampling.repeat_penalty,
                    0.0,
                    sampling.presence_penalty,
                ),
            )
        if sampling.temperature == 0:
            add(self._chain, lib.llama_sampler_init_greedy())
            return
        if sampling.top_k > 0:
            add(self._chain, lib.llama_sampler_init_top_k(sampling.top_k))
        if sampling.top_p < 1:
            add(self._chain, lib.llama_sampler_init_top_p(sampling.top_p, 1))
        if sampling.min_p > 0:
            add(self._chain, lib.llama_sampler_init_min_p(sampling.min_p, 1))
        add(self._chain, lib.llama_sampler_init_temp(sampling.temperature))
        add(self._chain, lib.llama_sampler_init_dist(seed))

    def sample(self, row: int) -> int:
        if self._chain is None:
            return self._decoder.argmax(row)
        return self._decoder.draw(self._chain, row)

    def accept(self, tokens: Sequence[int]) -> None:
        if self._chain is not None:
            for token in tokens[-PENALTY_WINDOW:]:
                lib.llama_sampler_accept(self._chain, token)

    def close(self) -> None:
        if self._chain is not None:
            lib.llama_sampler_free(self._chain)
            self._chain = None
