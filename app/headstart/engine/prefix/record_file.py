"""One record as a file: header, tokens, sizes, bytes, with one checksum over all of it.

Written to a temporary file, synced and renamed; a torn, short, altered or foreign file, or one of
another version, is refused when read. Any thread.
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import os
import struct
import sys
from collections.abc import Callable, Sequence
from io import FileIO
from pathlib import Path

import xxhash
from msgspec import Struct

from headstart.core import patient
from headstart.core.c_library import c_library
from headstart.core.files import PARTIAL
from headstart.core.prefixes import TOKEN_BYTES, RecordInfo, RecordKind
from headstart.engine.decoder import Blob
from headstart.engine.prefix.keys import record_key
from headstart.engine.stop import NEVER, StopSignal

MAGIC = b"HSKV"
VERSION = 1
SUFFIX = ".kv"

# magic, version, kind, checksum | namespace, parent, key, start, tokens, tokens a part, parts
_HEAD = struct.Struct("<4sHHQ")
_BODY = struct.Struct("<32s32s32sIIII")
_KINDS = {RecordKind.RANGE: 1, RecordKind.SNAPSHOT: 2}
# more than any real record has: a damaged count must not allocate all memory
_MOST_PARTS = 4096
# hashed pieces fit the processor's cache
_BLOCK = 1 << 19
# Linux: read all pages of a mapping now
_POPULATE_READ = 22
# Windows cannot remove a mapped file
_MAPS = sys.platform != "win32"


class RecordDamaged(Exception):
    """The file is not the expected record."""


class WriteAbandoned(Exception):
    """The app is closing and does not wait for this file."""


class Payload(Struct, frozen=True):
    """The bytes of a record: one part per `tokens_each` tokens (the last may have fewer)."""

    parts: tuple[Blob, ...]
    tokens_each: int

    @property
    def size(self) -> int:
        return sum(len(part) for part in self.parts)


def file_size(tokens: bytes, payload: Payload) -> int:
    return _HEAD.size + _BODY.size + len(tokens) + 8 * len(payload.parts) + payload.size


def write(
    path: Path,
    info: RecordInfo,
    payload: Payload,
    stop: StopSignal = NEVER,
) -> None:
    """Write the file; raises OSError or WriteAbandoned, leaving no file behind."""
    sizes = struct.pack(f"<{len(payload.parts)}Q", *(len(part) for part in payload.parts))
    body = _BODY.pack(
        info.namespace,
        info.parent,
        info.key,
        info.start,
        info.length,
        payload.tokens_each,
        len(payload.parts),
    )
    checksum = xxhash.xxh3_64(body + info.tokens + sizes)
    for part in payload.parts:
        checksum.update(part.data)
    head = _HEAD.pack(MAGIC, VERSION, _KINDS[info.kind], checksum.intdigest())
    partial = path.with_suffix(PARTIAL)
    try:
        with partial.open("wb") as file:
            file.write(head + body + info.tokens + sizes)
            for part in payload.parts:
                if stop.stopped:
                    raise WriteAbandoned
                file.write(part.data)
            file.flush()
            os.fsync(file.fileno())
        patient.replace(partial, path)
    except BaseException:
        patient.remove(partial)
        raise


def read(path: Path, info: RecordInfo, keep: bool = True) -> Payload:
    """The bytes of `info`; raises RecordDamaged for anything else, OSError if there is no file.

    With `keep` they get their own memory; else they stay in the system's cache.
    """
    import numpy as np

    with path.open("rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        if size != info.size or size < _HEAD.size + _BODY.size:
            raise RecordDamaged(f"{size} bytes instead of {info.size}")
        data = None if keep or not _MAPS else _populated(file, size)
        if data is not None:
            head = data[: _HEAD.size].tobytes()
            found = xxhash.xxh3_64_intdigest(data[_HEAD.size :].data)
        else:
            own = np.empty(size, np.uint8) if keep or not _MAPS else None
            # a mapped file is read completely first: a failing disk raises an error, not a signal
            head, found = _hashed(file, size, None if own is None else own.data)
            data = own if own is not None else np.frombuffer(_mapped(file, size), np.uint8)
    magic, version, kind, checksum = _HEAD.unpack(head)
    if magic != MAGIC or version != VERSION or kind != _KINDS[info.kind]:
        raise RecordDamaged("not a record of this version and kind")
    if found != checksum:
        raise RecordDamaged("the checksum is another one")
    return _parse(data, info)


def _hashed(file: FileIO, size: int, into: memoryview | None) -> tuple[bytes, int]:
    """A file's head, and the checksum of the rest; the bytes go to `into` unless it is None."""
    room = memoryview(bytearray(min(_BLOCK, size))) if into is None else into
    head, hasher, at = b"", xxhash.xxh3_64(), 0
    while at < size:
        wanted = _HEAD.size - at if at < _HEAD.size else min(_BLOCK, size - at)
        start = 0 if into is None else at
        part = room[start : start + wanted]
        count = file.readinto(part)
        if not count:
            raise RecordDamaged("the file ends too early")
        if at < _HEAD.size:
            head += bytes(part[:count])
        else:
            hasher.update(part[:count])
        at += count
    return head, hasher.intdigest()


def _populated(file: FileIO, size: int) -> Blob | None:
    """A mapped file whose pages are all in memory, read once; None where the system cannot do so.

    `MADV_POPULATE_READ` (Linux 5.14) tells of a failing disk by an error, where touching a page
    would end the program. `ctypes` releases the interpreter's lock during the call; `mmap.madvise`
    would hold it while the disk is read.
    """
    import numpy as np

    madvise = _madvise()
    if madvise is None:
        return None
    mapped = mmap.mmap(file.fileno(), size, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ)
    data: Blob = np.frombuffer(mapped, np.uint8)
    if madvise(data.ctypes.data, size, _POPULATE_READ):
        return None
    return data


@functools.cache
def _madvise() -> Callable[[int, int, int], int] | None:
    """The C library's `madvise`: an address, bytes and an advice; not 0 is an error."""
    if sys.platform != "linux":
        return None
    try:
        call = c_library().madvise
    except (OSError, AttributeError):
        return None
    call.argtypes, call.restype = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int], ctypes.c_int
    advise: Callable[[int, int, int], int] = call
    return advise


def _mapped(file: FileIO, size: int) -> mmap.mmap:
    if sys.platform == "linux":
        # one call instead of a page fault for every few pages
        flags = mmap.MAP_PRIVATE | mmap.MAP_POPULATE
        return mmap.mmap(file.fileno(), size, flags=flags, prot=mmap.PROT_READ)
    return mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ)


def _parse(data: Blob, info: RecordInfo) -> Payload:
    namespace, parent, key, start, length, each, parts = _BODY.unpack_from(data.data, _HEAD.size)
    at = _HEAD.size + _BODY.size
    tokens = data[at : at + length * TOKEN_BYTES].tobytes()
    if (namespace, parent, key, start, tokens) != (
        info.namespace,
        info.parent,
        info.key,
        info.start,
        info.tokens,
    ) or record_key(info.kind, parent, tokens) != key:
        raise RecordDamaged("it is another record")
    at += len(tokens)
    if not 0 < parts <= _MOST_PARTS or at + 8 * parts > len(data) or not each:
        raise RecordDamaged("its parts cannot be")
    sizes: Sequence[int] = struct.unpack_from(f"<{parts}Q", data.data, at)
    at += 8 * parts
    if at + sum(sizes) != len(data):
        raise RecordDamaged("its parts do not add up")
    blobs = []
    for size in sizes:
        blobs.append(data[at : at + size])
        at += size
    return Payload(tuple(blobs), each)
