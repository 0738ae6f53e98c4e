"""JSON of which only the beginning is there. Pure."""

from __future__ import annotations

import json
import re

_HALF_ESCAPE = re.compile(r"(?<!\\)((?:\\\\)*)\\(?:u[0-9a-fA-F]{0,3})?\Z")
# the last string may stand open
_STRING = re.compile(r'"(?:[^"\\]|\\.)*("|\\?\Z)', re.DOTALL)


def begun_string(text: str) -> str | None:
    """The text of a JSON string, from its first quotation mark on, that is not closed; None where
    there is none. Half an escape is left out."""
    try:
        found = json.loads(_HALF_ESCAPE.sub(r"\1", text) + '"', strict=False)
    except ValueError:
        return None
    return found if isinstance(found, str) else None


def is_begun(text: str) -> bool:
    """True if a JSON text ends within a string or within brackets."""
    outside = _STRING.sub(lambda found: "" if found[1] == '"' else '"', text)
    opened = sum(outside.count(sign) for sign in "{[") - sum(outside.count(one) for one in "}]")
    return '"' in outside or opened > 0


def is_object(text: str) -> bool:
    """True if a JSON text is a whole object: the beginning of one never reads as one."""
    try:
        return isinstance(json.loads(text, strict=False), dict)
    except (ValueError, RecursionError):
        return False
