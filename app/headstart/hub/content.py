"""Content digest of a model, independent of its location: covers the size and samples of the bytes.

A tenth of a megabyte is read, so that hundreds of models are identified within a second. Two models
of one architecture and one size differ in every sample of their weights.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from headstart.core.files import open_regular
from headstart.core.models.split_files import parts

# the beginning, which holds the model's facts, and pieces spread over the rest
BEGINNING = 64 << 10
_SAMPLES, _SAMPLE = 8, 4096


def content_of(path: Path, beginning: bytes = b"") -> str:
    """32 hexadecimal digits; raises OSError. `beginning`: the first bytes, if already read."""
    digest = hashlib.blake2b(digest_size=16)
    if path.is_dir():
        for file in sorted(path.glob("*.safetensors")):
            _add(digest, file, b"")
        _add(digest, path / "config.json", b"")
    else:
        for number, file in enumerate(parts(path)):
            _add(digest, file, b"" if number else beginning)
    return digest.hexdigest()


def _add(digest: hashlib.blake2b, path: Path, beginning: bytes) -> None:
    with open_regular(path) as file:
        size = file.seek(0, 2)
        digest.update(size.to_bytes(8, "little"))
        if not beginning:
            file.seek(0)
            beginning = file.read(BEGINNING)
        digest.update(beginning)
        last = size - _SAMPLE
        for index in range(1, _SAMPLES + 1):
            at = last * index // _SAMPLES
            if at >= BEGINNING:
                file.seek(at)
                digest.update(file.read(_SAMPLE))
