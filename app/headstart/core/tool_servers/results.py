"""Results of tools and contents of resources, as a server returned them. Pure."""

from __future__ import annotations

import json

from msgspec import Struct


class TextContent(Struct, frozen=True, tag="text"):
    text: str


class ImageContent(Struct, frozen=True, tag="image"):
    data: bytes
    media_type: str = ""


class FileContent(Struct, frozen=True, tag="file"):
    """A resource: `data` are its bytes; `is_text`: they are text in UTF-8."""

    uri: str
    name: str
    media_type: str
    data: bytes
    is_text: bool = False


class OtherContent(Struct, frozen=True, tag="other"):
    """Content of a kind that models here cannot be given, such as sound."""

    kind: str
    media_type: str = ""


Content = TextContent | ImageContent | FileContent | OtherContent


class ToolReturn(Struct, frozen=True):
    """The result of a call; `failed`: it is an error."""

    content: tuple[Content, ...] = ()
    failed: bool = False


def with_structured(texts: list[str], structured: object) -> list[str]:
    """The texts of a result with its structured value, which servers mostly repeat as text: it is
    kept once."""
    if structured is None:
        return texts
    values: list[object] = []
    for text in texts:
        try:
            values.append(json.loads(text))
        except (ValueError, RecursionError):
            values.append(text)
    inside: object = structured
    if isinstance(structured, dict) and len(structured) == 1:
        # a value that is no object, as servers wrap it: {"result": ...}, {"content": ...}
        [inside] = structured.values()
    if any(_same(one, structured) or _same(one, inside) for one in (*values, values, texts)):
        return texts
    if isinstance(inside, str) and inside == "\n".join(texts):
        return texts
    return [*texts, json.dumps(structured, ensure_ascii=False)]


def _same(one: object, other: object) -> bool:
    """Equal as JSON: 1 and true differ, the order of keys does not matter."""
    try:
        return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
    except (TypeError, ValueError):
        return False
