"""The events of a stream as plain dictionaries, whatever the client made of them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def fields_of(value: Any) -> Mapping[str, Any]:
    """The fields of a part of an event; none of something that is no such part."""
    if isinstance(value, dict):
        return value
    extra = getattr(value, "model_extra", None)
    own = getattr(value, "__dict__", None)
    return {**own, **(extra or {})} if isinstance(own, dict) else {}


def plain_stats(event: Mapping[str, Any]) -> Mapping[str, Any]:
    """Figures as dictionaries: the client makes objects of those that it knows."""
    found = {}
    for name in ("usage", "timings", "stats"):
        value = event.get(name)
        dump = getattr(value, "model_dump", None)
        found[name] = dump() if dump is not None else value
    return found
