"""ChatGPT's conversations, made by hand after how its export writes them."""

from __future__ import annotations

import json
from typing import Any

FENCE = "```cpp\n#include <vector>\nint a[] = {1, 2}; // a != b\n```"
LATEX = "$$\n\\begin{pmatrix} a & b \\\\ c & d \\end{pmatrix}\n$$"


def dumps(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode()


def gpt_node(
    key: str,
    parent: str | None,
    role: str = "user",
    text: str = "",
    *,
    time: float = 1_700_000_000.0,
    content: dict[str, Any] | None = None,
    **message: Any,
) -> dict[str, Any]:
    """A node of a mapping; `content` in place of plain text, further keys of the message."""
    metadata = message.pop("metadata", {"model_slug": "gpt-5"} if role == "assistant" else {})
    author = {"role": role, "name": message.pop("name", None), "metadata": {}}
    return {
        "id": key,
        "parent": parent,
        "children": [],
        "message": {
            "id": key,
            "author": author,
            "create_time": time,
            "content": content or {"content_type": "text", "parts": [text]},
            "status": "finished_successfully",
            "weight": 1.0,
            "recipient": "all",
            "metadata": metadata,
            **message,
        },
    }


def chatgpt(**changes: Any) -> dict[str, Any]:
    """A conversation with a system message that nobody sees, two versions of a reply, thoughts,
    and a call of a tool."""
    nodes = [
        {"id": "root", "parent": None, "children": ["sys"], "message": None},
        gpt_node(
            "sys", "root", "system", "", metadata={"is_visually_hidden_from_conversation": True}
        ),
        gpt_node("u1", "sys", "user", f"How do I make a vector?\n\n{FENCE}", time=1_700_000_001.5),
        gpt_node("a1", "u1", "assistant", "The first answer.", time=1_700_000_002.0),
        gpt_node(
            "t2",
            "u1",
            "assistant",
            time=1_700_000_003.0,
            content={
                "content_type": "thoughts",
                "thoughts": [{"summary": "Looking", "content": "A vector is a list."}],
            },
        ),
        gpt_node(
            "r2",
            "t2",
            "assistant",
            time=1_700_000_003.2,
            content={"content_type": "reasoning_recap", "content": "Thought for 3 s"},
        ),
        gpt_node(
            "c2",
            "r2",
            "assistant",
            time=1_700_000_003.4,
            recipient="python",
            content={"content_type": "code", "language": "python", "text": "print(1)"},
        ),
        gpt_node(
            "o2",
            "c2",
            "tool",
            time=1_700_000_003.6,
            name="python",
            content={"content_type": "execution_output", "text": "1"},
        ),
        gpt_node("a2", "o2", "assistant", f"The second answer.\n\n{LATEX}", time=1_700_000_004.0),
        gpt_node("u2", "a2", "user", "Thanks", time=1_700_000_005.0),
    ]
    return {
        "id": "conv-1",
        "conversation_id": "conv-1",
        "title": "A vector, please",
        "create_time": 1_700_000_000.0,
        "update_time": 1_700_000_005.25,
        "current_node": "u2",
        "default_model_slug": "gpt-5",
        "is_archived": False,
        "is_starred": True,
        "mapping": {str(node["id"]): node for node in nodes},
        **changes,
    }


def chatgpt_image(pointer: str) -> dict[str, Any]:
    """A conversation whose question has an image."""
    piece = {"content_type": "image_asset_pointer", "asset_pointer": pointer, "width": 3}
    content = {"content_type": "multimodal_text", "parts": [piece, "What is this?"]}
    nodes = [
        gpt_node("u", None, content=content),
        gpt_node("a", "u", "assistant", "Two lines of pixels."),
    ]
    mapping = {str(node["id"]): node for node in nodes}
    return {"id": "conv-image", "title": "Pixels", "current_node": "a", "mapping": mapping}
