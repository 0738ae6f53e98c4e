"""Answers that are entirely JSON: recognized without a fence, indented for reading. Pure.

Numbers, escapes and the order of names are kept; only whitespace between them changes. A truncated
text is indented as far as it goes.
"""

from __future__ import annotations

import json
import re

# prose can begin with a bracket too: “[1] says”, “{name}, hello”
_BEGINS = re.compile(r"\s*[{\[]")
_GROWS = re.compile(r'\s*(?:\{\s*"|\[\s*["{\[])')
_STRING = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\\?\Z)', re.DOTALL)
_PLAIN = re.compile(r'[^\s"{}\[\],:]+')
_SPACE = re.compile(r"\s+")
_STEP = "  "
# deeper nesting is not readable, and indentation grows with the square of the depth
_DEEPEST = 64
_PAIRS = {"}": "{", "]": "["}


def indented_json(text: str, growing: bool = False) -> str | None:
    """The text with a name or value on each line, None unless it is a JSON object or array at most
    64 levels deep.

    Accepts a text that begins like JSON and was cut off; with `growing`, also one whose brackets
    are already closed."""
    if _BEGINS.match(text) is None:
        return None
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        if _GROWS.match(text) is None:
            return None
        shown, complete = _indent(text)
        # text after the end, or a wrong closing bracket, means prose
        return None if shown is None or (complete and not growing) else shown
    return _indent(text)[0]


def is_whole_json(text: str) -> bool:
    """True if the whole text is JSON."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _indent(text: str) -> tuple[str | None, bool]:
    """The text indented, None if brackets do not match or nest too deep; and whether it has
    ended."""
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
            # empty: the brackets stay together
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
