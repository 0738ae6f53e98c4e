"""Values of tagged calls: text between tags to JSON and back, as a tool's schema has them. Pure."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

# types whose values are written as JSON; strings are written as they are
_WORDS = {"true": True, "false": False, "null": None, "none": None}
_MAY_BE_JSON = re.compile(r'[\[{"(\-\d]|\Z')
# strings of JSON, the last of which may stand open
_STRINGS = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)', re.DOTALL)
_LIKE_JSON = re.compile(
    r"[\[{\-\d](?:[\s\[\]{}:,\deE.+\-]|true|false|null)*"
    r"(?:t|tr|tru|f|fa|fal|fals|n|nu|nul)?"
)


def part_of(schema: Any, key: str) -> Any:
    """The schema of an object's value; of a list's items for "item"."""
    if not isinstance(schema, Mapping):
        return None
    if schema.get("type") == "array" or "items" in schema:
        return schema.get("items")
    properties = schema.get("properties")
    return properties.get(key) if isinstance(properties, Mapping) else None


def types_of(schema: Mapping[str, Any] | None, key: str) -> frozenset[str]:
    """JSON types that a tool's schema allows for an argument; empty where it does not say."""
    return types_in(part_of(schema, key), schema or {})


def types_in(part: Any, root: Mapping[str, Any]) -> frozenset[str]:
    """JSON types of a part of a schema; `root` has its definitions."""
    types, waiting = set[str](), [part]
    # a part counts once, however often the schema refers to it
    seen = set[int]()
    while waiting:
        found = waiting.pop()
        if isinstance(found, Mapping) and id(found) not in seen:
            seen.add(id(found))
            own, others = _named_in(found, root)
            types.update(own)
            waiting += others
    return frozenset(types)


def _named_in(
    found: Mapping[str, Any], root: Mapping[str, Any]
) -> tuple[Iterable[str], Sequence[Any]]:
    """The types that a part of a schema names, and the parts that name more."""
    if isinstance(named := found.get("$ref"), str):
        return (), (_target(root, named),)
    kind = found.get("type")
    if isinstance(kind, str):
        return (kind,), ()
    if isinstance(kind, list):
        return [one for one in kind if isinstance(one, str)], ()
    values = found.get("enum", [found["const"]] if "const" in found else None)
    if isinstance(values, list):
        return map(_type_of, values), ()
    for key in ("anyOf", "oneOf", "allOf"):
        if isinstance(several := found.get(key), list):
            return (), several
    return ("object",) if "properties" in found else (), ()


def _target(root: Mapping[str, Any], named: str) -> Any:
    found: Any = root
    for name in named.removeprefix("#/").split("/"):
        found = found.get(name) if isinstance(found, Mapping) else None
    return found


def _type_of(value: Any) -> str:
    if value is None:
        return "null"
    for kind, name in ((bool, "boolean"), (int, "integer"), (float, "number"), (str, "string")):
        if isinstance(value, kind):
            return name
    return "array" if isinstance(value, list) else "object"


def to_json(text: str, types: frozenset[str]) -> str:
    """The JSON of a value that was written as text. The schema decides between a string and
    other values; where it does not say, what reads as JSON is JSON."""
    if types == {"string"}:
        return _quoted(text)
    bare = text.strip()
    value: Any
    if bare.casefold() in _WORDS and not (types and types <= {"string", "number", "integer"}):
        # Python's words, too
        value = _WORDS[bare.casefold()]
        if not types or _type_of(value) in types:
            return json.dumps(value)
    try:
        value = json.loads(bare, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        return _of_python(bare) if types and "string" not in types else _quoted(text)
    kind = _type_of(value)
    if types and kind not in types and not (kind == "integer" and "number" in types):
        if "string" in types:
            return _quoted(text)
        if kind == "string" and types & {"number", "integer", "boolean", "object", "array"}:
            # quotes around a number or an object
            return to_json(value, types)
    return bare


def begun_json(text: str, types: frozenset[str]) -> str:
    """The beginning of that JSON, for a text that the reply's end cuts: "" where it may still
    become one or the other."""
    if types == {"string"}:
        return _quoted(text)[:-1]
    bare = text.strip()
    word = bare.casefold()
    words = [json.dumps(value) for name, value in _WORDS.items() if name.startswith(word)]
    if not types or "string" in types:
        # a text that cannot become JSON any more is a string
        return "" if words or _MAY_BE_JSON.match(bare) else _quoted(text)[:-1]
    if words:
        return words[0][: len(word)]
    outside = _STRINGS.sub("", bare)
    return bare if _LIKE_JSON.fullmatch(outside) else ""


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _of_python(text: str) -> str:
    """The JSON of a list or an object in Python's words."""
    try:
        value = ast.literal_eval(text) if text[:1] in ("[", "{", "(") else text
        return json.dumps(value, ensure_ascii=False)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return _quoted(text)


def _no_constant(_text: str) -> Any:
    raise ValueError


def to_text(value: Any) -> str:
    """A value as templates write it between tags: strings as they are, the rest as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def in_string(text: str) -> bool:
    """True if a JSON text ends inside a string."""
    inside = escaped = False
    for letter in text:
        if escaped:
            escaped = False
        elif inside and letter == "\\":
            escaped = True
        elif letter == '"':
            inside = not inside
    return inside
