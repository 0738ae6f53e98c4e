"""The blocks of a reply while it grows, and once complete. Pure, no Qt."""

from __future__ import annotations

import re
from html import unescape

from msgspec.structs import replace

from headstart.core.markdown.json_answer import indented_json
from headstart.ui.transcript.closing_tags import closing_tags
from headstart.ui.transcript.markdown import Block, BlockKind, parse

# words separated by single spaces; the first may be the rest of a word
_WORD = r"[^\W_]+(?:['’-][^\W_]+)*[,;.!?:]?"
_WORDS = re.compile(rf" ?{_WORD}(?: {_WORD})*")
_ENDING = ("p", "li", "ul", "ol", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6")
# text after the last markup, with no character that begins markup, and a whole word at its end
_PLAIN = re.compile(r"[^*_`$\[\]\\<>&^~|:@/#=+\n]*[^\W_][,;.!?)]?")
_LETTERS = re.compile(r"(?:^| )[^\W\d_]+$")


def parse_reply(text: str, growing: bool = False) -> list[Block]:
    """Like `parse`, but a text that is all JSON becomes one indented code block."""
    shown = indented_json(text, growing)
    if shown is None:
        return parse(text, growing=growing)
    return [Block(BlockKind.CODE, 0, text, text=shown, language="json", open=growing, written=text)]


class StreamingMarkdown:
    """Blocks of a growing text. `append` returns the index of the first changed block."""

    def __init__(self, text: str = "") -> None:
        self.reset(text)

    def reset(self, text: str, growing: bool = False) -> None:
        """Start over with another text."""
        self.text = text
        self.blocks = parse_reply(text, growing)

    def append(self, more: str) -> int:
        if not more:
            return len(self.blocks)
        longer = with_words(self.blocks[-1], more) if self.blocks else None
        before = self.text
        self.text += more
        if longer is not None and before.endswith(self.blocks[-1].source):
            self.blocks[-1] = longer
            return len(self.blocks) - 1
        json_before = bool(self.blocks) and bool(self.blocks[0].written)
        short = len(self.blocks) <= 1
        if json_before or (short and indented_json(self.text, growing=True) is not None):
            return self._take(parse_reply(self.text, growing=True), 0)
        kept = max(0, len(self.blocks) - 2)
        while kept and self.blocks[kept].kind is BlockKind.TABLE:
            # later parts of a table have no header, so start at its first part
            kept -= 1
        block = self.blocks[kept] if kept < len(self.blocks) else None
        start = 0 if block is None else block.start
        # indented code is recognised only from the start of its line
        start = self.text.rfind("\n", 0, start) + 1
        number = 0 if block is None else block.number
        fresh = parse(self.text[start:], start, growing=True, number=number)
        if fresh and block is not None and fresh[0].kind is BlockKind.ITEM:
            fresh[0] = _replaced(fresh[0], block)
        return self._take(fresh, kept)

    def finished(self) -> list[Block]:
        """The blocks of the whole text, parsed again: a late definition can change any block."""
        return parse_reply(self.text)

    def adopt(self, fresh: list[Block]) -> int:
        """Take the blocks of `finished`; return the index of the first changed one."""
        return self._take(fresh, 0)

    def finish(self) -> int:
        return self.adopt(self.finished())

    def _take(self, fresh: list[Block], kept: int) -> int:
        same = 0
        for one, other in zip(self.blocks[kept:], fresh, strict=False):
            if one != other:
                break
            same += 1
        if not kept and same == len(self.blocks) == len(fresh):
            return same
        self.blocks[kept:] = fresh
        return kept + same


def with_words(block: Block, more: str) -> Block | None:
    """The block with plain words appended: the result of parsing, in a fortieth of the time. None
    if the words may be part of markup."""
    if block.kind not in (BlockKind.PROSE, BlockKind.ITEM) or not _WORDS.fullmatch(more):
        return None
    head = block.html[: closing_tags(block.html, _ENDING)]
    ends = block.html[len(head) :]
    if not ends:
        return None
    last = unescape(head[head.rfind(">") + 1 :])
    # a plain word may continue; one with a dot or a sign may be an address or markup
    known = _PLAIN.fullmatch(last) is not None and block.source.endswith(last)
    if not known or (not more.startswith(" ") and not _LETTERS.search(last)):
        return None
    source, html = block.source + more, f"{head}{more}{ends}"
    return replace(block, source=source, html=html)


def _replaced(item: Block, before: Block) -> Block:
    """Restore the `tight` flag of an item that was parsed as the first one of a list."""
    if before.kind is not BlockKind.ITEM or item.start != before.start:
        return item
    return Block(
        item.kind, item.start, item.source, item.html, number=item.number, tight=before.tight
    )
