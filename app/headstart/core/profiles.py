"""Where measured speeds are kept: the engine writes bytes under a key, storage keeps them."""

from __future__ import annotations

from typing import NamedTuple, Protocol

# in the place of a draft: what a target thought likely after which tokens (see `Recycling`). It is
# made of the text of chats, and goes when one of them is deleted
RECYCLED = "(recycled)"


class ProfileKey(NamedTuple):
    """What a measurement belongs to; `draft` is empty for the target alone."""

    target: str
    draft: str
    device: str  # backend, threads and KV type: what else decides the speed


class Profiles(Protocol):
    """Called on the engine thread; trouble is logged and looks like a missing profile."""

    def load(self, key: ProfileKey) -> bytes | None: ...

    def save(self, key: ProfileKey, data: bytes) -> None: ...
