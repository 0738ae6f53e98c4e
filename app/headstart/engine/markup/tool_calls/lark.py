"""Grammars of tool calls, in llguidance's dialect of Lark: a call fits its tool's schema. Pure.

Declared keys may come in any order, which JSON Schema's own grammar does not allow: a model that
begins with a later key could never write an earlier one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from headstart.core.schema_bounds import MOST_KEYS, GrammarCosts
from headstart.core.tools import ToolSpec
from headstart.engine.markup.tool_calls.layout import (
    ID,
    KEY,
    NAME,
    JsonLayout,
    Layout,
    TagLayout,
    behind_header,
)
from headstart.engine.markup.tool_calls.values import part_of, types_in

# text and special tokens, by id
Pieces: TypeAlias = Callable[[str], Sequence[str | int]]

# required keys whose order stays free; more have to come in the order of the schema
_FREE = 4
# required keys of one object, and characters of all rules, which take half a second
_MOST_REQUIRED, _MOST_CHARACTERS = 200, 500_000
_OTHER_ID = "f5G6h7I8j"
# ids and numbers of calls differ from call to call
_VARIABLE = re.compile(
    rf'({ID}|{_OTHER_ID}|(?<=index=")\d+|(?<=tool_call_id": ")\d+|(?<=:)\d+(?=<\|))'
)
_DEFINITIONS = ("$defs", "definitions")
_GAP = "/[ \\t\\r\\n]{0,8}/"
_BLANKS = "/[ \\t\\r\\n]{0,20}/"


class TooLarge(Exception):
    """A grammar, or a part of one, that would take too long to make or to use."""


class _Writer:
    def __init__(self, pieces: Pieces) -> None:
        self._pieces = pieces
        self.rules: dict[str, str] = {}
        self._schemas: dict[str, str] = {}
        self._room, self._costs = _MOST_CHARACTERS, GrammarCosts()

    def json(self, part: Any, root: Mapping[str, Any]) -> str:
        """The rule of a JSON value; equal schemas share one."""
        whole = _whole(part, root)
        body = json.dumps(whole, ensure_ascii=False)
        self._take(len(body))
        if body not in self._schemas:
            if excess := self._costs.excess(whole):
                raise TooLarge(excess)
            self._schemas[body] = self.rule(f"json{len(self._schemas)}", f"%json {body}")
        return self._schemas[body]

    def literal(self, text: str) -> str:
        """A text as Lark: strings, special tokens, and patterns for its variable parts."""
        found = []
        for index, part in enumerate(_VARIABLE.split(text)):
            if index % 2:
                found.append("/[0-9]{1,3}/" if part.isdecimal() else "/[a-zA-Z0-9]{9}/")
                continue
            found += [
                f"<[{piece}]>" if isinstance(piece, int) else _quoted(piece)
                for piece in (self._pieces(part) if part else ())
            ]
        return " ".join(found)

    def named(self, text: str, gap: str, name: str) -> str:
        """The same with a stranger's name in its gaps, which is no token."""
        quoted = f" {_quoted(name)} " if name else " "
        return quoted.join(self.literal(part) for part in text.split(gap)).strip()

    def rule(self, name: str, body: str) -> str:
        self._take(len(name) + len(body))
        self.rules[name] = body
        return name

    def _take(self, characters: int) -> None:
        self._room -= characters
        if self._room < 0:
            raise TooLarge(f"more than {_MOST_CHARACTERS:,} characters")

    def until(self, name: str, end: str, key: str = "") -> str:
        """Any text up to `end`, and `end`, with `key` in its gaps."""
        pieces = list(self._pieces(end))
        first = pieces[0] if pieces else ""
        if isinstance(first, int):
            return f"{self.rule(f'{name}_any', '/(?s:.*)/')} {self.named(end, KEY, key)}"
        self.rule(f"{name}_any[lazy]", f"/(?s:.*){_escaped(first.replace(KEY, key))}/")
        return f"{name}_any {self.named(end.removeprefix(first), KEY, key)}".strip()

    def text(self) -> str:
        return "\n".join(f"{name}: {body}" for name, body in self.rules.items())


def call_grammar(
    layout: Layout,
    specs: Sequence[ToolSpec],
    pieces: Pieces,
    opening: str | None = None,
    optional: bool = False,
    several: bool = True,
) -> str:
    """The grammar of what follows the opening mark: one call, or `several` where the form has them
    in one section. `opening`: the mark, for a grammar that begins before it; white space may stand
    there, and nothing at all for a call that is `optional`. Raises TooLarge."""
    writer = _Writer(pieces)
    calls = [_call(writer, layout, number, spec) for number, spec in enumerate(specs)]
    one = writer.rule("one", " | ".join(calls))
    after = writer.literal(layout.after)
    more = f"{writer.literal(layout.between)} calls" if layout.between and several else ""
    end = f"({more} | {after})" if more and after else f"({more})?" if more else after
    parts = (writer.literal(opening or ""), writer.literal(layout.before), "calls")
    start = " ".join(filter(None, parts))
    if opening is not None:
        start = f"{_GAP} ({start})?" if optional else f"{_GAP} {start}"
    return "\n".join((f"start: {start}", f"calls: {one} {end}", writer.text()))


def named_grammar(layout: Layout, spec: ToolSpec, pieces: Pieces) -> str:
    """The grammar of a call behind a header that has the name already. Raises TooLarge."""
    writer = _Writer(pieces)
    schema = spec.parameters
    if isinstance(layout, JsonLayout):
        start, body = layout.middle, _object(writer, "a", schema, schema)
    else:
        start, body = layout.name_end, _tagged(writer, layout, "t", schema)
    start = writer.named(behind_header(start), NAME, spec.name)
    parts = filter(None, (start, body, writer.literal(layout.after)))
    return f"start: {' '.join(parts)}\n{writer.text()}"


def _call(writer: _Writer, layout: Layout, number: int, spec: ToolSpec) -> str:
    name = _quoted(spec.name)
    if isinstance(layout, JsonLayout):
        arguments = _object(writer, f"a{number}", spec.parameters, spec.parameters)
        parts = (name, writer.literal(layout.middle), arguments)
    else:
        start = writer.named(layout.name_end, NAME, spec.name)
        parts = (name, start, _tagged(writer, layout, f"t{number}", spec.parameters))
    return writer.rule(f"call{number}", " ".join(filter(None, parts)))


def _object(writer: _Writer, name: str, part: Mapping[str, Any], root: Mapping[str, Any]) -> str:
    """An object with the declared keys in any order."""
    properties = part.get("properties")
    keys = list(properties) if isinstance(properties, Mapping) else []
    if not keys and (properties is None or _takes_others(part)):
        return writer.json(part, root)
    blanks = writer.rule("blanks", _BLANKS)
    if not keys:
        return writer.rule(name, f'"{{" {blanks} "}}"')
    pairs = {
        key: writer.rule(
            f"{name}_{number}",
            f"{_quoted(json.dumps(key, ensure_ascii=False) + ':')} {blanks} "
            + _value(writer, f"{name}_{number}_v", part_of(part, key), root),
        )
        for number, key in enumerate(keys)
    }
    body = _any_order(writer, name, pairs, _required(part, keys), f'"," {blanks}')
    optional = "" if _required(part, keys) else "?"
    return writer.rule(name, f'"{{" {blanks} ({body}){optional} {blanks} "}}"')


def _takes_others(part: Mapping[str, Any]) -> bool:
    """True if an object may have keys that are not declared, by more than silence."""
    others = part.get("additionalProperties", False) is not False
    return bool(others or part.get("patternProperties") or part.get("required"))


def _value(writer: _Writer, name: str, part: Any, root: Mapping[str, Any]) -> str:
    if isinstance(part, Mapping) and types_in(part, root) == {"object"} and "properties" in part:
        return _object(writer, name, part, root)
    return writer.json(part, root)


def _whole(part: Any, root: Mapping[str, Any]) -> Any:
    """A part of a schema with the definitions that it may refer to."""
    if not isinstance(part, Mapping):
        return {}
    kept = {key: root[key] for key in _DEFINITIONS if key in root}
    return {**kept, **part}


def _tagged(writer: _Writer, layout: TagLayout, name: str, schema: Mapping[str, Any]) -> str:
    properties = schema.get("properties")
    keys = list(properties) if isinstance(properties, Mapping) else []
    pairs = {
        key: writer.rule(
            f"{name}_{number}", _argument(writer, layout, f"{name}_{number}", key, schema)
        )
        for number, key in enumerate(keys)
    }
    required = _required(schema, keys)
    if not pairs:
        return ""
    body = _any_order(writer, name, pairs, required, writer.literal(layout.separator))
    return f"({body}){'' if required else '?'}"


def _argument(
    writer: _Writer, layout: TagLayout, name: str, key: str, schema: Mapping[str, Any]
) -> str:
    part = part_of(schema, key)
    types = types_in(part, schema)
    is_text = not types or "string" in types
    lead = layout.text_value if is_text else layout.other_value
    if not is_text and '"number"' in lead:
        # the tag has the type
        lead = lead.replace("number", "number" if types <= {"integer", "number"} else min(types))
    head = f"{writer.literal(layout.key)} {_quoted(key)} {writer.literal(lead)}"
    end = layout.value_end
    if layout.separator:
        return f"{head} {_own_value(writer, layout, f'{name}_v', part, schema)}"
    choices = part.get("enum") if isinstance(part, Mapping) else None
    if types == {"string"} and isinstance(choices, list):
        return f"{head} ({_choices(choices, '')}) {writer.named(end, KEY, key)}"
    nested = KEY in layout.value_end and types & {"array", "object"}
    if is_text or nested:
        return f"{head} {writer.until(name, end, key)}"
    value = _value(writer, f"{name}_v", part, schema)
    return f"{head} {value} {writer.named(end, KEY, key)}"


def _own_value(writer: _Writer, layout: TagLayout, name: str, part: Any, root: Any) -> str:
    """A value of a form that is written as a function call: Python's words, or Gemma's."""
    python = layout.quote == "'"
    _own_rules(writer, layout.quote, python)
    choices = part.get("enum") if isinstance(part, Mapping) else None
    types = types_in(part, root)
    if isinstance(choices, list) and types == {"string"}:
        mark = writer.literal(layout.quote)
        return writer.rule(name, f"{mark} ({_choices(choices, '')}) {mark}")
    ways = [_own_type(writer, layout, f"{name}_{kind}", kind, part, root) for kind in sorted(types)]
    return writer.rule(name, " | ".join(ways) or "own_value")


def _own_type(
    writer: _Writer, layout: TagLayout, name: str, kind: str, part: Any, root: Any
) -> str:
    comma, colon = (", ", ": ") if layout.quote == "'" else (",", ":")
    key = "{}" if layout.quote != "'" else "'{}'"
    if kind == "array" and isinstance(part.get("items"), Mapping):
        item = _own_value(writer, layout, f"{name}_i", part["items"], root)
        return writer.rule(name, f'"[" ({item} ({_quoted(comma)} {item})*)? "]"')
    properties = part.get("properties") if kind == "object" else None
    if isinstance(properties, Mapping) and properties:
        pairs = {
            one: writer.rule(
                f"{name}_{number}",
                f"{_quoted(key.format(one) + colon)} "
                + _own_value(writer, layout, f"{name}_{number}_v", properties[one], root),
            )
            for number, one in enumerate(properties)
        }
        required = _required(part, list(properties))
        body = _any_order(writer, name, pairs, required, _quoted(comma))
        return writer.rule(name, f'"{{" ({body}){"" if required else "?"} "}}"')
    return _OWN_TYPES.get(kind, "own_value")


_OWN_TYPES = {
    "string": "own_text", "integer": "own_integer", "number": "own_number",
    "boolean": "own_boolean", "null": "own_null", "array": "own_list", "object": "own_object",
}  # fmt: skip


def _own_rules(writer: _Writer, quote: str, python: bool) -> None:
    """The rules of any value, once."""
    if "own_value" in writer.rules:
        return
    true, false, null = ("True", "False", "None") if python else ("true", "false", "null")
    comma, colon = (", ", ": ") if python else (",", ":")
    writer.rule("own_integer", '%json {"type": "integer"}')
    writer.rule("own_number", '%json {"type": "number"}')
    writer.rule("own_boolean", f"{_quoted(true)} | {_quoted(false)}")
    writer.rule("own_null", _quoted(null))
    if python:
        writer.rule("own_text", "/'([^'\\\\\\n]|\\\\.)*'/")
        writer.rule("own_key", "own_text")
    else:
        # quotation marks are a token, keys are bare
        writer.rule("own_text", f"{writer.literal(quote)} {writer.until('own_inner', quote)}")
        writer.rule("own_key", "/[A-Za-z0-9_]{1,64}/")
    pair = f"own_key {_quoted(colon)} own_value"
    more = f"({_quoted(comma)} {{0}})*"
    writer.rule("own_list", f'"[" (own_value {more.format("own_value")})? "]"')
    writer.rule("own_object", f'"{{" ({pair} {more.format(pair)})? "}}"')
    words = "own_boolean | own_null"
    writer.rule("own_value", f"own_text | own_number | {words} | own_list | own_object")


def _choices(choices: Iterable[Any], quote: str) -> str:
    return " | ".join(_quoted(f"{quote}{choice}{quote}") for choice in choices)


def _required(schema: Mapping[str, Any], keys: Sequence[str]) -> tuple[str, ...]:
    found = schema.get("required")
    wanted = {key for key in found if isinstance(key, str)} if isinstance(found, list) else set()
    return tuple(key for key in keys if key in wanted)


def _any_order(
    writer: _Writer, name: str, pairs: Mapping[str, str], required: Sequence[str], separator: str
) -> str:
    """Pairs in any order until all required ones are there. Beyond a few required keys these come
    in the schema's order, because each set of missing keys is a rule of its own."""
    if len(required) > _MOST_REQUIRED or len(pairs) > MOST_KEYS:
        raise TooLarge(f"more than {_MOST_REQUIRED} required or {MOST_KEYS:,} keys in one object")
    optional = [rule for key, rule in pairs.items() if key not in required]
    places = {key: place for place, key in enumerate(pairs)}
    others = [writer.rule(f"{name}_o", " | ".join(optional))] if optional else []

    def rest(missing: tuple[str, ...]) -> str:
        label = f"{name}_p{'_'.join(str(places[key]) for key in missing)}"
        if label in writer.rules:
            return label
        writer.rule(label, "")
        ways = [f"{rule} {separator} {label}" for rule in others]
        if not missing:
            ways += others
        for key in missing if len(missing) <= _FREE else missing[:1]:
            left = tuple(other for other in missing if other != key)
            more = rest(left) if left or others else ""
            if more:
                ways.append(f"{pairs[key]} {separator} {more}")
            if not left:
                ways.append(pairs[key])
        return writer.rule(label, " | ".join(ways))

    return rest(tuple(required))


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _escaped(text: str) -> str:
    """A text as a part of a regular expression between slashes."""
    return re.sub(r"([\\/^$.|?*+()\[\]{}])", r"\\\1", text).replace("\n", "\\n")
