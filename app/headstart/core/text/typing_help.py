"""Markdown at the beginning of a new line during typing. Pure."""

from __future__ import annotations

import re

_ITEM = re.compile(r"^(\s*)(?:([-*+])|(\d{1,9})([.)]))( +)(\[[ xX]\] +)?")
_FENCE = re.compile(r"^ {0,3}(?P<mark>`{3,}|~{3,})(?P<info>.*)$")
_INDENT = re.compile(r"^[ \t]*")


def is_in_code(before: str) -> bool:
    """True if the text before the cursor has an open code fence, by CommonMark's rules: backticks
    after a fence of backticks make it inline code, and a closing fence must be at least as long."""
    mark = ""
    for line in before.split("\n"):
        found = _FENCE.match(line)
        if found is None:
            continue
        fence, info = found["mark"], found["info"]
        if not mark:
            if not (fence[0] == "`" and "`" in info):
                mark = fence
        elif fence[0] == mark[0] and len(fence) >= len(mark) and not info.strip():
            mark = ""
    return bool(mark)


def next_line(before: str) -> tuple[int, str]:
    """Number of characters to remove from the last line, if it is an empty list item, which ends
    the list; and the beginning of the new line."""
    line = before.rpartition("\n")[2]
    if is_in_code(before):
        found = _INDENT.match(line)
        return 0, found[0] if found is not None else ""
    item = _ITEM.match(line)
    if item is None:
        return 0, ""
    if not line[item.end() :].strip():
        return len(line), ""
    indent, sign, number, after, space, task = item.groups()
    mark = sign or f"{int(number) + 1}{after}"
    return 0, f"{indent}{mark}{space}{'[ ] ' if task else ''}"
