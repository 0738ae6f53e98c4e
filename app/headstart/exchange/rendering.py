"""Markdown of messages as HTML for files: fetches nothing, runs nothing. The Markdown parser,
Pygments and the formula renderer are imported at their first use."""

from __future__ import annotations

import functools
import html
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

from headstart.core.markdown.formula import formula
from headstart.core.markdown.parser import (
    DISPLAY_MATH,
    MATH,
    MATH_BLOCK,
    Rule,
    formula_name,
    language_of,
    make_parser,
    note_label,
    source_of,
    task_of,
)
from headstart.core.text.shown import begins_at_right

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_core import StateCore
    from markdown_it.token import Token

# most characters of code to colour
_LONGEST_CODE = 100_000


class Formulas(Enum):
    """Form of LaTeX in the output: the source, a drawing for a browser (whose source can still be
    copied), or an image name that a document replaces with a drawing."""

    SOURCE = auto()
    DRAWN = auto()
    NAMED = auto()


def markdown_html(text: str, formulas: Formulas = Formulas.SOURCE) -> str:
    return str(_parser(formulas).render(text, {}))


def code_html(code: str, language: str) -> str:
    """Code with Pygments' class names for its tokens; only escaped if its language is unknown, or
    if it is too long to colour in time."""
    lexer = _lexer(language) if len(code) <= _LONGEST_CODE else None
    if lexer is None:
        return html.escape(code)
    from pygments import highlight
    from pygments.formatters import HtmlFormatter

    return str(highlight(code, lexer, HtmlFormatter(nowrap=True)))


@functools.lru_cache(64)
def _lexer(language: str) -> Any:
    from pygments.lexers import get_lexer_by_name
    from pygments.util import ClassNotFound

    if not language:
        return None
    try:
        # every character of the code must be kept
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


@functools.cache
def _parser(formulas: Formulas) -> MarkdownIt:
    draw = {Formulas.SOURCE: _source, Formulas.DRAWN: _drawn, Formulas.NAMED: _named}[formulas]
    md = make_parser(_RULES | dict.fromkeys((MATH, DISPLAY_MATH, MATH_BLOCK), draw))
    md.core.ruler.push("lower_headings", _lower_headings)
    md.core.ruler.push("directions", _set_directions)
    return md


def _lower_headings(state: StateCore) -> None:
    """Lower headings by one level: the first level is reserved for the chat's title."""
    for token in state.tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + 1)}"


def _set_directions(state: StateCore) -> None:
    """Have a table whose heads are Hebrew or Arabic begin with its column at the right."""
    table: Token | None = None
    for token in state.tokens:
        if token.type == "table_open":
            table = token
        elif token.type == "inline" and table is not None and token.content:
            if begins_at_right(token.content):
                table.attrSet("dir", "rtl")
            table = None


def _table(token: Token) -> str:
    direction = ' dir="rtl"' if token.attrs.get("dir") == "rtl" else ""
    return f'<div class="table"><table border="1" cellspacing="0"{direction}>\n'


def _source(token: Token) -> str:
    tag = "div" if token.type == MATH_BLOCK else "span"
    return f'<{tag} class="math">{html.escape(source_of(token))}</{tag}>'


def _drawn(token: Token) -> str:
    display = token.type != MATH
    found = formula(token.content, display)
    if found is None:
        return _source(token)
    tag = "div" if display else "span"
    # sizes from the drawing: em, from the baseline up and down
    size = (
        f"width:{found.width:.3f}em;height:{found.ascent + found.depth:.3f}em;"
        f"vertical-align:{-found.depth:.3f}em"
    )
    drawing = found.svg.replace("<svg ", f'<svg aria-hidden="true" style="{size}" ', 1)
    number = f'<span class="tag">({html.escape(found.tag)})</span>' if found.tag else ""
    words = html.escape(found.words, quote=True)
    written = html.escape(source_of(token))
    return (
        f'<{tag} class="formula" role="math" aria-label="{words}">{drawing}{number}'
        f'<span class="written">{written}</span></{tag}>'
    )


def _named(token: Token) -> str:
    image = f'<img src="{formula_name(token)}">'
    return f'<p align="center">{image}</p>' if token.type == MATH_BLOCK else image


def _fence(token: Token) -> str:
    language = language_of(token)
    named = f' class="language-{html.escape(language, quote=True)}"' if language else ""
    return f"<pre><code{named}>{code_html(token.content, language)}</code></pre>\n"


def _image(token: Token) -> str:
    """A link instead of an image: a browser would request the image from a server."""
    address = str(token.attrs.get("src", ""))
    words = html.escape(token.content or address)
    if not address.startswith(("http://", "https://")):
        return words
    return f'<a href="{html.escape(address, quote=True)}">{words}</a>'


def _item(token: Token) -> str:
    done = task_of(token)
    box = "" if done is None else "☑ " if done else "☐ "
    named = ' class="task"' if box else ""
    return f'<li{named} dir="auto">{box}'


def _note(token: Token) -> str:
    return f"<sup>{html.escape(note_label(token))}</sup>"


def _heading(token: Token) -> str:
    return f'<{token.tag} dir="auto">'


def _cell(token: Token) -> str:
    style = str(token.attrs.get("style", ""))
    aligned = f' style="{html.escape(style, quote=True)}"' if style else ""
    return f'<{token.tag} dir="auto"{aligned}>'


# each paragraph has the direction of its own text
_RULES: dict[str, Rule] = {
    "paragraph_open": lambda token: "" if token.hidden else '<p dir="auto">',
    "heading_open": _heading,
    "th_open": _cell,
    "td_open": _cell,
    "fence": _fence,
    "code_block": _fence,
    "image": _image,
    "list_item_open": _item,
    "footnote_ref": _note,
    "footnote_reference_open": lambda token: f'<div class="note">{_note(token)} ',
    "footnote_reference_close": lambda _: "</div>\n",
    "table_open": _table,
    "table_close": lambda _: "</table></div>\n",
}
