"""Write the documents that are made from the code: `make papers`. A test compares them."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, get_args, get_origin

import msgspec
from msgspec import Meta, Struct

from headstart.core.settings.schema import Sampling, SamplingChoice, Settings

ROOT = Path(__file__).resolve().parents[1]
APP = ROOT / "app" / "headstart"
_SETTINGS = ROOT / "docs" / "settings.md"
_HEAD = """# Modules

Every module with the first sentence of its docstring; `make papers` makes it, a test compares it.
[architecture.md](architecture.md) has the rooms and their walls.
"""
_ROW = re.compile(r"^\| `([\w.]+)` \|.*\| ([^|]*)\|$", re.MULTILINE)
_TABLE = "| setting | default | bounds | |\n|---|---|---|---|\n"


def modules() -> str:
    """The text of docs/modules.md: a section for each folder, a line for each module."""
    lines = [_HEAD]
    for folder in [APP, *sorted(one for one in APP.rglob("*") if one.is_dir())]:
        files = sorted(one for one in folder.glob("*.py") if one.name != "__init__.py")
        package = folder / "__init__.py"
        if not package.exists() or not files or folder.name == "versions":
            continue
        name = folder.relative_to(APP.parent).as_posix()
        lines += [f"## {name}", "", _sentence(package), ""]
        lines += [f"- `{one.name}`: {_sentence(one)}" for one in files]
        lines.append("")
    return "\n".join(lines)


def _sentence(path: Path) -> str:
    text = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or ""
    first = " ".join(text.split("\n\n")[0].split())
    # a full stop inside a name or a number has no space behind it
    end = first.find(". ")
    return first if end < 0 else first[: end + 1]


def settings() -> str:
    """The text of docs/settings.md: its table made anew, with the last column as it is written."""
    text = _SETTINGS.read_text(encoding="utf-8")
    before, _, rest = text.partition(_TABLE)
    table, _, after = rest.partition("\n\n")
    notes = dict(_ROW.findall(f"{table}\n"))
    rows = [
        f"| `{key}` | {default} | {bounds}{' ' if bounds else ''}| {notes.get(key, '').strip()} |"
        for key, default, bounds in _rows(Settings, "")
    ]
    return f"{before}{_TABLE}{chr(10).join(rows)}\n\n{after}"


def without_notes() -> list[str]:
    """Keys of settings that nobody wrote a word about."""
    found = dict(_ROW.findall(_SETTINGS.read_text(encoding="utf-8")))
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


DOCUMENTS = {
    ROOT / "docs" / "modules.md": modules,
    _SETTINGS: settings,
}


def main() -> int:
    for path, made in DOCUMENTS.items():
        path.write_text(made(), encoding="utf-8")
        sys.stdout.write(f"{path.relative_to(ROOT)}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
