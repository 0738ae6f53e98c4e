"""Markdown at the beginning of a new line while one types. Pure."""

from __future__ import annotations

import re

_ITEM = re.compile(r"^(\s*)(?:([-*+])|(\d{1,9})([.)]))( +)(\[[ xX]\] +)?")
_FENCE = re.compile(r"^ {0,3}(?P<mark>`{3,}|~{3,})(?P<info>.*)$")
_INDENT = re.compile(r"^[ \t]*")


def is_in_code(before: str) -> bool:
    """True where fenced code was begun and not ended in the text before the cursor, by CommonMark's
    rules: backticks behind a fence of backticks make it code in a line, and a fence is ended by one
    that is as long at least."""
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
    """Number of characters to remove from the last line, where that was an item without words,
    which ends its list; and what a new line begins with."""
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
