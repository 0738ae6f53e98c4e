"""Markdown to blocks, once or while it streams; pure, no Qt.

A block is a top-level piece: prose as safe HTML, or fenced code as plain text. While text
streams, only the last two blocks are parsed again: an ordered list can still swallow the
paragraph after it, nothing reaches further back.

Raw HTML is shown as text, remote images as links: nothing is ever fetched.
"""

from __future__ import annotations

import functools
import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token


_LONE_RETURN = re.compile(r"\r(?!\n)")


@dataclass(frozen=True, slots=True)
class Block:
    """`html` for prose, `code` (with its `language`) for fenced code; `source` is the Markdown.

    `start` is the offset of the block in the whole text.
    """

    start: int
    source: str
    html: str = ""
    code: str | None = None
    language: str = ""


def parse(text: str, start: int = 0) -> list[Block]:
    """All blocks of `text`, which begins at offset `start` of the whole."""
    md = _markdown()
    # the parser takes a lone carriage return for a line's end, and so must the offsets
    text = _LONE_RETURN.sub("\n", text)
    env: dict[str, Any] = {}
    tokens = md.parse(text, env)
    lines = _line_starts(text)
    blocks = []
    for group in _top_level(tokens):
        first = group[0]
        if first.map is None:
            continue
        begin = lines[first.map[0]]
        end = lines[min(first.map[1], len(lines) - 1)]
        source = text[begin:end]
        if first.type in ("fence", "code_block"):
            language = first.info.split()[0] if first.info.strip() else ""
            code = first.content.removesuffix("\n")
            blocks.append(Block(start + begin, source, code=code, language=language))
        else:
            body = md.renderer.render(group, md.options, env).rstrip("\n")
            blocks.append(Block(start + begin, source, html=body))
    return blocks


class StreamingMarkdown:
    """Blocks of a text that grows. `append` says which block is the first that changed."""

    def __init__(self, text: str = "") -> None:
        self.reset(text)

    def reset(self, text: str) -> None:
        """Begin again with another text."""
        self.text = text
        self.blocks = parse(text)

    def append(self, more: str) -> int:
        if not more:
            return len(self.blocks)
        self.text += more
        kept = max(0, len(self.blocks) - 2)
        start = self.blocks[kept].start if kept < len(self.blocks) else 0
        # indented code is only told from its line's beginning
        start = self.text.rfind("\n", 0, start) + 1
        fresh = parse(self.text[start:], start)
        old = self.blocks[kept:]
        same = 0
        for one, other in zip(old, fresh, strict=False):
            if one != other:
                break
            same += 1
        self.blocks[kept:] = fresh
        return kept + same

    def finish(self) -> int:
        """Parse the whole text once more: a late link definition reaches back to any block."""
        fresh = parse(self.text)
        same = 0
        for one, other in zip(self.blocks, fresh, strict=False):
            if one != other:
                break
            same += 1
        if same == len(self.blocks) == len(fresh):
            return same
        self.blocks = fresh
        return same


def _top_level(tokens: Sequence[Token]) -> list[list[Token]]:
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


@functools.cache
def _markdown() -> MarkdownIt:
    from markdown_it import MarkdownIt

    md = MarkdownIt("commonmark", {"html": False, "linkify": True, "breaks": True})
    # only addresses that say so are links: main.py and README.md are file names
    md.linkify.set({"fuzzy_link": False, "fuzzy_email": False})  # type: ignore[union-attr]
    md.enable(["table", "strikethrough", "linkify"])
    md.add_render_rule("image", _image)
    md.add_render_rule("link_open", _link_open)
    md.add_render_rule("fence", _nested_code)
    md.add_render_rule("code_block", _nested_code)
    md.add_render_rule("table_open", _table_open)
    return md


def _image(self: Any, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    token = tokens[index]
    url, label = str(token.attrs.get("src", "")), token.content or "image"
    return f'<a href="{html.escape(url, quote=True)}">[image: {html.escape(label)}]</a>'


def _link_open(self: Any, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    url = str(tokens[index].attrs.get("href", ""))
    return f'<a href="{html.escape(url, quote=True)}">'


def _nested_code(self: Any, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    return f"<pre>{html.escape(tokens[index].content.rstrip())}</pre>"


def _table_open(self: Any, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
    # Qt knows the borders of a table only as attributes
    return '<table border="1" cellspacing="0" cellpadding="6">'
