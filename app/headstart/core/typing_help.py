"""What a new line begins with while one types Markdown. Pure."""

from __future__ import annotations

import re

_ITEM = re.compile(r"^(\s*)(?:([-*+])|(\d{1,9})([.)]))( +)(\[[ xX]\] +)?")
_FENCE = re.compile(r"^ {0,3}(```|~~~)", re.MULTILINE)
_INDENT = re.compile(r"^[ \t]*")


def is_in_code(before: str) -> bool:
    """Whether fenced code was begun and not ended in the text before the cursor."""
    return len(_FENCE.findall(before)) % 2 == 1


def next_line(before: str) -> tuple[int, str]:
    """How many characters of the last line go, where that was an item without words, which ends its
    list; and what a new line begins with."""
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
