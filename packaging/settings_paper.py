"""The table of docs/settings.md: keys, defaults and bounds from the schema. Its last column is
written by hand and kept."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec
from msgspec import Meta, Struct

from headstart.core.settings.schema import Sampling, SamplingChoice, Settings

_ROW = re.compile(r"^\| `([\w.]+)` \|.*\| ([^|]*)\|$", re.MULTILINE)
_HEAD = "| setting | default | bounds | |\n|---|---|---|---|\n"


def settings(path: Path) -> str:
    """The document at `path` with its table made anew."""
    text = path.read_text(encoding="utf-8")
    before, _, rest = text.partition(_HEAD)
    table, _, after = rest.partition("\n\n")
    notes = dict(_ROW.findall(f"{table}\n"))
    rows = [
        f"| `{key}` | {default} | {bounds}{' ' if bounds else ''}| {notes.get(key, '').strip()} |"
        for key, default, bounds in _rows(Settings, "")
    ]
    return f"{before}{_HEAD}{chr(10).join(rows)}\n\n{after}"


def without_notes(path: Path) -> list[str]:
    """Keys that nobody wrote a word about."""
    found = dict(_ROW.findall(path.read_text(encoding="utf-8")))
    return [key for key, _, _ in _rows(Settings, "") if not found.get(key, "").strip()]


def _rows(kind: type[Struct], before: str) -> Iterator[tuple[str, str, str]]:
    for item in msgspec.structs.fields(kind):
        key = f"{before}{item.name}"
        inner, meta = _inside(item.type)
        if inner is SamplingChoice:
            # its fields are automatic, with the bounds of those and their defaults
            yield from _rows(Sampling, f"{key}.")
        elif isinstance(inner, type) and issubclass(inner, Struct):
            yield from _rows(inner, f"{key}.")
        else:
            yield key, _default(item), _bounds(inner, meta)


def _inside(annotated: Any) -> tuple[Any, Meta]:
    """The type and its bounds; of an optional one those of what it can be."""
    if get_origin(annotated) is UnionType:
        annotated = next(one for one in get_args(annotated) if one is not type(None))
    if get_origin(annotated) is not Annotated:
        return annotated, Meta()
    inner, *metas = get_args(annotated)
    return inner, next((one for one in metas if isinstance(one, Meta)), Meta())


def _default(item: msgspec.structs.FieldInfo) -> str:
    value = item.default
    if value is msgspec.NODEFAULT:
        value = item.default_factory()
    match value:
        case bool():
            return str(value).lower()
        case int() | float():
            return f"{value:g}"
        case str():
            return f"`{value}`" if value else "empty"
        case _:
            return f"{len(value)} of them" if value else "none"


def _bounds(inner: Any, meta: Meta) -> str:
    if get_origin(inner) is Literal:
        return ", ".join(f"`{one}`" for one in get_args(inner))
    if meta.ge is not None and meta.le is not None:
        least = (meta.extra_json_schema or {}).get("least")
        first = f"{meta.ge:,}, or {least:,}" if least else f"{meta.ge:,}"
        return f"{first} to {meta.le:,}"
    if meta.max_length is not None:
        unit = "characters" if inner is str else "of them"
        return f"{meta.max_length:,} {unit}"
    return ""
