"""Where measured speeds are kept: the engine writes bytes under a key, storage keeps them."""

from __future__ import annotations

from typing import NamedTuple, Protocol, TypeVar

from msgspec import MsgspecError, json

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


T = TypeVar("T")


def recall(profiles: Profiles | None, key: ProfileKey, kind: type[T]) -> T | None:
    """The remembered value; None where there is none that can be read."""
    data = None if profiles is None else profiles.load(key)
    if data is None:
        return None
    try:
        return json.decode(data, type=kind)
    except MsgspecError:
        # of another version: it is measured once more
        return None


def remember(profiles: Profiles | None, key: ProfileKey, value: object) -> None:
    if profiles is not None:
        profiles.save(key, json.encode(value))
