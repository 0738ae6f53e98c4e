"""Content addresses of KV state; pure.

A record's key is a hash of its parent's key and its own tokens, so that equal text under equal
conditions has one record, in whichever chat of an audience, and different text has different
records.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Sequence

from headstart.core.audiences import WINDOW
from headstart.core.prefixes import TOKEN_BYTES, RecordKind

# incremented when the meaning of keys or files changes: all earlier records become misses
LAYOUT = b"headstart prefix 1"


def namespace(weights: bytes, state: str, chunk: int) -> bytes:
    """A hash of everything that affects KV bytes: weights, library, types, layout."""
    parts = (LAYOUT, weights, state.encode(), str(chunk).encode())
    return hashlib.sha256(b"\0".join(parts)).digest()


def of_audience(namespace_id: bytes, name: str) -> bytes:
    """The namespace of an audience's records: equal text of two audiences has two records, so that
    neither the presence of one nor the time since its last use tells the other anything."""
    if name == WINDOW.name:
        return namespace_id
    return hashlib.sha256(b"\0".join((LAYOUT, namespace_id, name.encode()))).digest()


def root(namespace_id: bytes) -> bytes:
    """The parent key of records at the start of a text."""
    return hashlib.sha256(LAYOUT + namespace_id).digest()


def record_key(kind: RecordKind, parent: bytes, tokens: bytes) -> bytes:
    return hashlib.sha256(kind.encode() + parent + tokens).digest()


def pack(tokens: Sequence[int]) -> bytes:
    return array("i", tokens).tobytes()


def unpack(tokens: bytes) -> list[int]:
    return array("i", tokens).tolist()


def chain(namespace_id: bytes, tokens: bytes, chunk: int) -> list[bytes]:
    """The root and the key of each whole chunk of `tokens`, in order."""
    keys, step = [root(namespace_id)], chunk * TOKEN_BYTES
    for start in range(0, len(tokens) - step + 1, step):
        keys.append(record_key(RecordKind.RANGE, keys[-1], tokens[start : start + step]))
    return keys


def common_tokens(left: bytes, right: bytes) -> int:
    """Number of equal packed tokens at the beginning."""
    length = min(len(left), len(right))
    if left[:length] == right[:length]:
        return length // TOKEN_BYTES
    same, differs = 0, length // TOKEN_BYTES
    while differs - same > 1:
        half = (same + differs) // 2
        if left[: half * TOKEN_BYTES] == right[: half * TOKEN_BYTES]:
            same = half
        else:
            differs = half
    return same
