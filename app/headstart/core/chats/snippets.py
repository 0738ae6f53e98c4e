"""Excerpts of messages without the signs of Markdown. Pure."""

from __future__ import annotations

import re

from headstart.core.chats.search import Snippet

# a link or picture (its words stay), the beginning of a heading, quote or item, the line below a
# table's head, its cells, code, emphasis at the edge of a word
_SIGNS = re.compile(
    r"!?\[(?P<words>[^\[\]\n]{0,200})\]\([^()\s]{0,400}\)"
    r"|^[ ]{0,8}(?:\#{1,6}|>{1,3}|[-+*])[ ]{1,4}"
    r"|^[ ]{0,3}\|?[ ]?:?-{3,60}:?(?:[ ]?\|[ ]?:?-{3,60}:?){0,20}[ ]?\|?$"
    r"|^\|[ ]|[ ]\|$|(?<=[ ])\|[ ]"
    r"|`{1,4}|~~"
    r"|(?<![\w*])\*{1,3}(?=[^\s*])|(?<=[^\s*])\*{1,3}(?![\w*])"
    r"|(?<![\w_])_{1,3}(?=[^\s_])|(?<=[^\s_])_{1,3}(?![\w_])",
    re.MULTILINE,
)


def without_signs(snippet: Snippet) -> Snippet:
    """The excerpt as its words are read, in one line, with its marks where they are now."""
    text = snippet.text
    kept: list[tuple[int, int]] = []
    at = 0
    for found in _SIGNS.finditer(text):
        kept.append((at, found.start()))
        if found["words"] is not None:
            kept.append(found.span("words"))
        at = found.end()
    kept.append((at, len(text)))
    moved: list[int] = []
    length = 0
    for begin, end in kept:
        # dropped characters are where the kept ones begin again
        moved += [length] * (begin - len(moved))
        moved += range(length, length + end - begin)
        length += end - begin
    moved += [length] * (len(text) + 1 - len(moved))
    marks = [(moved[begin], moved[end]) for begin, end in snippet.marks]
    words = "".join(text[begin:end] for begin, end in kept).replace("\n", " ")
    return Snippet(words, tuple(one for one in marks if one[0] < one[1]))
