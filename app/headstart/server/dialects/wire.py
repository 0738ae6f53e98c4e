"""Bytes of streams and of errors, as the dialects share them. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headstart.core.text.whole import whole_json
from headstart.server.dialects.declined import Declined

DONE = b"data: [DONE]\n\n"
_OPENAI_KINDS = {"not_found_error": "invalid_request_error", "request_too_large": "invalid_request"}


def event(data: Mapping[str, Any], name: str = "") -> bytes:
    """One server-sent event."""
    head = f"event: {name}\n".encode() if name else b""
    return head + b"data: " + whole_json(data) + b"\n\n"


def comment(text: str) -> bytes:
    """A line that no program reads; not a bare colon, which some take for the end."""
    return f": {text}\n\n".encode()


def openai_error(declined: Declined) -> dict[str, Any]:
    """An error as OpenAI's dialects have it."""
    return {
        "error": {
            "message": declined.message,
            "type": _OPENAI_KINDS.get(declined.kind, declined.kind),
            "param": declined.param or None,
            "code": declined.code or None,
        }
    }


def anthropic_error(declined: Declined) -> dict[str, Any]:
    """An error as Anthropic's dialect has it."""
    return {"type": "error", "error": {"type": declined.kind, "message": declined.message}}
