"""The program's own tools, as a model is told of them: words for models stay English. Pure."""

from __future__ import annotations

import json
from collections.abc import Sequence

from headstart.core.tools import ToolSpec

# characters of a file in one call
PIECE = 6_000

CALCULATE = ToolSpec(
    "calculate",
    "Compute a term exactly: + - * / // % **, parentheses, sqrt, round, floor, ceil, abs, min, "
    "max, sum, factorial.",
    json.dumps(
        {
            "type": "object",
            "properties": {"term": {"type": "string", "description": "Such as (19.99 * 3) / 7"}},
            "required": ["term"],
        }
    ),
)
NOW = ToolSpec("current_time", "The date, the time and the weekday now, with the time zone.")
SEARCH = ToolSpec(
    "search_chats",
    "Find messages in the user's own chats that have all of these words.",
    json.dumps(
        {
            "type": "object",
            "properties": {"words": {"type": "string", "description": "Words to look for"}},
            "required": ["words"],
        }
    ),
)
READ_FILE = ToolSpec(
    "read_attachment",
    f"Read a part of a file that is attached to this chat, {PIECE} characters at a time.",
    json.dumps(
        {
            "type": "object",
            "properties": {
                "name": {"type": "string", "description": "The file's name"},
                "from": {"type": "integer", "description": "Position of the first character"},
            },
            "required": ["name"],
        }
    ),
)
SEARCH_FILES = ToolSpec(
    "search_files",
    "Find passages in the folders of documents, notes and code that the user chose for this chat.",
    json.dumps(
        {
            "type": "object",
            "properties": {
                "question": {
                    "type": "string",
                    "description": "Words or a question; words in quotes must be there literally",
                }
            },
            "required": ["question"],
        }
    ),
)
READ_INDEXED = ToolSpec(
    "read_file",
    f"Read a part of a file that search_files has found, {PIECE} characters at a time.",
    json.dumps(
        {
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "The file's path, as it was found"},
                "from": {"type": "integer", "description": "Position of the first character"},
            },
            "required": ["path"],
        }
    ),
)
OWN_TOOLS = (CALCULATE, NOW, SEARCH, READ_FILE, SEARCH_FILES, READ_INDEXED)


def own_specs(names: Sequence[str]) -> tuple[ToolSpec, ...]:
    """The program's tools with these names, in its own order."""
    return tuple(tool for tool in OWN_TOOLS if tool.name in names)
