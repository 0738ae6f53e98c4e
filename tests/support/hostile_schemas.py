"""JSON Schemas that are made to take time: by levels, by definitions that refer to each other, by
numbers of keys, by patterns and numbers."""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]


def deep(levels: int, key: str = "a") -> Schema:
    """Objects in objects."""
    found: Schema = {"type": "string"}
    for _ in range(levels):
        found = {"type": "object", "properties": {key: found}, "required": [key]}
    return found


def deep_lists(levels: int) -> Schema:
    found: Schema = {"type": "string"}
    for _ in range(levels):
        found = {"type": "array", "items": found}
    return {"type": "object", "properties": {"a": found}}


def wide(keys: int, required: int = 0) -> Schema:
    names = [f"key_{number}" for number in range(keys)]
    properties = {name: {"type": "string"} for name in names}
    return {"type": "object", "properties": properties, "required": names[:required]}


def referring(steps: int, ways: int, word: str = "") -> Schema:
    """Definitions, each of which refers to the next one in many ways: as properties, or in a list
    with this word."""
    parts: Schema = {"d0": {"type": "string"}}
    for step in range(1, steps):
        next_one = {"$ref": f"#/$defs/d{step - 1}"}
        if word:
            parts[f"d{step}"] = {word: [dict(next_one) for _ in range(ways)]}
        else:
            names = [f"k{number}" for number in range(ways)]
            properties = {name: dict(next_one) for name in names}
            parts[f"d{step}"] = {"type": "object", "properties": properties, "required": names}
    last = {"$ref": f"#/$defs/d{steps - 1}"}
    return {"type": "object", "properties": {"a": last}, "required": ["a"], "$defs": parts}


def with_key(**part: Any) -> Schema:
    return {"type": "object", "properties": {"a": part}, "required": ["a"]}


# over a bound of `core.schema_bounds`
TOO_LARGE: dict[str, Schema] = {
    "levels": deep(300),
    "lists": deep_lists(300),
    "keys": wide(5_000),
    "required": wide(5_000, 5_000),
    "choices": with_key(enum=[f"choice {number}" for number in range(20_000)]),
    "words": with_key(type="string", description="word " * 50_000),
}
# within the bounds, and dear for a grammar or a reader that does not look out
DEAR: dict[str, Schema] = {
    "properties": referring(14, 4),
    "any of": referring(14, 4, "anyOf"),
    "one of": referring(14, 4, "oneOf"),
    "all of": referring(14, 4, "allOf"),
    "itself": with_key(**{"$ref": "#"}),
    "required": wide(900, 900),
    "keys": wide(4_000),
    "shared": {
        "type": "object",
        "properties": {f"k{number}": {"$ref": f"#/$defs/d{number}"} for number in range(900)},
        "$defs": {f"d{number}": {"type": "string", "title": "x" * 60} for number in range(900)},
    },
    "multiples": {
        "type": "object",
        "properties": {
            f"k{number}": {"type": "integer", "multipleOf": 9_973 + number} for number in range(400)
        },
    },
    "pattern": with_key(type="string", pattern="^(a{1,1000}b{1,1000}){1,1000}$", maxLength=3),
    "items": with_key(type="array", items={"type": "string"}, minItems=10**9),
    "length": with_key(type="string", minLength=10**9),
    "number": with_key(type="integer", minimum=-(10**300), maximum=10**300),
}
