"""An embedding model in llama.cpp: a text in, one vector out. Engine thread."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import llama_cpp as lib
import numpy as np
import numpy.typing as npt

from headstart.core.errors import EnvironmentProblem, ModelProblem
from headstart.engine.backends.cores import automatic_threads
from headstart.engine.backends.llama_cpp.exports import path_bytes
from headstart.engine.backends.llama_cpp.library import forget_errors, recent_errors
from headstart.engine.backends.llama_cpp.vocabulary import encode

# tokens of a text; models that were trained on more are cut here, for their memory
_MOST_TOKENS = 8192
_NO_POOLING = 0


class LlamaEmbedder:
    """`width`: numbers of a vector; `most`: tokens of a text. Raises ModelProblem where the file
    cannot be opened."""

    def __init__(self, path: Path, threads: int = 0) -> None:
        forget_errors()
        self._name = path.name
        self._context: Any = None
        parameters = lib.llama_model_default_params()
        parameters.n_gpu_layers = 0
        self._model: Any = lib.llama_model_load_from_file(path_bytes(path), parameters)
        if not self._model:
            raise ModelProblem("llama-cannot-open", name=path.name, reason=recent_errors())
        self._vocab = lib.llama_model_get_vocab(self._model)
        self.width = int(lib.llama_model_n_embd(self._model))
        self.most = min(int(lib.llama_model_n_ctx_train(self._model)) or 512, _MOST_TOKENS)
        made = lib.llama_context_default_params()
        # a text is one forward: attention looks both ways
        made.n_ctx = made.n_batch = made.n_ubatch = self.most
        made.n_seq_max = 1
        made.embeddings = True
        made.n_threads = made.n_threads_batch = threads or automatic_threads()
        self._context = lib.llama_init_from_model(self._model, made)
        if not self._context:
            self.close()
            raise ModelProblem("llama-cannot-open", name=path.name, reason=recent_errors())
        self._pooled = int(lib.llama_pooling_type(self._context)) != _NO_POOLING
        self._encodes = bool(lib.llama_model_has_encoder(self._model)) and not bool(
            lib.llama_model_has_decoder(self._model)
        )

    def embed(self, text: str, cut: int = 0) -> tuple[npt.NDArray[np.float32], int]:
        """The vector of a text, of length 1, and the text's number of tokens. `cut`: tokens after
        which the rest is left out. Without it, raises EnvironmentProblem for a text that is too
        long."""
        tokens = self._tokens(text)
        if 1 < cut < len(tokens):
            # the last token closes the text
            tokens = [*tokens[: min(cut, self.most) - 1], tokens[-1]]
        if len(tokens) > self.most:
            raise EnvironmentProblem("text-too-long", tokens=len(tokens), size=self.most)
        memory = lib.llama_get_memory(self._context)
        if memory:
            lib.llama_memory_clear(memory, True)
        batch = lib.llama_batch_init(len(tokens), 0, 1)
        try:
            for index, token in enumerate(tokens):
                batch.token[index], batch.pos[index] = token, index
                batch.n_seq_id[index], batch.seq_id[index][0] = 1, 0
                batch.logits[index] = 1
            batch.n_tokens = len(tokens)
            run = lib.llama_encode if self._encodes else lib.llama_decode
            if run(self._context, batch) != 0:
                raise ModelProblem("llama-cannot-open", name=self._name, reason=recent_errors())
        finally:
            lib.llama_batch_free(batch)
        row = (
            lib.llama_get_embeddings_seq(self._context, 0)
            if self._pooled
            else lib.llama_get_embeddings_ith(self._context, len(tokens) - 1)
        )
        if not row:
            raise ModelProblem("llama-cannot-open", name=self._name, reason=recent_errors())
        found = np.ctypeslib.as_array(row, (self.width,)).astype(np.float32)
        length = float(np.linalg.norm(found))
        return (found / length if length > 0 else found), len(tokens)

    def close(self) -> None:
        if self._context:
            lib.llama_free(self._context)
            self._context = None
        if self._model:
            lib.llama_model_free(self._model)
            self._model = None

    def _tokens(self, text: str) -> list[int]:
        """With the tokens that the model wants around a text."""
        vocab = self._vocab
        is_bert = lib.llama_vocab_type(vocab) == lib.LLAMA_VOCAB_TYPE_WPM
        found = list(encode(vocab, text))
        if is_bert or lib.llama_vocab_get_add_bos(vocab):
            found.insert(0, lib.llama_vocab_bos(vocab))
        if is_bert or lib.llama_vocab_get_add_sep(vocab):
            found.append(lib.llama_vocab_sep(vocab))
        elif lib.llama_vocab_get_add_eos(vocab):
            found.append(lib.llama_vocab_eos(vocab))
        # an empty text still has a vector
        return [token for token in found if token >= 0] or [0]
