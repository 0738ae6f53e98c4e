"""Tools, calls and results as chat templates take them, or as text for templates that take none.
Pure."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from headstart.core.chats.values import Role
from headstart.core.requests import (
    PromptCall,
    PromptMessage,
    ToolRole,
)
from headstart.core.tools import ID_LENGTH, ToolSpec
from headstart.engine.foreign import Safe, bare, unchanged

_ABOUT = (
    "You can call tools. A call of a tool looks like this:\n{example}\n"
    "The result follows in the next message. Call a tool only if you need it.\n\n"
    "The tools, as JSON:"
)


def given_tools(specs: Sequence[ToolSpec], safe: Safe = unchanged) -> list[dict[str, Any]]:
    """Tools in the form of OpenAI's API, which templates expect."""
    return [
        {
            "type": "function",
            "function": {
                "name": safe(spec.name),
                "description": safe(spec.description),
                "parameters": safe(spec.parameters),
            },
        }
        for spec in specs
    ]


def given_calls(
    calls: Sequence[PromptCall], as_text: bool, safe: Safe = unchanged
) -> list[dict[str, Any]]:
    """Calls in that form."""
    return [
        {
            "id": template_id(call.id),
            "type": "function",
            "function": {
                "name": safe(call.name),
                "arguments": _arguments(call.arguments, as_text, safe),
            },
        }
        for call in calls
    ]


def template_id(call_id: str) -> str:
    """Nine letters and digits for the id of a call: two families refuse any other."""
    bare = call_id.removeprefix("call_")
    if len(bare) == ID_LENGTH and bare.isascii() and bare.isalnum():
        return bare
    return hashlib.blake2b(call_id.encode("utf-8", "surrogatepass")).hexdigest()[:ID_LENGTH]


def readable(text: str) -> str:
    """Arguments that are certainly an object: servers refuse a history with any other."""
    return text if isinstance(_value(text), dict) else json.dumps({"arguments": text})


def _arguments(text: str, as_text: bool, safe: Safe) -> Any:
    if as_text:
        return safe(text)
    # JSON's escapes may hide a mark
    found = _value(bare(text))
    # arguments that cannot be read are shown as they were written
    return safe(found) if isinstance(found, dict) else {"arguments": safe(text)}


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def with_described_tools(
    messages: Sequence[PromptMessage],
    specs: Sequence[ToolSpec],
    example: str,
    safe: Safe = unchanged,
) -> list[PromptMessage]:
    """The tools in the system message, for a template that shows none. `example`: a call as the
    model is to write it."""
    lines = (safe(json.dumps(tool, ensure_ascii=False)) for tool in given_tools(specs))
    about = "\n".join((_ABOUT.replace("{example}", example), *lines))
    if messages and messages[0].role is Role.SYSTEM:
        first = messages[0]
        return [replace(first, text=f"{first.text}\n\n{about}"), *messages[1:]]
    return [PromptMessage(Role.SYSTEM, about), *messages]


def as_text(messages: Sequence[PromptMessage]) -> list[PromptMessage]:
    """Calls and results as text, for a template that shows none. The results of one step are one
    message of the user's side, which every template shows."""
    found: list[PromptMessage] = []
    for message in messages:
        if message.role is ToolRole.TOOL:
            text = f"<tool_response>\n{message.text}\n</tool_response>"
            last = found[-1] if found else None
            if last is not None and last.role is Role.USER and last.call_id:
                found[-1] = replace(last, text=f"{last.text}\n{text}")
                continue
            found.append(replace(message, role=Role.USER, text=text, name=""))
        elif message.calls:
            calls = "\n".join(map(_call_text, message.calls))
            text = f"{message.text}\n{calls}" if message.text else calls
            found.append(replace(message, text=text, calls=()))
        else:
            found.append(message)
    return found


def _call_text(call: PromptCall) -> str:
    name = json.dumps(call.name, ensure_ascii=False)
    return f'<tool_call>\n{{"name": {name}, "arguments": {call.arguments}}}\n</tool_call>'
