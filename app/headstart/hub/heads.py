"""Heads among installed files: facts in their headers about their target models. Worker and engine
threads."""

from __future__ import annotations

import contextlib
import functools
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from headstart.core.models.fit import ModelShape
from headstart.core.models.heads import OWN_GRAPHS, SEVERAL_LAYERS, HeadFacts, HeadKind
from headstart.core.models.ref import ModelRef
from headstart.core.models.split_files import parts
from headstart.hub.about import read_config
from headstart.hub.gguf import GgufHeader, as_count, read_header
from headstart.hub.head_config import of_config
from headstart.hub.shapes import read_shape

_TOKENS = "tokenizer.ggml.tokens"
# the target's layers whose inputs a head takes
TARGET_LAYERS = ("eagle3.target_layers", "dflash.target_layers")


def head_of(header: GgufHeader) -> HeadFacts | None:
    """Head in a file; None for other files, or an unsupported kind."""
    architecture, says = header.architecture, header.metadata
    vocabulary = header.lengths.get(_TOKENS, 0)
    width = as_count(says.get(f"{architecture}.embedding_length", 0))
    if architecture == "eagle3":
        target = as_count(says.get("eagle3.target_hidden_size", 0))
        return HeadFacts(HeadKind.EAGLE3, target or width, vocabulary, "", _taps(header))
    if architecture == "dflash":
        kind = HeadKind.DSPARK if header.has_pairs else HeadKind.DFLASH
        block = as_count(says.get("dflash.block_size", 0))
        return HeadFacts(kind, width, vocabulary, "", _taps(header), max(0, block - 1))
    if architecture == "gemma4-assistant":
        out = as_count(says.get(f"{architecture}.embedding_length_out", 0))
        return HeadFacts(HeadKind.ASSISTANT, out or width, vocabulary, "gemma4")
    if header.drafting and not header.has_trunk:
        return HeadFacts(HeadKind.LAYERS, width, vocabulary, architecture)
    return None


def _taps(header: GgufHeader) -> tuple[int, ...]:
    found = header.arrays.get(f"{header.architecture}.target_layers", ())
    return tuple(as_count(layer) for layer in found)


def read_head(model: ModelRef) -> HeadFacts | None:
    """Read a file's or folder's head; None if it has none. Raises ModelProblem, OSError."""
    if model.format == "mlx":
        return of_config(read_config(model.path))
    status = model.path.stat()
    return _read(model, status.st_size, status.st_mtime_ns)


def head_shape(model: ModelRef) -> ModelShape:
    """Facts that decide its memory. Raises ModelProblem, OSError."""
    # a folder's memory is its weights; its one layer's keys and values are not counted
    return ModelShape(model.size, 0) if model.format == "mlx" else read_shape(model)


@functools.lru_cache(maxsize=64)
def _read(model: ModelRef, _size: int, _changed: int) -> HeadFacts | None:
    return head_of(read_header(model.path, TARGET_LAYERS))


class OwnLayers(Struct, frozen=True):
    """Drafting layers in a model's own file. `told`: the number announced in the header; only
    layers with tensors are usable."""

    there: int
    told: int
    architecture: str

    @property
    def usable(self) -> bool:
        """True if llama.cpp can run them: it ends the process on more layers than a graph
        supports."""
        several = self.there == 1 or self.architecture in SEVERAL_LAYERS
        return self.there > 0 and several and self.architecture in OWN_GRAPHS


def own_layers(model: ModelRef) -> OwnLayers:
    """Raises ModelProblem, OSError. Cached until the files change: it is called at each reply."""
    if model.format != "gguf":
        return OwnLayers(0, 0, "")
    files = parts(model.path)
    states: tuple[tuple[int, int], ...] = ()
    # the reader reports a missing file
    with contextlib.suppress(OSError):
        states = tuple(_state(file) for file in files)
    return _own_layers(files, states)


def _state(file: Path) -> tuple[int, int]:
    status = file.stat()
    return status.st_size, status.st_mtime_ns


@functools.lru_cache(maxsize=64)
def _own_layers(files: tuple[Path, ...], _states: tuple[tuple[int, int], ...]) -> OwnLayers:
    headers = [read_header(part) for part in files]
    first = headers[0]
    told = as_count(first.metadata.get(f"{first.architecture}.nextn_predict_layers", 0))
    found = OwnLayers(sum(len(one.drafting) for one in headers), told, first.architecture)
    trunk = any(one.has_trunk for one in headers)
    # llama.cpp refuses a file with only some of its layers
    return found if trunk and found.there == told else replace(found, there=0)
