"""Converts the client's objects for stream events to plain dictionaries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headstart.core.servers import Connection
from headstart.core.strange_json import decoded
from headstart.engine.remote import problems


def fields_of(value: Any) -> Mapping[str, Any]:
    """The fields of a part of an event; empty for any other value."""
    if isinstance(value, dict):
        return value
    extra = getattr(value, "model_extra", None)
    own = getattr(value, "__dict__", None)
    return {**own, **(extra or {})} if isinstance(own, dict) else {}


def plain_stats(event: Mapping[str, Any]) -> Mapping[str, Any]:
    """Stats as dictionaries: the client makes objects of those that it knows."""
    found = {}
    for name in ("usage", "timings", "stats"):
        value = event.get(name)
        dump = getattr(value, "model_dump", None)
        found[name] = dump() if dump is not None else value
    return found


async def whole_reply(response: Any, kind: str, connection: Connection) -> Mapping[str, Any]:
    """A reply sent in one piece instead of a stream. Raises ServerProblem, ValueError."""
    if "json" not in kind:
        raise problems.foreign(connection, kind.partition(";")[0])
    body = bytearray()
    async for part in response.aiter_bytes():
        body += part
    answer = decoded(body)
    if not isinstance(answer, dict) or not isinstance(answer.get("choices"), list):
        raise problems.foreign(connection)
    return answer
