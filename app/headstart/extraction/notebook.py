"""Jupyter notebooks as Markdown: cells in order, code in fences followed by its output; pictures
are named."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from headstart.core.strange_json import decoded


def read_notebook(text: str) -> str | None:
    """Returns None for a text that is not a notebook."""
    try:
        found = decoded(text)
    except ValueError:
        return None
    if not isinstance(found, dict) or "nbformat" not in found:
        return None
    # version 3 has its cells on sheets
    sheets = [found, *(one for one in found.get("worksheets") or () if isinstance(one, dict))]
    language = _language(found)
    cells = [cell for sheet in sheets for cell in sheet.get("cells") or ()]
    pieces = [piece for cell in cells if isinstance(cell, dict) for piece in _cell(cell, language)]
    return "\n\n".join(piece for piece in pieces if piece.strip())


def _language(found: dict[str, Any]) -> str:
    about = found.get("metadata") or {}
    for key in ("language_info", "kernelspec"):
        inner = about.get(key) if isinstance(about, dict) else None
        name = inner.get("language" if key == "kernelspec" else "name") if inner else None
        if isinstance(name, str):
            return name
    return "python"


def _cell(cell: dict[str, Any], language: str) -> Iterator[str]:
    source = _text(cell.get("source", cell.get("input")))
    if cell.get("cell_type") != "code":
        yield source
        return
    yield _fenced(source, language)
    for output in cell.get("outputs") or ():
        if isinstance(output, dict):
            yield from _output(output)


def _output(output: dict[str, Any]) -> Iterator[str]:
    if output.get("output_type") in ("error", "pyerr"):
        yield _fenced(f"{output.get('ename', '')}: {output.get('evalue', '')}", "")
        return
    data = output.get("data")
    data = data if isinstance(data, dict) else {}
    words = _text(output.get("text")) or _text(data.get("text/plain"))
    pictures = [kind for kind in data if kind.startswith("image/")]
    if data.get("text/markdown"):
        yield _text(data["text/markdown"])
    elif words:
        yield _fenced(words, "")
    for kind in pictures:
        yield f"[a picture: {kind.removeprefix('image/')}]"


def _text(value: object) -> str:
    if isinstance(value, list):
        return "".join(one for one in value if isinstance(one, str))
    return value if isinstance(value, str) else ""


def _fenced(text: str, language: str) -> str:
    if not text.strip():
        return ""
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"
