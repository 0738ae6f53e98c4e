"""A loaded llama.cpp model and one context of it: opened together, freed together.

Engine thread; `abort` may be set from any thread.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llama_cpp as lib
from msgspec import Struct

from headstart.core.errors import ModelProblem, WeightsLost, says_no_memory
from headstart.core.models.abilities import LACKS_NOTHING, Lacking
from headstart.core.models.fit import RECURRENT_SEQUENCES, SEQUENCES, UNDO
from headstart.core.models.split_files import parts
from headstart.core.settings.schema import EngineSettings
from headstart.engine.backends.cores import automatic_threads
from headstart.engine.backends.llama_cpp.devices import cards
from headstart.engine.backends.llama_cpp.exports import path_bytes
from headstart.engine.backends.llama_cpp.library import (
    AbortFlag,
    forget_errors,
    lost_mappings,
    recent_errors,
)
from headstart.engine.backends.trial.read_through import read_through
from headstart.engine.decoder import DecodeAborted

# tokens of a KV chunk, and of a forward unless the settings say otherwise: 256 prefills within 2 %
# of the speed of 512, and text recomputed by chunks uses the same slices as at first
CHUNK = 256
# share of the loading progress for reading the file
READ_SHARE = 0.9
# draft tokens, tree branches and measurements fit into one forward
LEAST_BATCH = 128
AUTOMATIC_CONTEXT = 8192
# llama.cpp rounds contexts up to this, but cuts the batch to the context before it does: a
# smaller one ends the process with an assertion at the first larger forward
CONTEXT_STEP = 256
# the most leaves of a tree: besides the live sequence and a spare one for export and import, the
# unified cache has one for each further leaf
LEAVES = SEQUENCES - 1
# with a recurrent state, forwards of up to this many tokens are not aborted: llama.cpp would
# continue with stale states, or none
_WHOLE = 16

# the package does not define bf16
_KV_TYPES = {"f16": lib.GGML_TYPE_F16, "bf16": 30, "q8_0": lib.GGML_TYPE_Q8_0}


class Made(Struct, frozen=True):
    """The purpose of a context. `lacking`: the model's missing abilities; `layers`: its own draft
    layers are loaded too; `target`: the context is a head's and drafts for this one, with layers of
    its own file, or of the target's if `shared`; `beside`: each token has a row beside it."""

    lacking: Lacking = LACKS_NOTHING
    layers: bool = False
    target: LlamaContext | None = None
    shared: bool = False
    beside: bool = False


A_MODEL = Made()


class LlamaContext:
    def __init__(
        self,
        path: Path,
        engine: EngineSettings,
        progress: Callable[[float], bool] | None = None,
        clamp: bool = False,
        made: Made = A_MODEL,
    ) -> None:
        """See `LlamaCppDecoder`, which this is a part of."""
        forget_errors()
        self.model: Any = None
        self.context: Any = None
        self.made = made
        self.abort = AbortFlag()
        self.threads = engine.threads or automatic_threads()
        # number of mapped files lost before
        self._lost, self._name = lost_mappings(), path.name
        try:
            if made.shared and made.target is not None:
                self.model = made.target.model
            else:
                self._load(path, engine, progress)
            # heads keep plain keys and values, even for a recurrent target
            self.recurrent = made.target is None and bool(
                lib.llama_model_is_recurrent(self.model) or lib.llama_model_is_hybrid(self.model)
            )
            self.context = self.another(engine, clamp)
            self.check_mapped()
            if not self.context:
                raise self._not_made(path, engine, clamp)
            self.memory = lib.llama_get_memory(self.context)
            self.row_width: int = lib.llama_model_n_embd_out(self.model) if made.beside else 0
            # the context's actual size, not the requested one
            self.batch = int(lib.llama_n_batch(self.context))
            # the size of a sliding window; 0 without one
            self.window: int = lib.llama_model_n_swa(self.model)
            # number of the last forward's token states that are kept; not every architecture can
            self.undo = int(lib.llama_n_rs_seq(self.context))
            # whether tokens have their own KV at all
            self.has_ranges = not self.recurrent or not lib.llama_model_is_recurrent(self.model)
            layers = _on_cards(engine.gpu_layers)
            self.flash = engine.flash
            flash = "" if engine.flash else ", plain attention"
            self.device = f"llama.cpp, {self.threads} threads, {engine.kv_type}{layers}{flash}"
            # whether layers with a sliding window keep only the window
            self.windowed = (
                self.window > 0 and engine.window_cache == "window" and made.target is None
            )
            flash = "flash attention" if engine.flash else "plain attention"
            kept = "windowed" if self.windowed else "full"
            self.state_name = f"{engine.kv_type}, {flash}{self._rope_name()}, unified, {kept}"
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        if self.context:
            lib.llama_free(self.context)
            self.context = None
        if self.model:
            if not self.made.shared:
                lib.llama_model_free(self.model)
            self.model = None

    def _load(
        self, path: Path, engine: EngineSettings, progress: Callable[[float], bool] | None
    ) -> None:
        stopped = False
        if progress is not None:
            tell = progress
            read_through(parts(path), lambda fraction: tell(READ_SHARE * fraction))

        def on_progress(fraction: float, _data: Any) -> bool:
            nonlocal stopped
            shown = READ_SHARE + (1 - READ_SHARE) * fraction
            stopped = progress is not None and not progress(shown)
            return not stopped

        parameters = lib.llama_model_default_params()
        callback = lib.llama_progress_callback(on_progress)
        parameters.progress_callback = callback
        if engine.gpu_layers >= 0:
            parameters.n_gpu_layers = engine.gpu_layers
        parameters.load_mtp = self.made.layers
        self.model = lib.llama_model_load_from_file(path_bytes(path), parameters)
        if not self.model:
            if stopped:
                raise DecodeAborted
            reason = recent_errors() or "no reason given"
            if says_no_memory(reason):
                raise ModelProblem("no-memory-to-open", name=path.name)
            raise ModelProblem("llama-cannot-open", name=path.name, reason=reason)
        if lib.llama_model_has_encoder(self.model) and self.made.target is None:
            raise ModelProblem("encoder-model", name=path.name)

    def decode(self, batch: Any, count: int) -> int:
        """llama.cpp's status for a batch of `count` tokens: 0, 1 without room, 2 if aborted. Raises
        WeightsLost."""
        result = self._decode(batch, count)
        self.check_mapped()
        return result

    def _decode(self, batch: Any, count: int) -> int:
        if not self.recurrent or count > _WHOLE:
            return int(lib.llama_decode(self.context, batch))
        try:
            return int(lib.llama_decode(self.context, batch)) if self.abort.hold() else 2
        finally:
            self.abort.release()

    def check_mapped(self) -> None:
        """Raises WeightsLost if weights became unreadable: they were zeros, and the results are
        invalid."""
        if lost_mappings() != self._lost:
            raise WeightsLost("weights-lost", name=self._name)

    def another(self, engine: EngineSettings, clamp: bool = False) -> Any:
        """A new context of the loaded model; None if llama.cpp fails."""
        parameters = lib.llama_context_default_params()
        parameters.n_ctx = self._length(engine, clamp)
        batch = max(LEAST_BATCH, engine.batch) if engine.batch else CHUNK
        parameters.n_batch = parameters.n_ubatch = batch
        parameters.n_seq_max = RECURRENT_SEQUENCES if self.recurrent else SEQUENCES
        parameters.n_rs_seq = UNDO if self.recurrent else 0
        if self.made.target is not None:
            parameters.ctx_other = self.made.target.context
            if self.made.layers:
                parameters.ctx_type = lib.LLAMA_CONTEXT_TYPE_MTP
        parameters.kv_unified = True
        parameters.n_threads = parameters.n_threads_batch = self.threads
        # fixed, never AUTO: KV state saved under one of the two is garbage under the other
        parameters.flash_attn_type = (
            lib.LLAMA_FLASH_ATTN_TYPE_ENABLED
            if engine.flash
            else lib.LLAMA_FLASH_ATTN_TYPE_DISABLED
        )
        parameters.type_k = parameters.type_v = _KV_TYPES[engine.kv_type]
        if engine.kv_type == "q8_0" and not engine.flash:
            # llama.cpp supports quantized values only with flash attention
            parameters.type_v = _KV_TYPES["f16"]
        if engine.gpu_layers == 0:
            # otherwise llama.cpp would still compute large batches on the graphics card
            parameters.offload_kqv = parameters.op_offload = False
        parameters.swa_full = engine.window_cache != "window" or self.made.target is not None
        parameters.no_perf = True
        parameters.abort_callback = self.abort.callback
        parameters.abort_callback_data = ctypes.addressof(self.abort.buffer)
        return lib.llama_init_from_model(self.model, parameters)

    def _length(self, engine: EngineSettings, clamp: bool) -> int:
        trained = lib.llama_model_n_ctx_train(self.model)
        wanted = engine.context_length or AUTOMATIC_CONTEXT
        length = min(trained, wanted) if clamp or not engine.context_length else wanted
        return int(-(-max(1, length) // CONTEXT_STEP) * CONTEXT_STEP)

    def _not_made(self, path: Path, engine: EngineSettings, clamp: bool) -> ModelProblem:
        errors = recent_errors()
        return ModelProblem(
            "context-cannot-be-made",
            name=path.name,
            n_ctx=self._length(engine, clamp),
            detail=f": {errors}" if errors else "",
        )

    @property
    def architecture(self) -> str:
        return self.metadata("general.architecture")

    def _rope_name(self) -> str:
        """A suffix for long contexts: some models (Phi, MiniCPM) rotate positions by other factors
        if the context is longer than the original one, so keys of one are invalid under the
        other."""
        original = lib.llama_model_n_ctx_train(self.model)
        found = self.metadata(f"{self.architecture}.rope.scaling.original_context_length")
        if found.isdigit():
            original = int(found)
        return ", long rope" if lib.llama_n_ctx(self.context) > original else ""

    def metadata(self, key: str) -> str:
        """The file's value for the key; "" if it has none."""
        buffer = ctypes.create_string_buffer(256)
        size = lib.llama_model_meta_val_str(self.model, key.encode(), buffer, len(buffer))
        return buffer.value.decode("utf-8", "replace") if size >= 0 else ""


def _on_cards(layers: int) -> str:
    """The cards in the name of a device."""
    names = [card.name for card in cards()] if layers != 0 else []
    count = "all" if layers < 0 else str(layers)
    if names:
        return f", {count} layers on {' + '.join(names)}"
    return "" if layers < 0 else f", {layers} GPU layers"
