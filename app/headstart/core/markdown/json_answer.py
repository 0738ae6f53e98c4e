"""Answers that are JSON from beginning to end: found without a fence, indented for reading. Pure.

Numbers, escapes and the order of names stay as they were written; only the room between them is
another one. A text that stops in the middle is indented as far as it goes.
"""

from __future__ import annotations

import json
import re

# prose begins with a bracket too: “[1] says”, “{name}, hello”
_BEGINS = re.compile(r"\s*[{\[]")
_GROWS = re.compile(r'\s*(?:\{\s*"|\[\s*["{\[])')
_STRING = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)', re.DOTALL)
_PLAIN = re.compile(r'[^\s"{}\[\],:]+')
_SPACE = re.compile(r"\s+")
_STEP = "  "
# deeper ones are no answer to read: the room before their lines grows with the square of the depth
_DEEPEST = 64
_PAIRS = {"}": "{", "]": "["}


def indented_json(text: str, growing: bool = False) -> str | None:
    """The text with a name or value on each line, None where it is no JSON object or array, or one
    more than 64 deep.

    `growing`, or stopped: what has begun like one and is not at its end is taken for one."""
    if _BEGINS.match(text) is None:
        return None
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        if _GROWS.match(text) is None:
            return None
        shown, complete = _indent(text)
        # an end with more after it, or of the wrong kind, is prose
        return None if shown is None or (complete and not growing) else shown
    return _indent(text)[0]


def is_whole_json(text: str) -> bool:
    """True for a text that is JSON to its end."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _indent(text: str) -> tuple[str | None, bool]:
    """The text indented, None where brackets do not fit or lie too deep; and if it has ended."""
    pieces: list[str] = []
    open_: list[str] = []
    at, fresh, closed = 0, False, False
    while at < len(text):
        space = _SPACE.match(text, at)
        if space is not None:
            at = space.end()
            continue
        if closed:
            return None, True
        one = text[at]
        if one in "}]":
            if not open_ or open_.pop() != _PAIRS[one]:
                return None, True
            # nothing inside: they stay beside each other
            pieces.append(one if fresh else "\n" + _STEP * len(open_) + one)
            at, fresh, closed = at + 1, False, not open_
            continue
        if fresh:
            pieces.append("\n" + _STEP * len(open_))
            fresh = False
        if one in "{[":
            if len(open_) == _DEEPEST:
                return None, True
            pieces.append(one)
            open_.append(one)
            at, fresh = at + 1, True
        elif one == ",":
            pieces.append(",")
            at, fresh = at + 1, True
        elif one == ":":
            pieces.append(": ")
            at += 1
        else:
            word = _STRING.match(text, at) if one == '"' else _PLAIN.match(text, at)
            assert word is not None
            pieces.append(word.group())
            at = word.end()
    return "".join(pieces).rstrip(" "), closed
