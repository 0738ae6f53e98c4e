"""Titles, bounds and descriptions of settings, read from their own annotations. Pure."""

from __future__ import annotations

import functools
from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec
from msgspec import Meta, Struct


class FieldInfo(Struct, frozen=True):
    """One setting as windows and docs need it."""

    name: str
    title: str
    description: str
    default: Any
    minimum: float | None
    maximum: float | None
    choices: tuple[str, ...]
    integer: bool
    # the smallest value besides the minimum, which stands for something else
    least: int | None = None
    # what the minimum stands for, and the unit of the other values
    special: str = ""
    unit: str = ""
    # beside a check box; the title stands elsewhere
    label: str = ""
    # what each choice is called; those without a label are called what they are
    labels: dict[str, str] = {}


@functools.cache
def describe(kind: type[Struct]) -> dict[str, FieldInfo]:
    """The titled fields of a settings struct by name, read from its own annotations."""
    fields = {}
    for item in msgspec.structs.fields(kind):
        if get_origin(item.type) is not Annotated:
            continue
        # not msgspec's own inspection: it goes into every struct inside, a tenth of a second
        inner, *metas = get_args(item.type)
        meta = next((meta for meta in metas if isinstance(meta, Meta) and meta.title), None)
        if meta is None:
            continue
        extra = meta.extra_json_schema or {}
        choices: tuple[str, ...] = ()
        if get_origin(inner) is Literal:
            choices = tuple(str(value) for value in get_args(inner))
        description = meta.description or ""
        fields[item.name] = FieldInfo(
            name=item.name,
            title=str(meta.title),
            description=description,
            default=None if item.default is msgspec.NODEFAULT else item.default,
            minimum=meta.ge,
            maximum=meta.le,
            choices=choices,
            integer=inner is int,
            least=extra.get("least"),
            special=extra.get("special", ""),
            unit=extra.get("unit", ""),
            label=extra.get("label", description),
            labels=extra.get("labels", {}),
        )
    return fields
