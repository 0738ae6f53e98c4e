"""The closing tags at the end of a block's HTML. Pure, no Qt."""

from __future__ import annotations

from collections.abc import Collection

# characters of the longest tag that is looked for
_LONGEST = 24


def closing_tags(html: str, names: Collection[str] = ()) -> int:
    """The place from which on there are only closing tags and white space, the first tag included;
    the length of `html` where it ends otherwise. `names`: those that count, () for any."""
    place = len(html)
    while True:
        end = place
        while end and html[end - 1].isspace():
            end -= 1
        begin = html.rfind("</", max(0, end - _LONGEST), end)
        if begin < 0 or html[end - 1] != ">":
            return place
        name = html[begin + 2 : end - 1]
        if not (name in names if names else name.isalnum()):
            return place
        place = begin
