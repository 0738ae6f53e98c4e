"""Images for llama.cpp models, through its libmtmd: a projector turns pixels into embeddings, which
are decoded in place of tokens. Engine thread.

The library's interface is marked as experimental: only the necessary functions are used, and the
pair of a model and a projector is tried in a child process first, because some pairs end the
process.
"""

from __future__ import annotations

import ctypes
import hashlib
from collections import OrderedDict
from pathlib import Path
from typing import Any

import llama_cpp as lib
import llama_cpp.mtmd_cpp as mtmd
import numpy as np
import numpy.typing as npt
from msgspec import Struct

from headstart.core.errors import EnvironmentProblem, ModelProblem
from headstart.core.rgb import Rgb
from headstart.engine import image_tokens
from headstart.engine.backends.llama_cpp.context import LlamaContext
from headstart.engine.backends.llama_cpp.exports import path_bytes
from headstart.engine.backends.llama_cpp.library import forget_errors, log_callback, recent_errors
from headstart.engine.decoder import ContextFull, DecodeAborted, ReadPixels

# the most tokens of one image, if its model allows a choice: the detail of some 900 x 900 pixels.
# Some models would take 4,096 for a photograph, which takes minutes on a processor
MOST_TOKENS = 1024
# an image takes at most one part in this many of the context
_SHARE = 4
# bytes of embeddings kept for other branches of a chat
_MOST_KEPT = 64 << 20
_MEDIA = b"<__media__>"
_TEXT, _IMAGE = mtmd.MTMD_INPUT_CHUNK_TYPE_TEXT, mtmd.MTMD_INPUT_CHUNK_TYPE_IMAGE


class _Piece(Struct, frozen=True):
    """A part of an image that is decoded at once: one of mtmd's chunks, by its number."""

    digest: str
    chunk: int
    tokens: int


class LlamaImages:
    """One projector for one loaded model and its context."""

    def __init__(self, llama: LlamaContext, projector: Path, named: bytes, on_card: bool) -> None:
        """`named` identifies the file. Raises ModelProblem if it is not a projector for the model's
        images."""
        model, context = llama.model, llama.context
        forget_errors()
        mtmd.mtmd_log_set(log_callback, None)
        mtmd.mtmd_helper_log_set(log_callback, None)
        self._context = context
        self._name = projector.name
        self._batch = int(lib.llama_n_ubatch(context))
        self._width = int(lib.llama_model_n_embd_inp(model))
        parameters = mtmd.mtmd_context_params_default()
        parameters.use_gpu = on_card
        parameters.print_timings = parameters.warmup = False
        parameters.n_threads = llama.threads
        most = min(MOST_TOKENS, lib.llama_n_ctx(context) // _SHARE)
        parameters.image_max_tokens = most
        self._mtmd: Any = _open(projector, model, parameters)
        # without the causal mask, an image has to be decoded at once
        if self._mtmd and mtmd.mtmd_decode_use_non_causal(self._mtmd, None) and most > self._batch:
            mtmd.mtmd_free(self._mtmd)
            parameters.image_max_tokens = most = self._batch
            self._mtmd = _open(projector, model, parameters)
        if not self._mtmd:
            reason = recent_errors() or "no reason given"
            raise ModelProblem("projector-cannot-open", name=projector.name, reason=reason)
        if not mtmd.mtmd_support_vision(self._mtmd):
            self.close()
            raise ModelProblem("projector-sees-nothing", name=projector.name)
        # the settings that decide an image's tokens, besides its bytes
        self._made_by = named + f" {lib.__version__} {most}".encode()
        # an image's tokens by digest; a piece by its ids; the source of the pixels by digest
        self._tokens: dict[str, list[int]] = {}
        self._pieces: dict[tuple[int, ...], _Piece] = {}
        self._read: dict[str, ReadPixels] = {}
        self._kept: OrderedDict[tuple[str, int], npt.NDArray[np.float32]] = OrderedDict()

    def close(self) -> None:
        if self._mtmd:
            mtmd.mtmd_free(self._mtmd)
            self._mtmd = None

    def tokens(self, digest: str, read: ReadPixels) -> list[int] | None:
        """An image's tokens in the prompt, with the model's delimiters; None if it cannot be read.
        `read` gives its pixels, now and when it is decoded."""
        known = self._tokens.get(digest)
        self._read[digest] = read
        if known is None:
            pixels = read()
            if pixels is None:
                return None
            with _Chunks(self._mtmd, pixels) as chunks:
                known = self._tokens[digest] = self._ids(digest, chunks)
        return known

    def forget(self) -> None:
        self._tokens.clear()
        self._kept.clear()

    def _ids(self, digest: str, chunks: _Chunks) -> list[int]:
        result: list[int] = []
        for index in range(len(chunks)):
            chunk = chunks.get(index)
            if mtmd.mtmd_input_chunk_get_type(chunk) == _TEXT:
                words = _text_ids(chunk)
                if min(words, default=0) < 0:
                    # this vocabulary has no tokens for the text around images
                    raise ModelProblem("projector-does-not-fit", name=self._name)
                result += words
                continue
            count = mtmd.mtmd_input_chunk_get_n_tokens(chunk)
            positions = mtmd.mtmd_input_chunk_get_n_pos(chunk)
            named = hashlib.sha256(f"{digest} {index} ".encode() + self._made_by).digest()
            run = image_tokens.run(named, count, positions)
            self._pieces[tuple(run)] = _Piece(digest, index, count)
            result += run
        return result

    def decode(self, tokens: tuple[int, ...], position: int) -> None:
        """Decode one image at `position`. Raises DecodeAborted, ContextFull, EnvironmentProblem,
        ValueError for tokens of an unknown image."""
        piece = self._pieces.get(tokens)
        if piece is None:
            raise ValueError("an image that was not part of a prompt")
        pixels = self._read[piece.digest]()
        if pixels is None:
            raise EnvironmentProblem("image-not-readable")
        with _Chunks(self._mtmd, pixels) as chunks:
            chunk = chunks.get(piece.chunk)
            whole = bool(mtmd.mtmd_decode_use_non_causal(self._mtmd, chunk))
            if whole and piece.tokens > self._batch:
                raise EnvironmentProblem("image-needs-batch", tokens=piece.tokens)
            embedded = self._embedded(piece, chunk)
            pointer = embedded.ctypes.data_as(ctypes.POINTER(ctypes.c_float))
            after = lib.llama_pos(0)
            result = mtmd.mtmd_helper_decode_image_chunk(
                self._mtmd,
                self._context,
                chunk,
                pointer,
                position,
                0,
                self._batch,
                ctypes.byref(after),
                mtmd.mtmd_helper_post_decode_callback(),
                None,
            )
        if result == 1:
            raise ContextFull
        if result == 2:
            raise DecodeAborted
        if result != 0:
            raise EnvironmentProblem(
                "llama-failed", result=result, reason=recent_errors() or "no reason given"
            )

    def _embedded(self, piece: _Piece, chunk: Any) -> npt.NDArray[np.float32]:
        """The image's embeddings, `tokens` x width: takes most of the time of an image, and cannot
        be interrupted."""
        key = piece.digest, piece.chunk
        known = self._kept.get(key)
        if known is None:
            result = mtmd.mtmd_encode_chunk(self._mtmd, chunk)
            if result != 0:
                reason = recent_errors() or "no reason given"
                raise EnvironmentProblem("llama-failed", result=result, reason=reason)
            found = mtmd.mtmd_get_output_embd(self._mtmd)
            known = np.ctypeslib.as_array(found, (piece.tokens * self._width,)).copy()
            self._kept[key] = known
        self._kept.move_to_end(key)
        while sum(kept.nbytes for kept in self._kept.values()) > _MOST_KEPT and len(self._kept) > 1:
            self._kept.popitem(last=False)
        return known


class _Chunks:
    """An image as mtmd's chunks of text and image, freed at the end of the `with` block."""

    def __init__(self, context: Any, pixels: Rgb) -> None:
        self._mtmd, self._pixels = context, pixels
        self._bitmap: Any = None
        self._list: Any = None

    def __enter__(self) -> _Chunks:
        pixels = self._pixels
        data = (ctypes.c_uint8 * len(pixels.data)).from_buffer_copy(pixels.data)
        self._bitmap = mtmd.mtmd_bitmap_init(pixels.width, pixels.height, data)
        self._list = mtmd.mtmd_input_chunks_init()
        text = mtmd.mtmd_input_text(_MEDIA, len(_MEDIA), False, True)
        bitmaps = (mtmd.mtmd_bitmap_p_ctypes * 1)(self._bitmap)
        result = mtmd.mtmd_tokenize(self._mtmd, self._list, ctypes.byref(text), bitmaps, 1)
        if result != 0:
            self.__exit__()
            raise EnvironmentProblem("image-not-readable")
        return self

    def __exit__(self, *_: object) -> None:
        mtmd.mtmd_input_chunks_free(self._list)
        mtmd.mtmd_bitmap_free(self._bitmap)

    def __len__(self) -> int:
        return int(mtmd.mtmd_input_chunks_size(self._list))

    def get(self, index: int) -> Any:
        return mtmd.mtmd_input_chunks_get(self._list, index)


def _open(projector: Path, model: Any, parameters: Any) -> Any:
    return mtmd.mtmd_init_from_file(path_bytes(projector), model, parameters)


def _text_ids(chunk: Any) -> list[int]:
    count = ctypes.c_size_t()
    ids = mtmd.mtmd_input_chunk_get_tokens_text(chunk, ctypes.byref(count))
    return [int(ids[index]) for index in range(count.value)] if ids else []
