"""Parses Markdown into blocks, at once or while it streams; pure, no Qt.

One widget shows one block: a paragraph, an item of a top-level list, a table (or a part of a long
one), fenced code, a display formula. While text streams, only the last two blocks are parsed again:
a list can still absorb the paragraph after it, nothing reaches further back.

Raw HTML is shown as text, remote images as links: nothing is ever fetched.
"""

from __future__ import annotations

import functools
import html
import re
from collections.abc import Callable, Iterator, Sequence
from enum import Enum, auto
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from headstart.core.markdown.parser import (
    DISPLAY_MATH,
    GROWING,
    MATH,
    MATH_BLOCK,
    formula_name,
    language_of,
    make_parser,
    note_label,
    source_of,
    task_of,
)
from headstart.core.text.shown import begins_at_right
from headstart.ui.wording import say

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token


_LONE_RETURN = re.compile(r"\r(?!\n)")
# rows of a table laid out together
ROWS = 40
# characters of a user's message laid out together
PLAIN_PART = 10_000


class BlockKind(Enum):
    PROSE = auto()
    ITEM = auto()
    CODE = auto()
    TABLE = auto()
    FORMULA = auto()
    # verbatim
    PLAIN = auto()


class Block(Struct, frozen=True):
    """`source` is the Markdown, `start` its offset in the whole text. `html`: for prose, items and
    tables; `text`: plain text, code with its `language`, or LaTeX.

    `number`: of an item in an ordered list. `tight`: no space above, the block continues the one
    before it. `columns`: the longest text in each column of the whole table.
    """

    kind: BlockKind
    start: int
    source: str
    html: str = ""
    text: str = ""
    language: str = ""
    number: int = 0
    tight: bool = False
    columns: tuple[str, ...] = ()
    # a table whose first column is the right one
    from_right: bool = False
    # a formula or an answer still being written
    open: bool = False
    # the next block continues the same table, code or user's message
    goes_on: bool = False
    # code as written, if it is shown differently
    written: str = ""

    @property
    def whole(self) -> bool:
        return not (self.tight or self.goes_on)


def parse(text: str, start: int = 0, *, growing: bool = False, number: int = 0) -> list[Block]:
    """All blocks of `text`, which begins at offset `start` of the whole. `growing`: more text will
    follow; `number`: of the list item that begins the text."""
    # the parser treats a lone carriage return as a line end, and so must the offsets
    text = _LONE_RETURN.sub("\n", text)
    tokens = _markdown().parse(text, {GROWING: growing})
    lines = _line_starts(text)
    blocks: list[Block] = []
    for group in _groups(tokens):
        first = group[0]
        if first.map is None:
            continue

        def source(token: Token) -> tuple[int, str]:
            begin, end = token.map or [0, 0]
            at = lines[begin]
            return start + at, text[at : lines[min(end, len(lines) - 1)]]

        match first.type:
            case "fence" | "code_block":
                language = language_of(first)
                code = first.content.removesuffix("\n")
                blocks.append(Block(BlockKind.CODE, *source(first), text=code, language=language))
            case "math_block":
                blocks.append(
                    Block(
                        BlockKind.FORMULA,
                        *source(first),
                        text=first.content,
                        open=bool(first.meta.get("open")),
                    )
                )
            case "bullet_list_open" | "ordered_list_open":
                count = number if not blocks and number else None
                blocks += _items(group, source, count)
            case "table_open":
                blocks += _tables(group, source)
            case "footnote_reference_open":
                label = f"<sup>{html.escape(note_label(first))}</sup> "
                body = _render(group[1:-1]).replace("<p>", f"<p>{label}", 1)
                blocks.append(Block(BlockKind.PROSE, *source(first), html=body))
            case _:
                blocks.append(Block(BlockKind.PROSE, *source(first), html=_render(group)))
    return blocks


def plain(text: str) -> list[Block]:
    """Verbatim text as blocks; a long one is split between lines where possible."""
    if len(text) <= PLAIN_PART:
        return [Block(BlockKind.PLAIN, 0, text, text=text)]
    blocks, at = [], 0
    while at < len(text):
        end = at + PLAIN_PART
        # a longer line stays whole
        end = text.rfind("\n", at, end) + 1 or text.find("\n", end) + 1 or len(text)
        part, more = text[at:end], end < len(text)
        words = part.removesuffix("\n") if more else part
        blocks.append(Block(BlockKind.PLAIN, at, part, text=words, tight=at > 0, goes_on=more))
        at = end
    return blocks


# --- lists and tables --------------------------------------------------------------------

Source = Callable[["Token"], tuple[int, str]]


def _items(group: Sequence[Token], source: Source, number: int | None) -> Iterator[Block]:
    """Yield each item of a top-level list as a separate list, so that a long one is many blocks."""
    head, ordered = group[0], group[0].type == "ordered_list_open"
    count = int(head.attrs.get("start", 1)) if number is None else number
    for place, item in enumerate(_groups(group[1:-1])):
        if ordered:
            body = f'<ol start="{count}">{_render(item)}</ol>'
        else:
            body = f"<ul>{_render(item)}</ul>"
        tight = place > 0 and not _is_loose(group)
        yield Block(
            BlockKind.ITEM, *source(item[0]), html=body, number=count if ordered else 0, tight=tight
        )
        count += 1


def _is_loose(group: Sequence[Token]) -> bool:
    """True if an empty line is between items or inside one."""
    return any(
        token.type == "paragraph_open" and token.level == group[0].level + 2 and not token.hidden
        for token in group
    )


def _tables(group: Sequence[Token], source: Source) -> Iterator[Block]:
    """Yield a table; a long one in parts with the same columns."""
    start, whole = source(group[0])
    rows = list(_rows(group))
    columns = tuple(
        max((row[place] for row in rows if place < len(row)), key=len, default="")
        for place in range(max(map(len, rows), default=0))
    )
    from_right = bool(rows) and begins_at_right(" ".join(rows[0]))
    bodies = [at for at, token in enumerate(group) if token.type == "tr_open"]
    if len(bodies) <= ROWS + 1:
        yield Block(
            BlockKind.TABLE,
            start,
            whole,
            html=_render(group),
            columns=columns,
            from_right=from_right,
        )
        return
    starts = _line_starts(whole)
    lines = [whole[begin:end] for begin, end in pairwise(starts)]
    at, line = 0, 0
    for first in range(0, len(bodies), ROWS):
        begin = bodies[first]
        more = first + ROWS < len(bodies)
        end = bodies[first + ROWS] if more else len(group)
        # the line between head and rows is not a row
        last = first + ROWS + 1 if more else len(lines)
        text = "".join(lines[line:last])
        opening, closing = ("", "") if first == 0 else (_TABLE, "")
        body = _render(group[0 if first == 0 else begin : end])
        if more:
            closing = "</table>"
        yield Block(
            BlockKind.TABLE,
            start + at,
            text,
            html=f"{opening}{body}{closing}",
            columns=columns,
            from_right=from_right,
            tight=first > 0,
            goes_on=more,
        )
        at, line = at + len(text), last


def _rows(group: Sequence[Token]) -> Iterator[list[str]]:
    row: list[str] = []
    for token in group:
        if token.type == "tr_open":
            row = []
        elif token.type == "inline":
            row.append(token.content)
        elif token.type == "tr_close":
            yield row


# --- rendering ---------------------------------------------------------------------------


def _groups(tokens: Sequence[Token]) -> list[list[Token]]:
    groups: list[list[Token]] = []
    depth = 0
    for token in tokens:
        if depth == 0:
            groups.append([])
        groups[-1].append(token)
        depth += token.nesting
    return groups


def _line_starts(text: str) -> list[int]:
    starts = [0]
    at = text.find("\n")
    while at >= 0:
        starts.append(at + 1)
        at = text.find("\n", at + 1)
    if starts[-1] != len(text):
        starts.append(len(text))
    return starts


def _render(tokens: Sequence[Token]) -> str:
    md = _markdown()
    env: dict[str, Any] = {}
    return str(md.renderer.render(tokens, md.options, env)).rstrip("\n")


def html_of(text: str) -> str:
    """Markdown as HTML for other programs; formulas stay as written."""
    return str(_for_copies().render(text, {}))


@functools.cache
def _for_copies() -> MarkdownIt:
    written = dict.fromkeys(
        (MATH, DISPLAY_MATH, MATH_BLOCK), lambda token: html.escape(source_of(token))
    )
    return make_parser(
        {**_RULES, **written, "fence": _code_for_copies, "code_block": _code_for_copies}
    )


def _code_for_copies(token: Token) -> str:
    return f"<pre><code>{html.escape(token.content)}</code></pre>"


@functools.cache
def _markdown() -> MarkdownIt:
    return make_parser(_RULES)


def _image(token: Token) -> str:
    url, label = str(token.attrs.get("src", "")), token.content or say("transcript.an-image")
    words = html.escape(say("transcript.image", label=label))
    return f'<a href="{html.escape(url, quote=True)}">[{words}]</a>'


def _link_open(token: Token) -> str:
    url = str(token.attrs.get("href", ""))
    return f'<a href="{html.escape(url, quote=True)}">'


def _nested_code(token: Token) -> str:
    return f"<pre>{html.escape(token.content.rstrip())}</pre>"


def _formula(token: Token) -> str:
    return f'<img src="{formula_name(token)}">'


def _formula_block(token: Token) -> str:
    if token.meta.get("open"):
        return f"<p>{html.escape(source_of(token))}</p>"
    return f"<p>{_formula(token)}</p>"


def _item_open(token: Token) -> str:
    done = task_of(token)
    # Qt draws these as boxes
    return "<li>" if done is None else f'<li class="{"checked" if done else "unchecked"}">'


def _cell_open(tag: str) -> Callable[[Token], str]:
    def rule(token: Token) -> str:
        style = str(token.attrs.get("style", ""))
        # a style attribute would remove the borders
        return f'<{tag} align="{style.removeprefix("text-align:")}">' if style else f"<{tag}>"

    return rule


# Qt takes table borders only from attributes
_TABLE = '<table border="1" cellspacing="0" cellpadding="6">'
_RULES: dict[str, Callable[[Token], str]] = {
    "image": _image,
    "link_open": _link_open,
    "fence": _nested_code,
    "code_block": _nested_code,
    "math": _formula,
    "math_display": _formula,
    "math_block": _formula_block,
    "list_item_open": _item_open,
    "th_open": _cell_open("th"),
    "td_open": _cell_open("td"),
    "table_open": lambda _: _TABLE,
    "footnote_ref": lambda token: f"<sup>{html.escape(note_label(token))}</sup>",
    "footnote_reference_open": lambda token: f"<sup>{html.escape(note_label(token))}</sup> ",
    "footnote_reference_close": lambda _: "",
}
