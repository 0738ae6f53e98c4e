"""Measured speeds: the engine writes bytes under a key, storage keeps them."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple, Protocol, TypeVar

from msgspec import MsgspecError, json


class ProfileKind(StrEnum):
    """The content of a measurement. RECYCLED holds candidates after tokens (see `Recycling`), which
    derive from the text of chats and are removed when one of them is deleted."""

    SPEED = "speed"
    TUNING = "tuning"
    HEAD = "head"
    IMAGES = "images"
    EXACT = "exact"
    PREFIX = "prefix"
    RECYCLED = "recycled"


class ProfileKey(NamedTuple):
    """The subject of a measurement; `draft` is empty for the target alone."""

    target: str
    draft: str
    device: str  # backend, threads and KV type: everything else that decides the speed
    kind: ProfileKind = ProfileKind.SPEED


class Profiles(Protocol):
    """Called on the engine thread; errors are logged and look like a missing profile."""

    def load(self, key: ProfileKey) -> bytes | None: ...

    def save(self, key: ProfileKey, data: bytes) -> None: ...


T = TypeVar("T")


def recall(profiles: Profiles | None, key: ProfileKey, kind: type[T]) -> T | None:
    """The stored value; None if there is none that can be decoded."""
    data = None if profiles is None else profiles.load(key)
    if data is None:
        return None
    try:
        return json.decode(data, type=kind)
    except MsgspecError:
        # from another version: it is measured again
        return None


def remember(profiles: Profiles | None, key: ProfileKey, value: object) -> None:
    if profiles is not None:
        profiles.save(key, json.encode(value))
