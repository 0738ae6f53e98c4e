"""A sample answer for a JSON Schema: shown to the user before the format is used. Pure.

It is an illustration: the sample may violate constraints that it ignores (patterns, several
conditions at once); `engine.constraints` checks whether it fits.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

# most levels, most members of one, and most values in all: definitions may refer to each other
_DEEPEST, _MOST, _IN_ALL = 6, 24, 1_000
_BY_FORMAT = {
    "date": "2026-01-31",
    "time": "09:30:00Z",
    "date-time": "2026-01-31T09:30:00Z",
    "email": "ada@example.org",
    "uri": "https://example.org",
    "uuid": "123e4567-e89b-42d3-a456-426614174000",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "hostname": "example.org",
    "duration": "PT15M",
}


class _Root:
    """The whole schema, which has the definitions, and the number of values so far."""

    def __init__(self, schema: Mapping[str, Any]) -> None:
        self.schema = schema
        self.values = 0


def sample(schema: Mapping[str, Any]) -> str:
    """Sample JSON, indented by two spaces per level; "" where numbers are too large for one."""
    try:
        return json.dumps(_value(schema, _Root(schema), 0), indent=2, ensure_ascii=False)
    except (ArithmeticError, ValueError):
        return ""


def _value(schema: Any, root: _Root, depth: int) -> Any:
    root.values += 1
    if not isinstance(schema, Mapping) or depth > 4 * _DEEPEST or root.values > _IN_ALL:
        return "…" if schema is not False else None
    for name in ("const", "default"):
        if name in schema:
            return schema[name]
    for name in ("enum", "examples"):
        if isinstance(schema.get(name), list) and schema[name]:
            return schema[name][0]
    if isinstance(schema.get("$ref"), str):
        return _value(_found(schema["$ref"], root), root, depth + 1)
    for name in ("anyOf", "oneOf"):
        if isinstance(schema.get(name), list) and schema[name]:
            return _value(_joined([schema, schema[name][0]], name), root, depth + 1)
    if isinstance(schema.get("allOf"), list) and schema["allOf"]:
        return _value(_joined([schema, *schema["allOf"]], "allOf"), root, depth + 1)
    return _of_type(_kind(schema), schema, root, depth)


def _kind(schema: Mapping[str, Any]) -> str:
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = next((one for one in kind if one != "null"), "null")
    if isinstance(kind, str):
        return kind
    if "properties" in schema or "required" in schema:
        return "object"
    if "items" in schema or "prefixItems" in schema:
        return "array"
    return "string"


def _of_type(kind: str, schema: Mapping[str, Any], root: _Root, depth: int) -> Any:
    match kind:
        case "object":
            return _object(schema, root, depth)
        case "array":
            return _array(schema, root, depth)
        case "integer" | "number":
            return _number(schema, whole=kind == "integer")
        case "boolean":
            return True
        case "null":
            return None
        case _:
            return _text(schema)


def _object(schema: Mapping[str, Any], root: _Root, depth: int) -> dict[str, Any]:
    members = schema.get("properties")
    members = members if isinstance(members, Mapping) else {}
    required = schema.get("required")
    required = required if isinstance(required, list) else []
    # only as deep as needed: schemas can contain themselves
    names = list(members) if depth < _DEEPEST else [name for name in members if name in required]
    further = [name for name in required if isinstance(name, str) and name not in members]
    found = {name: _value(members[name], root, depth + 1) for name in names[:_MOST]}
    return found | {name: _value(schema.get("additionalProperties", {}), root, depth + 1)
                    for name in further}  # fmt: skip


def _array(schema: Mapping[str, Any], root: _Root, depth: int) -> list[Any]:
    fixed = schema.get("prefixItems")
    found = [_value(one, root, depth + 1) for one in fixed] if isinstance(fixed, list) else []
    least, most = _whole(schema.get("minItems"), 0), _whole(schema.get("maxItems"), _MOST)
    wanted = min(most, max(least, 1 if depth < _DEEPEST else 0, len(found)), _MOST)
    items = schema.get("items", {})
    while len(found) < wanted and items is not False:
        found.append(_value(items, root, depth + 1))
    return found[:wanted]


def _number(schema: Mapping[str, Any], whole: bool) -> float:
    step = schema.get("multipleOf")
    step = step if isinstance(step, int | float) and step > 0 else 1 if whole else 0.5
    value: float = 3 * step
    for name, direction in (("minimum", 0), ("exclusiveMinimum", 1)):
        least = schema.get(name)
        if isinstance(least, int | float) and value < least + direction * step:
            value = -(-least // step) * step
            value += step if direction and value <= least else 0
    for name, direction in (("maximum", 0), ("exclusiveMaximum", 1)):
        most = schema.get(name)
        if isinstance(most, int | float) and value > most - direction * step:
            value = most // step * step
            value -= step if direction and value >= most else 0
    return int(value) if whole else value


def _text(schema: Mapping[str, Any]) -> str:
    known = _BY_FORMAT.get(str(schema.get("format")))
    if known is not None:
        return known
    text = "text"
    least, most = _whole(schema.get("minLength"), 0), _whole(schema.get("maxLength"), 80)
    while len(text) < least and len(text) < 10_000:
        text += " and more"
    return text[: max(least, most)] if len(text) > most else text


def _whole(value: Any, otherwise: int) -> int:
    return value if isinstance(value, int) and value >= 0 else otherwise


def _found(pointer: str, root: _Root) -> Any:
    """The schema that a pointer like #/$defs/City names; {} if the pointer leads nowhere."""
    found: Any = root.schema
    for step in pointer.removeprefix("#").strip("/").split("/"):
        if step:
            key = step.replace("~1", "/").replace("~0", "~")
            found = found.get(key) if isinstance(found, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _joined(schemas: list[Any], without: str) -> dict[str, Any]:
    """Several schemas that apply together, merged into one."""
    joined: dict[str, Any] = {}
    for one in schemas:
        if not isinstance(one, Mapping):
            continue
        for name, value in one.items():
            if name == without and one is schemas[0]:
                continue
            before = joined.get(name)
            if name == "properties" and isinstance(value, Mapping) and isinstance(before, Mapping):
                joined[name] = {**before, **value}
            elif name == "required" and isinstance(value, list) and isinstance(before, list):
                joined[name] = [*before, *value]
            else:
                joined[name] = value
    return joined
