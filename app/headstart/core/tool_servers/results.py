"""Results of tools and contents of resources, as a server returned them. Pure."""

from __future__ import annotations

import json

from msgspec import Struct

from headstart.core.strange_json import decoded

# texts that are compared with a structured value, and characters of theirs for one of it: white
# space of pretty JSON
_MOST_TEXTS, _SPACE = 200, 8


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
    inside: object = structured
    if isinstance(structured, dict) and len(structured) == 1:
        # a value that is no object, as servers wrap it: {"result": ...}, {"content": ...}
        [inside] = structured.values()
    wanted = {_canonical(structured), _canonical(inside)} - {""}
    longest = max(map(len, wanted), default=0)
    if len(texts) <= _MOST_TEXTS and sum(map(len, texts)) <= _SPACE * longest + 1_000:
        values = [_value(text) for text in texts]
        if any(_canonical(one) in wanted for one in (*values, values, texts, "\n".join(texts))):
            return texts
    return [*texts, json.dumps(structured, ensure_ascii=False)]


def _value(text: str) -> object:
    try:
        return decoded(text)
    except ValueError:
        return text


def _canonical(value: object) -> str:
    """The value as JSON in one spelling: the order of keys does not matter, 1 and true differ; ""
    for one that is not JSON."""
    try:
        return json.dumps(value, sort_keys=True)
    except (TypeError, ValueError, RecursionError):
        return ""
