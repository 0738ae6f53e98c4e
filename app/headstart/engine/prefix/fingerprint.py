"""Fingerprint of a model's weights, independent of their location; engine thread.

The size, the whole beginning (metadata and the first weights), the end, and samples in between:
hashing gigabytes would cost more than the prefixes save.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from headstart.core.files import open_regular
from headstart.core.models.split_files import parts

_BEGINNING = 8 << 20
_SAMPLES = 512
_SAMPLE = 4096


# for a folder: its weights, and the files that define their use
_FOLDER_FILES = ("*.safetensors", "config.json", "tokenizer.json")


def fingerprint(path: Path) -> bytes:
    """32-byte hash of a model's file, of all its parts, or of a folder; raises OSError."""
    files: Iterable[Path] = parts(path)
    if path.is_dir():
        files = sorted(file for form in _FOLDER_FILES for file in path.glob(form))
    elif files == (path,):
        return _of_file(path)
    digest = hashlib.blake2b(digest_size=32)
    for file in files:
        digest.update(file.name.encode() + b"\0" + _of_file(file))
    return digest.digest()


def _of_file(path: Path) -> bytes:
    digest = hashlib.blake2b(digest_size=32)
    with open_regular(path) as file:
        size = file.seek(0, 2)
        digest.update(size.to_bytes(8, "little"))
        file.seek(0)
        digest.update(file.read(_BEGINNING))
        last = size - _SAMPLE
        for index in range(1, _SAMPLES + 1):
            at = last * index // _SAMPLES
            if at >= _BEGINNING:
                file.seek(at)
                digest.update(file.read(_SAMPLE))
    return digest.digest()
