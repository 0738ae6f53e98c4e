"""Questions that a tool server asks the user (elicitation): a form, or an address to open. Pure."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from msgspec import Struct

from headstart.core.chats.bounds import MOST

# the most fields of a form, and options of a field, that are shown
MOST_FIELDS, MOST_OPTIONS = 40, 100
# characters of a title, and of a description or a value
_TITLE, _ABOUT = 200, 2_000
# the largest number of a form, either way: a double counts up to there one by one
LARGEST = 1e15


class FieldKind(StrEnum):
    TEXT = "text"
    NUMBER = "number"
    WHOLE = "whole"
    SWITCH = "switch"
    CHOICE = "choice"
    # any number of options
    CHOICES = "choices"


class FormField(Struct, frozen=True):
    """A field of a form. `options` are pairs of a value and its title."""

    name: str
    kind: FieldKind
    title: str = ""
    about: str = ""
    required: bool = False
    initial: str | float | bool | tuple[str, ...] | None = None
    options: tuple[tuple[str, str], ...] = ()
    least: float | None = None
    most: float | None = None
    # of texts
    shortest: int = 0
    longest: int = 0


class ServerQuestion(Struct, frozen=True):
    """A question by its number. With `url` the user is asked to open an address."""

    number: int
    server: str
    message: str
    fields: tuple[FormField, ...] = ()
    url: str = ""


class QuestionEnd(StrEnum):
    ACCEPTED = "accept"
    DECLINED = "decline"
    CANCELLED = "cancel"


Value = str | int | float | bool | list[str] | None


def fields_of(schema: dict[str, Any]) -> tuple[FormField, ...]:
    """The fields of a form's schema; a property of a kind that forms do not have is a text."""
    properties = schema.get("properties")
    required = schema.get("required") or []
    if not isinstance(properties, dict):
        return ()
    found = []
    for name, given in list(properties.items())[:MOST_FIELDS]:
        one = given if isinstance(given, dict) else {}
        found.append(_field(str(name), one, isinstance(required, list) and name in required))
    return tuple(found)


def _field(name: str, given: dict[str, Any], required: bool) -> FormField:
    items = given.get("items")
    several = given.get("type") == "array" and isinstance(items, dict)
    options = _options(items if several and isinstance(items, dict) else given)
    kinds = {"number": FieldKind.NUMBER, "integer": FieldKind.WHOLE, "boolean": FieldKind.SWITCH}
    kind = kinds.get(str(given.get("type")), FieldKind.TEXT)
    if options:
        kind = FieldKind.CHOICES if several else FieldKind.CHOICE
    initial = given.get("default")
    if isinstance(initial, list):
        initial = tuple(str(one) for one in initial[:MOST_OPTIONS])
    elif isinstance(initial, str):
        initial = initial[:_ABOUT]
    elif not isinstance(initial, bool) and _number(initial) is None:
        initial = None
    return FormField(
        name,
        kind,
        (_text(given.get("title")) or name)[:_TITLE],
        _text(given.get("description"))[:_ABOUT],
        required,
        initial,
        options,
        _number(given.get("minimum")),
        _number(given.get("maximum")),
        _length(given.get("minLength")),
        _length(given.get("maxLength")),
    )


def _options(given: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    titled = given.get("oneOf") or given.get("anyOf")
    if isinstance(titled, list):
        found = [
            (str(one["const"]), (_text(one.get("title")) or str(one["const"]))[:_TITLE])
            for one in titled[:MOST_OPTIONS]
            if isinstance(one, dict) and "const" in one
        ]
        return tuple(found)
    values = given.get("enum")
    if not isinstance(values, list):
        return ()
    names = given.get("enumNames")
    titles = names if isinstance(names, list) and len(names) == len(values) else values
    return tuple(
        (str(value), str(title)[:_TITLE])
        for value, title in list(zip(values, titles, strict=True))[:MOST_OPTIONS]
    )


def value_problem(field: FormField, value: Value) -> str:
    """A code for a value that the server would refuse; "" for a right one."""
    if value is None or value in ("", []):
        return "needed" if field.required else ""
    if isinstance(value, str) and field.kind is FieldKind.TEXT:
        fits = field.shortest <= len(value) and not 0 < field.longest < len(value)
        return "" if fits else "length"
    if field.kind in (FieldKind.NUMBER, FieldKind.WHOLE) and isinstance(value, str):
        # typed, and no number
        return "range"
    if isinstance(value, int | float) and not isinstance(value, bool):
        low = field.least is not None and value < field.least
        if low or (field.most is not None and value > field.most):
            return "range"
    return ""


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    # of a form; a server may write an integer that no double holds
    return float(value) if abs(value) <= LARGEST else None


def _length(value: object) -> int:
    """Characters; 0, without a limit, for what no field can have."""
    found = _number(value) or 0
    return int(found) if 0 <= found <= MOST else 0
