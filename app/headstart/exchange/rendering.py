"""Markdown of messages as HTML for files: nothing is fetched, nothing runs, LaTeX stays as it was
written. The Markdown parser and Pygments are imported when they are first needed."""

from __future__ import annotations

import functools
import html
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.renderer import RendererHTML
    from markdown_it.rules_core import StateCore
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

# what nobody can tick in a file; a text that looks like this is escaped
_BOX = '<input class="task-list-item-checkbox" {}disabled="disabled" type="checkbox">'
_BOXES = ((_BOX.format('checked="checked" '), "☑"), (_BOX.format(""), "☐"))
# characters of code that are coloured
_LONGEST_CODE = 100_000
_BRACKETS = {"(": "\\)", "[": "\\]"}


def markdown_html(text: str) -> str:
    found = str(_parser().render(text, {}))
    for box, sign in _BOXES:
        found = found.replace(box, sign)
    return found


def words_of(text: str) -> str:
    """Markdown as words alone: lists keep their signs, code its lines, LaTeX stays."""
    out: list[str] = []
    lists: list[int | None] = []
    for token in _parser().parse(text, {}):
        match token.type:
            case "bullet_list_open":
                lists.append(None)
            case "ordered_list_open":
                lists.append(int(token.attrs.get("start", 1)))
            case "bullet_list_close" | "ordered_list_close":
                lists.pop()
            case "list_item_open":
                mark = "-"
                if lists and lists[-1] is not None:
                    mark = f"{lists[-1]}."
                    lists[-1] += 1
                out.append(f"{'  ' * (len(lists) - 1)}{mark} ")
            case "inline":
                out.append("".join(_inline_words(one) for one in token.children or ()))
                out.append("\n" if lists and token.level > 1 else "\n\n")
            case "fence" | "code_block":
                out.append(token.content.rstrip("\n") + "\n\n")
            case "math_block" | "math_block_label":
                out.append(f"$${token.content}$$\n\n")
            case "tr_close":
                out.append("\n")
    return "".join(out).strip("\n")


def _inline_words(token: Token) -> str:
    match token.type:
        case "text" | "code_inline" | "bracket_math":
            return token.content
        case "math_inline":
            return f"${token.content}$"
        case "math_inline_double":
            return f"$${token.content}$$"
        case "softbreak" | "hardbreak":
            return "\n"
        case "image":
            return token.content
        case _:
            return ""


def code_html(code: str, language: str) -> str:
    """Code with a class for each kind of token, as Pygments names them; escaped where it is of no
    known language, or too long to be coloured in time."""
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
        # not one character of the code is to be changed
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


@functools.cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt
    from mdit_py_plugins.dollarmath import dollarmath_plugin
    from mdit_py_plugins.tasklists import tasklists_plugin

    md = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    md.use(dollarmath_plugin, allow_space=False, allow_digits=False, double_inline=True)
    md.use(tasklists_plugin)
    md.inline.ruler.before("escape", "bracket_math", _bracket_math)
    md.core.ruler.push("lower_headings", _lower_headings)
    for name, rule in _RULES.items():
        md.add_render_rule(name, rule)
    return md


def _lower_headings(state: StateCore) -> None:
    """The chat's title is the one heading of the first level."""
    for token in state.tokens:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(6, int(token.tag[1]) + 1)}"


def _bracket_math(state: StateInline, silent: bool) -> bool:
    """`\\( ... \\)` and `\\[ ... \\]`, which models write as often as dollars."""
    if not state.src.startswith("\\", state.pos):
        return False
    bracket = state.src[state.pos + 1 : state.pos + 2]
    if bracket not in _BRACKETS:
        return False
    close = state.src.find(_BRACKETS[bracket], state.pos + 2, state.posMax)
    if close < 0:
        return False
    if not silent:
        token = state.push("bracket_math", "span", 0)
        token.content = state.src[state.pos : close + 2]
    state.pos = close + 2
    return True


def _rule(make: Callable[[Token], str]) -> Callable[..., str]:
    """A rule of the renderer, of what a token alone decides."""

    def rule(_renderer: RendererHTML, tokens: Sequence[Token], at: int, *_rest: object) -> str:
        return make(tokens[at])

    return rule


def _math(left: str, right: str, tag: str) -> Callable[..., str]:
    def make(token: Token) -> str:
        source = html.escape(f"{left}{token.content}{right}")
        return f'<{tag} class="math">{source}</{tag}>'

    return _rule(make)


def _fence(token: Token) -> str:
    language = token.info.split()[0] if token.info.strip() else ""
    named = f' class="language-{html.escape(language, quote=True)}"' if language else ""
    return f"<pre><code{named}>{code_html(token.content, language)}</code></pre>\n"


def _image(token: Token) -> str:
    """A link: a browser would ask a server for the image."""
    address = str(token.attrs.get("src", ""))
    words = html.escape(token.content or address)
    if not address.startswith(("http://", "https://")):
        return words
    return f'<a href="{html.escape(address, quote=True)}">{words}</a>'


_RULES: dict[str, Callable[..., str]] = {
    "math_inline": _math("$", "$", "span"),
    "math_inline_double": _math("$$", "$$", "span"),
    "math_block": _math("$$", "$$", "div"),
    "math_block_label": _math("$$", "$$", "div"),
    "bracket_math": _math("", "", "span"),
    "fence": _rule(_fence),
    "code_block": _rule(_fence),
    "image": _rule(_image),
    "table_open": lambda *_: '<div class="table"><table border="1" cellspacing="0">\n',
    "table_close": lambda *_: "</table></div>\n",
}
