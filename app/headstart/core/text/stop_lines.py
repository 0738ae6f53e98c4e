"""Stop strings as lines of a text field: one per line, with any character; a line break inside one
is written as \\n. Pure."""

from __future__ import annotations

import re

_ESCAPED = {"\\n": "\n", "\\t": "\t", "\\r": "\r", "\\\\": "\\"}
_WRITTEN = re.compile(r"\\[ntr\\]")
_TO_WRITE = re.compile(r"[\n\t\r]|\\(?=[ntr\\\n\t\r]|\Z)")
_LONGEST = 200


def stops_of(text: str) -> tuple[str, ...]:
    """The stop strings of a field; a backslash before any other character is literal."""
    lines = (_WRITTEN.sub(lambda found: _ESCAPED[found[0]], line) for line in text.split("\n"))
    return tuple(line[:_LONGEST] for line in lines if line)


def stop_text(stops: tuple[str, ...]) -> str:
    """The strings as lines; the inverse of `stops_of`."""
    written = {value: key for key, value in _ESCAPED.items()}
    return "\n".join(_TO_WRITE.sub(lambda found: written[found[0]], one) for one in stops)
