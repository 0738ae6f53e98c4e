"""Where measured speeds are kept: the engine writes bytes under a key, storage keeps them."""

from __future__ import annotations

from typing import NamedTuple, Protocol


class ProfileKey(NamedTuple):
    """What a measurement belongs to; `draft` is empty for the target alone."""

    target: str
    draft: str
    device: str  # backend, threads and KV type: what else decides the speed


class Profiles(Protocol):
    """Called on the engine thread; trouble is logged and looks like a missing profile."""

    def load(self, key: ProfileKey) -> bytes | None: ...

    def save(self, key: ProfileKey, data: bytes) -> None: ...
