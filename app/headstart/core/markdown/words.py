"""Markdown as bare text: lists keep their markers, code its lines, LaTeX stays. Pure."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from headstart.core.markdown.parser import (
    DISPLAY_MATH,
    MATH,
    MATH_BLOCK,
    make_parser,
    note_label,
    source_of,
    task_of,
)

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token


def words_of(text: str) -> str:
    out: list[str] = []
    lists: list[int | None] = []
    notes: list[str] = []
    in_cell = False
    for token in _parser().parse(text, {}):
        match token.type:
            case "bullet_list_open":
                lists.append(None)
            case "ordered_list_open":
                lists.append(int(token.attrs.get("start", 1)))
            case "bullet_list_close" | "ordered_list_close":
                lists.pop()
                if not lists:
                    out.append("\n")
            case "list_item_open":
                out.append(f"{'  ' * (len(lists) - 1)}{_mark(token, lists)} ")
            case "footnote_reference_open":
                notes.append(f"[{note_label(token)}] ")
            case "inline":
                out += notes
                notes.clear()
                out.append("".join(_inline_words(one) for one in token.children or ()))
                # an empty line separates blocks, except in lists and tables
                out.append("" if in_cell else "\n" if lists else "\n\n")
            case "fence" | "code_block":
                out.append(token.content.rstrip("\n") + "\n\n")
            case "math_block":
                out.append(f"{source_of(token)}\n\n")
            case "th_open" | "td_open":
                in_cell = True
            case "th_close" | "td_close":
                in_cell = False
                out.append("\t")
            case "tr_close":
                if out and out[-1] == "\t":
                    out.pop()
                out.append("\n")
            case "table_close":
                out.append("\n")
    return "".join(out).strip("\n")


def _mark(token: Token, lists: list[int | None]) -> str:
    done = task_of(token)
    number = lists[-1]
    if number is not None:
        lists[-1] = number + 1
    sign = "-" if number is None else f"{number}."
    return sign if done is None else f"{sign} [{'x' if done else ' '}]"


def _inline_words(token: Token) -> str:
    if token.type in (MATH, DISPLAY_MATH, MATH_BLOCK):
        return source_of(token)
    match token.type:
        case "text" | "code_inline":
            return token.content
        case "softbreak" | "hardbreak":
            return "\n"
        case "image":
            return token.content
        case "footnote_ref":
            return f"[{note_label(token)}]"
        case _:
            return ""


@functools.cache
def _parser() -> MarkdownIt:
    return make_parser({})
