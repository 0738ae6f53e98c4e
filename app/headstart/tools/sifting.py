"""Answers of a tool server, entry by entry, before the library looks at whole lists: one odd entry
costs itself, not the server. In the child; pure.

The library checks an answer as a whole and raises for the first odd value. Here each entry of a
list is checked alone against the library's own types: an odd value that may be missing is taken
away, an entry without which nothing works is left out, and both are told with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, get_args

import mcp_types as types
from mcp_types import methods
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import BaseModel, TypeAdapter, ValidationError

from headstart.core.schema_bounds import excess_of
from headstart.core.told import Told, told

Tell = Callable[[Told], None]
Entry = dict[str, Any]
# lists by the method that asks for them, and what names one of their entries
_LISTS = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}
_PARTS = {"tools/call": "content", "prompts/get": "messages", "resources/read": "contents"}
_NEEDED = frozenset(("name", "inputSchema", "uri", "uriTemplate"))
_NAMES = ("name", "title", "uri", "uriTemplate")
# parts of one result, and arguments of a prompt
_MOST_PARTS, _MOST_ARGUMENTS = 2_000, 100
_UNKNOWN = "2025-11-25"
_LEFT_OUT = "[A part of the result cannot be read and was left out.]"


class UnreadableAnswer(ValueError):
    """Nothing of an answer is as the protocol wants it."""


def sift(method: str, version: str, result: Entry, tell: Tell) -> Entry:
    """The result of a request, such that the library takes it; `tell` is given what is left out.
    Raises UnreadableAnswer."""
    if method == "initialize":
        return _introduction(result)
    if method in _LISTS:
        return _listed(method, version or _UNKNOWN, result, tell)
    if method in _PARTS and result.get("resultType") in (None, "complete"):
        return _parts(method, version or _UNKNOWN, result)
    return result


# --- lists -------------------------------------------------------------------------------


def _listed(method: str, version: str, result: Entry, tell: Tell) -> Entry:
    field = _LISTS[method]
    given = result.get(field)
    if not isinstance(given, list):
        tell(told("tool-list-unreadable", list=field))
        given = []
    entries = []
    for one in given:
        entry = _entry(method, version, one, tell)
        if entry is not None:
            entries.append(entry)
    cursor = result.get("nextCursor")
    found: Entry = {field: entries}
    if isinstance(cursor, str):
        found["nextCursor"] = cursor
    return {**found, **_of_age(version, result)}


def _entry(method: str, version: str, given: object, tell: Tell) -> Entry | None:
    """The entry without its odd values; None for one that nothing can use."""
    field = _LISTS[method]
    name = _name_of(given)
    if not isinstance(given, dict) or not name:
        tell(told("tool-entry-unnamed", list=field))
        return None
    entry = dict(given)
    if method == "tools/list":
        # results are shown as they are; the library would check them with the server's patterns
        entry.pop("outputSchema", None)
        schema = entry.get("inputSchema")
        if excess_of(schema) is not None:
            # it would be left out later, but on Windows the library itself ends at 150 levels
            tell(told("tool-entry-odd", name=name, list=field, field="inputSchema"))
            return None
        if isinstance(schema, dict):
            # an object in any case: arguments are one
            entry["inputSchema"] = {**schema, "type": schema.get("type", "object")}
    if method == "prompts/list" and isinstance(entry.get("arguments"), list):
        kept = [one for one in entry["arguments"] if _fits(types.PromptArgument, one)]
        if len(kept) < len(entry["arguments"]) or len(kept) > _MOST_ARGUMENTS:
            tell(told("tool-entry-field", name=name, list=field, field="arguments"))
        entry["arguments"] = kept[:_MOST_ARGUMENTS]
    for kind in _kinds(method, version):
        odd = _odd_fields(kind, entry)
        needed = sorted(odd & _NEEDED) or ([] if odd <= entry.keys() else sorted(odd))
        if needed:
            tell(told("tool-entry-odd", name=name, list=field, field=needed[0]))
            return None
        for key in sorted(odd):
            tell(told("tool-entry-field", name=name, list=field, field=key))
            del entry[key]
        if odd and _odd_fields(kind, entry):
            tell(told("tool-entry-odd", name=name, list=field, field=min(odd)))
            return None
    return entry


def _name_of(given: object) -> str:
    """A text by which people know an entry; "" for none."""
    if not isinstance(given, dict):
        return ""
    found = (given[key] for key in _NAMES if isinstance(given.get(key), str) and given[key])
    return str(next(found, ""))[:200]


@cache
def _kinds(method: str, version: str) -> tuple[type[BaseModel], ...]:
    """The library's types of an entry: that of every age, and that of this version."""
    kinds: dict[str, type[BaseModel]] = {
        "tools/list": types.Tool,
        "prompts/list": types.Prompt,
        "resources/list": types.Resource,
        "resources/templates/list": types.ResourceTemplate,
    }
    every = kinds[method]
    own = _member(method, version, _LISTS[method])
    return (every,) if own is None else (every, own)


@cache
def _member(method: str, version: str, field: str) -> Any:
    """The type of one entry of a list in the results of this version; None for an unknown one."""
    row = methods.SERVER_RESULTS.get((method, version))
    for kind in get_args(row) or (row,):
        for name, one in getattr(kind, "model_fields", {}).items():
            if field in (name, one.alias):
                return next(iter(get_args(one.annotation)), None)
    return None


def _odd_fields(kind: type[BaseModel], entry: Entry) -> set[str]:
    try:
        kind.model_validate(entry, by_name=False)
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False, include_input=False)
        return {str(one["loc"][0]) if one["loc"] else "" for one in found}
    return set()


def _fits(kind: Any, value: object) -> bool:
    try:
        _adapter(kind).validate_python(value, by_name=False)
    except ValidationError:
        return False
    return True


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def _of_age(version: str, result: Mapping[str, Any]) -> Entry:
    """The fields that every result of the newer age needs beside its list."""
    if version not in MODERN_PROTOCOL_VERSIONS:
        return {}
    ttl, scope = result.get("ttlMs"), result.get("cacheScope")
    sound = isinstance(ttl, int) and not isinstance(ttl, bool) and 0 <= ttl < 1 << 53
    return {
        "resultType": "complete",
        "ttlMs": ttl if sound else 0,
        "cacheScope": scope if scope in ("private", "public") else "private",
    }


# --- results -----------------------------------------------------------------------------


def _parts(method: str, version: str, result: Entry) -> Entry:
    """A result whose odd parts are left out. Raises UnreadableAnswer if nothing else is there."""
    field = _PARTS[method]
    given = result.get(field)
    if isinstance(given, str):
        given = [{"type": "text", "text": given}]
    parts = given if isinstance(given, list) else []
    kind = _member(method, version, field)
    every = {
        "tools/call": types.ContentBlock,
        "prompts/get": types.PromptMessage,
        "resources/read": types.TextResourceContents | types.BlobResourceContents,
    }[method]
    kept = [
        one
        for one in parts[:_MOST_PARTS]
        if _fits(every, one) and (kind is None or _fits(kind, one))
    ]
    found = {**result, field: kept}
    if method != "tools/call":
        if parts and not kept:
            raise UnreadableAnswer
        if not isinstance(found.get("description", ""), str):
            del found["description"]
    else:
        if len(kept) < len(parts):
            kept.append({"type": "text", "text": _LEFT_OUT})
        _mend_call(found)
    if not isinstance(found.get("_meta", {}), dict):
        del found["_meta"]
    if method == "resources/read":
        return {**found, **_of_age(version, result)}
    return {**found, "resultType": "complete"} if version in MODERN_PROTOCOL_VERSIONS else found


def _mend_call(found: Entry) -> None:
    if "isError" in found:
        found["isError"] = found["isError"] is True
    structured = found.get("structuredContent")
    if structured is None:
        found.pop("structuredContent", None)
    elif not isinstance(structured, dict):
        found["structuredContent"] = {"result": structured}


# --- the beginning -----------------------------------------------------------------------


def _introduction(result: Entry) -> Entry:
    """The answer to the handshake: odd abilities are none, a server without a name has none."""
    found = dict(result)
    given = found.get("capabilities")
    abilities = given if isinstance(given, dict) else {}
    found["capabilities"] = {
        key: value if isinstance(value, dict) else {}
        for key, value in abilities.items()
        if isinstance(value, dict) or value is True
    }
    if not _fits(types.ServerCapabilities, found["capabilities"]):
        names = ("tools", "prompts", "resources")
        found["capabilities"] = {key: {} for key in names if key in found["capabilities"]}
    if not _fits(types.Implementation, found.get("serverInfo")):
        about = found.get("serverInfo")
        name = about.get("name") if isinstance(about, dict) else ""
        found["serverInfo"] = {"name": name if isinstance(name, str) else "", "version": ""}
    if not isinstance(found.get("instructions", ""), str):
        del found["instructions"]
    return found
