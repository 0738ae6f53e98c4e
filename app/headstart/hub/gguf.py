"""Reads the header of a GGUF file: metadata without long arrays, and a check of completeness.

Format: the GGUF specification, versions 2 and 3 (little-endian). Reading takes milliseconds,
because the contents of arrays are skipped; nothing in the file is trusted.
"""

from __future__ import annotations

import contextlib
import io
import stat
import struct
from collections.abc import Container
from pathlib import Path
from typing import Any, BinaryIO

from msgspec import Struct, field

from headstart.core.errors import ModelProblem
from headstart.core.files import open_regular

MAGIC = b"GGUF"
_ARRAY, _STRING = 9, 8
# value type -> struct format
_SCALARS = {
    0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d",
}  # fmt: skip
# ggml type -> (elements in a block, bytes of a block); types missing here are not checked
_TYPES = {
    0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34),
    9: (32, 36), 10: (256, 84), 11: (256, 110), 12: (256, 144), 13: (256, 176), 14: (256, 210),
    15: (256, 292), 16: (256, 66), 17: (256, 74), 18: (256, 98), 19: (256, 50), 20: (32, 18),
    21: (256, 110), 22: (256, 82), 23: (256, 136), 24: (1, 1), 25: (1, 2), 26: (1, 4), 27: (1, 8),
    28: (1, 8), 29: (256, 56), 30: (1, 2), 34: (256, 54), 35: (256, 66), 39: (32, 17),
}  # fmt: skip
_FOREIGN = (
    (b"\x89PNG", "file-is-picture"),
    (b"\xff\xd8\xff", "file-is-picture"),
    (b"PK\x03\x04", "file-is-archive"),
    (b"%PDF", "file-is-document"),
    (b"version https://git-lfs", "file-is-pointer"),
    (b"<!DOCTYPE", "file-is-page"),
    (b"<html", "file-is-page"),
    # little-endian magic numbers: the letters are stored in reverse
    *((magic[::-1], "file-is-old-model")
      for magic in (b"ggjt", b"ggml", b"ggmf", b"ggla")),
)  # fmt: skip
# highest plausible version; a larger number is damage
_NEWEST = 100
_LIMIT = 1 << 31  # no count or length in a sound header comes near this
_KEPT_STRING = 1 << 20
_PIECE = 1 << 16  # bytes of a file at once
_LENGTH = struct.Struct("<Q").unpack_from
_LONGEST_ARRAY = 2_000_000
_MOST_COUNT = 1_000_000
_TOKENS = "tokenizer.ggml.tokens"
# the matrix that every drafting layer has, and no other (MTP, NextN)
_JOINS = "nextn.eh_proj."
# the tensor by which a block-drafting head uses the previous token (DSpark)
_PAIRS = "markov_w1.weight"
_LONGEST_NUMBER = 6


class GgufHeader(Struct, frozen=True):
    """Header of a file; `metadata` holds the scalars and strings, not the arrays."""

    version: int
    metadata: dict[str, str | int | float | bool]
    tensors: int
    # bytes of this file, and of its tensors
    expected_size: int
    weights: int
    # bytes of the repeated layers among them
    layer_weights: int
    # requested arrays, by key
    arrays: dict[str, list[Any]] = field(default_factory=dict)
    # lengths of all arrays
    lengths: dict[str, int] = field(default_factory=dict)
    # bytes of each drafting layer, by its number; and whether there are other layers
    drafting: dict[int, int] = field(default_factory=dict)
    has_trunk: bool = False
    # whether each token of a block is drafted from the previous one
    has_pairs: bool = False

    @property
    def architecture(self) -> str:
        return str(self.metadata.get("general.architecture", ""))


def as_count(value: object) -> int:
    """A header's number as a count; 0 for an invalid one."""
    return int(value) if isinstance(value, int | float) and 0 <= value < _LIMIT else 0


class _Torn(Exception):
    pass


# errors of reading a damaged header
class _OtherVersion(Exception):
    """A sound file of an unsupported version, which is in `args`."""


_BROKEN = (_Torn, struct.error, ValueError, OverflowError, MemoryError, RecursionError)


def read_header(path: Path, arrays: Container[str] = ()) -> GgufHeader:
    """The header of `path`; raises ModelProblem with the fault and a remedy.

    Keeps only the arrays named in `arrays`, with their strings as bytes. `model_files` judges
    whether the file is a model or a part of one.
    """
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise ModelProblem("is-a-folder", name=path.name)
        if not stat.S_ISREG(status.st_mode):
            raise ModelProblem("not-a-file", name=path.name)
        size = status.st_size
        with io.BufferedReader(open_regular(path)) as file:
            header = parse(file, path.name, size, arrays)
    except FileNotFoundError as error:
        raise ModelProblem("model-file-gone", path=path) from error
    except OSError as error:
        raise ModelProblem(
            "model-file-unreadable", path=path, reason=error.strerror or error
        ) from error
    if header.expected_size > size:
        raise ModelProblem(
            "file-incomplete",
            name=path.name,
            size=size,
            other_size=header.expected_size,
        )
    return header


def peek(data: bytes, name: str, wanted: Container[str] = ()) -> GgufHeader:
    """Facts from the first bytes of a file: its kind, but not its vocabulary and tensors
    (`expected_size` and `weights` are 0). `wanted` as for `read_header`. Raises ModelProblem."""
    if data[:4] != MAGIC:
        raise _not_gguf(name, data[:64])
    file = io.BytesIO(data)
    file.seek(4)
    said = _Said()
    try:
        version, tensors, pairs = _counts(file)
        with contextlib.suppress(_Torn):
            # the data may end here; the part after thousands of strings is not worth the time
            said.read(file, pairs, wanted, last=_TOKENS)
    except _OtherVersion as error:
        raise _of_version(error, name) from error
    except _BROKEN as error:
        raise ModelProblem("header-damaged", name=name, size=len(data)) from error
    return GgufHeader(version, said.metadata, tensors, 0, 0, 0, said.arrays, said.lengths)


def parse(file: BinaryIO, name: str, size: int, arrays: Container[str] = ()) -> GgufHeader:
    """The header of a file from any source of its bytes; `size` of the whole file. Raises
    ModelProblem."""
    start = file.read(64)
    if start[:4] != MAGIC:
        raise _not_gguf(name, start)
    file.seek(4)
    try:
        return _read(file, arrays)
    except _OtherVersion as error:
        raise _of_version(error, name) from error
    except _BROKEN as error:
        raise ModelProblem("header-damaged", name=name, size=size) from error


def _of_version(error: _OtherVersion, name: str) -> ModelProblem:
    (version,) = error.args
    if version >= _NEWEST:
        return ModelProblem("file-big-endian", name=name)
    return ModelProblem(
        "file-older-version" if version == 1 else "file-newer-version", name=name, version=version
    )


def _not_gguf(name: str, start: bytes) -> ModelProblem:
    if not start:
        return ModelProblem("file-empty", name=name)
    for magic, code in _FOREIGN:
        if start.startswith(magic):
            return ModelProblem(code, name=name)
    if len(start) > 9 and start[8:9] == b"{":
        return ModelProblem("safetensors-alone", name=name)
    return ModelProblem("file-not-gguf", name=name)


def _counts(file: BinaryIO) -> tuple[int, int, int]:
    """The version, and the numbers of tensors and of key-value pairs."""
    (version,) = _unpack(file, "I")
    # in the other byte order a small number becomes a large one
    if version == 1 or 3 < version < _NEWEST or (version and not version & 0xFFFF):
        raise _OtherVersion(version)
    if version not in (2, 3):
        raise _Torn(f"version {version}")
    tensors, pairs = _unpack(file, "QQ")
    if tensors > _MOST_COUNT or pairs > _MOST_COUNT:
        raise _Torn("counts")
    return version, tensors, pairs


class _Said(Struct):
    """Key-value pairs of a header; those before an error stay."""

    metadata: dict[str, str | int | float | bool] = field(default_factory=dict)
    arrays: dict[str, list[Any]] = field(default_factory=dict)
    lengths: dict[str, int] = field(default_factory=dict)

    def read(self, file: BinaryIO, pairs: int, wanted: Container[str], last: str = "") -> None:
        """Read up to the array called `last`, of which only the length is read."""
        for _ in range(pairs):
            key = _string(file)
            (kind,) = _unpack(file, "I")
            if kind == _ARRAY:
                at = file.tell()
                self.lengths[key] = _unpack(file, "IQ")[1]
                file.seek(at)
                if key == last:
                    return
                if key in wanted:
                    self.arrays[key] = _array(file)
                else:
                    _skip_array(file)
            elif kind == _STRING:
                self.metadata[key] = _string(file, errors="replace")
            else:
                (self.metadata[key],) = _unpack(file, _format(kind))


def _read(file: BinaryIO, wanted: Container[str]) -> GgufHeader:
    version, tensors, pairs = _counts(file)
    said = _Said()
    said.read(file, pairs, wanted)
    end = weights = layer_weights = 0
    by_layer: dict[int, int] = {}
    drafting: set[int] = set()
    has_pairs = False
    for _ in range(tensors):
        name = _string(file)
        (dimensions,) = _unpack(file, "I")
        if dimensions > 8:
            raise _Torn("dimensions")
        shape = _unpack(file, f"{dimensions}Q")
        kind, offset = _unpack(file, "IQ")
        size = _tensor_bytes(kind, shape)
        end, weights = max(end, offset + size), weights + size
        has_pairs = has_pairs or name == _PAIRS
        if name.startswith("blk."):
            layer_weights += size
            _, layer, rest = (*name.split(".", 2), "", "")[:3]
            if layer.isdecimal() and len(layer) < _LONGEST_NUMBER:
                by_layer[int(layer)] = by_layer.get(int(layer), 0) + size
                if rest.startswith(_JOINS):
                    drafting.add(int(layer))
    alignment = said.metadata.get("general.alignment", 32)
    if not isinstance(alignment, int) or alignment <= 0:
        raise _Torn("alignment")
    data = -(-file.tell() // alignment) * alignment
    whole = data + end if tensors else 0
    return GgufHeader(
        version,
        said.metadata,
        tensors,
        whole,
        weights,
        layer_weights,
        said.arrays,
        said.lengths,
        {layer: by_layer[layer] for layer in sorted(drafting)},
        any(layer not in drafting for layer in by_layer),
        has_pairs,
    )


def _tensor_bytes(kind: int, shape: tuple[int, ...]) -> int:
    block, size = _TYPES.get(kind, (1, 0))
    elements = 1
    for dimension in shape:
        elements *= dimension
    return elements // block * size


def _unpack(file: BinaryIO, fmt: str) -> tuple[int, ...]:
    size = struct.calcsize("<" + fmt)
    data = file.read(size)
    if len(data) < size:
        raise _Torn("end of file")
    return struct.unpack("<" + fmt, data)


def _format(kind: int) -> str:
    if kind not in _SCALARS:
        raise _Torn(f"value type {kind}")
    return _SCALARS[kind]


def _string(file: BinaryIO, errors: str = "strict") -> str:
    (length,) = _unpack(file, "Q")
    if length > _KEPT_STRING * 16:
        raise _Torn("string length")
    data = file.read(length)
    if len(data) < length:
        raise _Torn("end of file")
    return data.decode("utf-8", errors)


def _array(file: BinaryIO) -> list[Any]:
    kind, count = _unpack(file, "IQ")
    if count > _LONGEST_ARRAY:
        raise _Torn("array length")
    if kind == _STRING:
        return _strings(file, count, _KEPT_STRING)
    if kind == _ARRAY:
        return [_array(file) for _ in range(count)]
    return list(_unpack(file, f"{count}{_format(kind)}"))


def _skip_array(file: BinaryIO) -> None:
    kind, count = _unpack(file, "IQ")
    if count > _LIMIT:
        raise _Torn("array length")
    if kind == _STRING:
        _skip_strings(file, count)
    elif kind == _ARRAY:
        for _ in range(count):
            _skip_array(file)
    else:
        file.seek(count * struct.calcsize("<" + _format(kind)), 1)


def _strings(file: BinaryIO, count: int, longest: int) -> list[bytes]:
    """The next `count` strings; vocabularies have 250,000, so the file is read in large pieces."""
    texts: list[bytes] = []
    data, at = b"", 0
    for _ in range(count):
        if at + 8 > len(data):
            data, at = data[at:] + file.read(_PIECE), 0
            if len(data) < 8:
                raise _Torn("end of file")
        (length,) = _LENGTH(data, at)
        if length > longest:
            raise _Torn("string length")
        begin, at = at + 8, at + 8 + length
        if at > len(data):
            data += file.read(max(at - len(data), _PIECE))
            if at > len(data):
                raise _Torn("end of file")
        texts.append(data[begin:at])
    file.seek(at - len(data), 1)
    return texts


def _skip_strings(file: BinaryIO, count: int) -> None:
    data, at, size, length_at = b"", 0, 0, _LENGTH
    for _ in range(count):
        if at + 8 > size:
            # skip the unread rest of a long string
            file.seek(max(at - size, 0), 1)
            data, at = data[at:] + file.read(_PIECE), 0
            size = len(data)
            if size < 8:
                raise _Torn("end of file")
        (length,) = length_at(data, at)
        if length > _LIMIT:
            raise _Torn("string length")
        at += 8 + length
    file.seek(at - size, 1)
