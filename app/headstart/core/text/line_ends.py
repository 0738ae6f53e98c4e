"""Line ends of a text that was edited in a field, which knows only one of them. Pure."""

from __future__ import annotations

import re
from collections import Counter
from itertools import takewhile

# the characters that a field shows as the end of a line
_END = re.compile("\r\n|[\r\n\u2029]")


def as_edited(text: str, shown: str, now: str) -> str:
    """The text with the changes made in a field, its other lines word for word.

    `shown`: the text as the field showed it, where each line ends with "\\n"; `now`: as it shows it
    after the changes. Lines before the first and after the last changed one stay as they are, those
    between get the text's usual line end.
    """
    if now == shown:
        return text
    lines, ends = _END.split(text), _END.findall(text)
    old, new = shown.split("\n"), now.split("\n")
    if len(old) != len(lines) or not ends:
        # a field that divides lines in another way
        return now
    usual = Counter(ends).most_common(1)[0][0]
    head = _same(old, new)
    tail = _same(old[head:][::-1], new[head:][::-1])
    kept = [*zip(lines, [*ends, usual], strict=True)]
    changed = [(line, usual) for line in new[head : len(new) - tail]]
    whole = [*kept[:head], *changed, *kept[len(kept) - tail :]]
    pieces = [piece for line in whole for piece in line]
    # the last line has no end
    found = "".join(pieces[:-1])
    # a "\r" before an empty line that ends with "\n" would be one end
    return found if len(_END.findall(found)) == now.count("\n") else now


def _same(one: list[str], other: list[str]) -> int:
    """The number of lines that two lists begin with alike."""
    both = zip(one, other, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], both))
