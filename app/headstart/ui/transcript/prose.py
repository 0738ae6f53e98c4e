"""Turns a block's HTML into a document in the theme's fonts and colours. Main thread."""

from __future__ import annotations

import html
import re

from PySide6.QtGui import (
    QColor,
    QTextBlockFormat,
    QTextCursor,
    QTextDocument,
    QTextFormat,
)

from headstart.ui.kit import theme
from headstart.ui.kit.formulas import place_formulas
from headstart.ui.kit.line_heights import is_high, set_line_height
from headstart.ui.kit.wrapping import is_endless, wrap
from headstart.ui.transcript.closing_tags import closing_tags
from headstart.ui.transcript.markdown import Block

_RULE = QTextFormat.Property.BlockTrailingHorizontalRulerWidth

# markup, or whitespace that HTML collapses
_MARKS = re.compile(r"[<\n\r\t]|  | $")


def growth(before: str, after: str) -> str | None:
    """The text appended to a paragraph or item, from its HTML before and after; None if anything
    else changed."""
    begin = before[: closing_tags(before)]
    ends = before[len(begin) :]
    if not ends or "</a>" in ends or not after.endswith(ends):
        return None
    more = after[len(begin) : len(after) - len(ends)]
    # after a tag it is unclear which format new text belongs to
    behind = begin[-1:]
    if not after.startswith(begin) or behind in (">", "") or behind.isspace():
        return None
    if not more or _MARKS.search(more):
        return None
    words = html.unescape(more)
    # the paragraph may get another height
    return None if is_high(words) else words


def append(document: QTextDocument, words: str) -> None:
    """Append text found by `growth`, with the same result as `fill`."""
    cursor = QTextCursor(document)
    cursor.movePosition(QTextCursor.MoveOperation.End)
    cursor.insertText(words)


def fill(document: QTextDocument, block: Block) -> None:
    """Fill `document` with prose, an item or a table."""
    wrap(document, is_endless(block.source), theme.reading_font())
    document.setDefaultStyleSheet(_style())
    document.setHtml(block.html)
    place_formulas(document, lambda: theme.current().ink)
    _space_lines(document)


def _style() -> str:
    colours = theme.current()
    size = theme.px(theme.READING_SIZE)
    families = ", ".join(f"'{one}'" for one in theme.code_font().families())
    return (
        f"a {{ color: {colours.accent_text}; }}"
        f"code, pre {{ font-family: {families}; font-size: {theme.px(theme.CODE_SIZE)}px;"
        f" background-color: {colours.code}; }}"
        "pre { white-space: pre-wrap; }"
        f"h1 {{ font-size: {round(size * 1.5)}px; }} h2 {{ font-size: {round(size * 1.3)}px; }}"
        f"h3, h4, h5, h6 {{ font-size: {round(size * 1.1)}px; }}"
        f"blockquote {{ color: {colours.quiet}; }}"
        f"sup {{ color: {colours.accent_text}; font-size: {theme.px(11)}px; }}"
        f"table {{ border-collapse: collapse; border-color: {colours.line}; }}"
        f"th {{ background-color: {colours.code}; }}"
        f"th, td {{ border: 1px solid {colours.line}; }}"
    )


def _space_lines(document: QTextDocument) -> None:
    cursor = QTextCursor(document)
    # one edit: otherwise Qt repeats the whole layout for every line
    cursor.beginEditBlock()
    block = document.begin()
    last = document.blockCount() - 1
    # cells side by side stand on one line
    high = is_high(document.toRawText())
    while block.isValid():
        form = QTextBlockFormat()
        in_table = QTextCursor(block).currentTable() is not None
        if not block.blockFormat().headingLevel():
            set_line_height(form, high, in_table)
        if block.blockFormat().hasProperty(_RULE):
            # otherwise Qt draws a rule in the text colour
            form.setBackground(QColor(theme.current().edge))
        # the transcript sets the space around a block
        if block.blockNumber() == 0:
            form.setTopMargin(0)
        if block.blockNumber() == last:
            form.setBottomMargin(0)
        elif block.textList() is not None:
            form.setTopMargin(0)
            form.setBottomMargin(2)
        cursor.setPosition(block.position())
        cursor.mergeBlockFormat(form)
        block = block.next()
    cursor.endEditBlock()
