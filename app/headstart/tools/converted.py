"""Values of the MCP library as the program's own. In the child; pure."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import unquote, urlsplit

import mcp_types as types

from headstart.core.schema_bounds import excess_of
from headstart.core.tool_servers.lists import (
    PromptArgument,
    PromptDefinition,
    ResourceDefinition,
    ToolDefinition,
)
from headstart.core.tool_servers.results import (
    Content,
    FileContent,
    ImageContent,
    OtherContent,
    TextContent,
    with_structured,
)

# characters of a description and of a schema: a hostile list must not fill memory
_LONGEST_TEXT, _LONGEST_SCHEMA = 20_000, 200_000
# characters of a name that can be called
LONGEST_NAME = 200
_NO_ARGUMENTS = '{"type": "object", "properties": {}}'


def definition_of(tool: types.Tool) -> ToolDefinition | None:
    """A tool; None for one that nothing could call."""
    schema = json.dumps(tool.input_schema, ensure_ascii=False) if tool.input_schema else ""
    hints = tool.annotations
    title = tool.title or (hints.title if hints is not None else "") or ""
    if not tool.name or len(tool.name) > LONGEST_NAME or len(schema) > _LONGEST_SCHEMA:
        return None
    if excess_of(tool.input_schema) is not None:
        return None
    return ToolDefinition(
        tool.name,
        title[:200],
        (tool.description or "")[:_LONGEST_TEXT],
        schema or _NO_ARGUMENTS,
        bool(hints is not None and hints.read_only_hint),
        bool(hints is not None and hints.destructive_hint and not hints.read_only_hint),
    )


def prompt_of(prompt: types.Prompt) -> PromptDefinition:
    arguments = [
        PromptArgument(one.name[:200], (one.description or "")[:_LONGEST_TEXT], bool(one.required))
        for one in prompt.arguments or ()
    ]
    about = (prompt.description or "")[:_LONGEST_TEXT]
    return PromptDefinition(prompt.name[:200], (prompt.title or "")[:200], about, tuple(arguments))


def resource_of(found: types.Resource | types.ResourceTemplate) -> ResourceDefinition:
    template = isinstance(found, types.ResourceTemplate)
    return ResourceDefinition(
        str(found.uri_template if isinstance(found, types.ResourceTemplate) else found.uri)[:4_000],
        found.name[:200],
        (found.title or "")[:200],
        (found.description or "")[:_LONGEST_TEXT],
        (found.mime_type or "")[:200],
        template,
    )


def content_of(blocks: Sequence[Any], structured: object = None) -> tuple[Content, ...]:
    """The blocks of a result; neighbouring texts stay apart, a structured value comes once."""
    texts = [block.text for block in blocks if isinstance(block, types.TextContent)]
    more = with_structured(texts, structured)[len(texts) :]
    return (*map(_one, blocks), *map(TextContent, more))


def _one(block: Any) -> Content:
    match block:
        case types.TextContent():
            return TextContent(block.text)
        case types.ImageContent():
            return ImageContent(_bytes(block.data), block.mime_type)
        case types.EmbeddedResource():
            return file_of(block.resource)
        case types.ResourceLink():
            name = block.title or block.name
            return TextContent(f"[{name}]({block.uri})" if name else str(block.uri))
        case types.AudioContent():
            return OtherContent("audio", block.mime_type)
    return OtherContent(str(getattr(block, "type", type(block).__name__)))


def file_of(found: Any) -> FileContent:
    """A resource with its content."""
    uri = str(found.uri)
    name = unquote(urlsplit(uri).path).rstrip("/").rpartition("/")[2] or uri
    media = found.mime_type or ""
    if isinstance(found, types.TextResourceContents):
        return FileContent(uri, name, media, found.text.encode("utf-8", "replace"), True)
    return FileContent(uri, name, media, _bytes(found.blob))


def messages_of(messages: Iterable[types.PromptMessage]) -> tuple[Content, ...]:
    """A prompt's messages; those of the assistant say so."""
    found: list[Content] = []
    for message in messages:
        one = _one(message.content)
        if message.role == "assistant" and isinstance(one, TextContent):
            one = TextContent(f"Assistant: {one.text}")
        found.append(one)
    return tuple(found)


def _bytes(text: str) -> bytes:
    """Decoded base64; b"" where it is none."""
    try:
        return base64.b64decode(text)
    except (binascii.Error, ValueError):
        return b""
