"""Messages in the servers' form: text, or images and text for models with vision. Pure."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from typing import Any

from headstart.core.answer_format import parsed_format
from headstart.core.requests import (
    PromptImage,
    PromptMessage,
    ToolRole,
)
from headstart.core.servers import ServerKind
from headstart.core.tools import Choosing, Tools
from headstart.engine.tool_messages import given_tools, readable

# servers' words for a model without vision, or for a message that must be plain text
_BLIND = re.compile(
    r"image|vision|multi-?modal|mmproj|media|content|string_type|valid string", re.IGNORECASE
)


def messages_of(messages: Sequence[PromptMessage], images: bool) -> list[dict[str, Any]]:
    """The messages with `images`, or only with their labels in the text."""
    return [_message(message, images) for message in messages]


def tool_parameters(tools: Tools) -> dict[str, Any]:
    """Parameters that offer tools."""
    found: dict[str, Any] = {"tools": given_tools(tools.specs)}
    choosing = tools.choice.choosing
    if choosing is Choosing.NAMED:
        found["tool_choice"] = {"type": "function", "function": {"name": tools.choice.name}}
    elif choosing is not Choosing.AUTO:
        found["tool_choice"] = choosing.value
    return found


def _message(message: PromptMessage, images: bool) -> dict[str, Any]:
    found: dict[str, Any] = {
        "role": message.role.value,
        "content": _with_images(message) if images and message.images else message.text,
    }
    if message.calls:
        found["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": readable(call.arguments)},
            }
            for call in message.calls
        ]
    if message.role is ToolRole.TOOL:
        found["tool_call_id"] = message.call_id
    return found


def response_format(schema: str, kind: ServerKind) -> dict[str, Any]:
    """Parameters that constrain an answer to a JSON Schema; raises EnvironmentProblem for an
    invalid one."""
    parsed = parsed_format(schema)
    if kind == "llama-cpp-python":
        return {"type": "json_object", "schema": parsed}
    return {
        "type": "json_schema",
        "json_schema": {"name": "answer", "schema": parsed, "strict": True},
    }


def about_images(said: str) -> bool:
    """True if a refusal may be about images."""
    return _BLIND.search(said) is not None


def _with_images(message: PromptMessage) -> list[dict[str, Any]]:
    content: list[dict[str, Any]] = [
        {"type": "image_url", "image_url": {"url": _data_url(image)}} for image in message.images
    ]
    return [*content, {"type": "text", "text": message.text}]


def _data_url(image: PromptImage) -> str:
    return f"data:{image.media_type};base64,{base64.b64encode(image.data).decode('ascii')}"
