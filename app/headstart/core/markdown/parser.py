"""Markdown from models and people as tokens: CommonMark, GitHub's tables, tasks, footnotes and
strikethrough, and LaTeX between `$`, `$$`, `\\(` and `\\[`, or in a bare environment.

The window and the exports render the tokens, each by its own rules. The library is imported with
the first parser.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from headstart.core.markdown.inline_rules import beside_cjk, html_tags, is_safe_link

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.renderer import RendererHTML
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_core import StateCore
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

# HTML of a token, derived from the token alone
Rule = Callable[["Token"], str]

# types of formula tokens: `content` is the LaTeX, `markup` its delimiters
MATH, DISPLAY_MATH, MATH_BLOCK = "math", "math_display", "math_block"
CLOSING = {"$": "$", "$$": "$$", "\\(": "\\)", "\\[": "\\]", "": ""}
# LaTeX environments that are formulas without delimiters; their markup is ""
_ENVIRONMENT = re.compile(
    r"\\begin\{((?:align|alignat|equation|gather|multline|flalign|eqnarray)\*?|aligned|gathered|split"
    r"|cases|[pbBvV]?matrix)\}"
)
# passed to `MarkdownIt.parse` in `env`: the text may go on, and so may a formula at its end
GROWING = "growing"
_FORMULA = "formula:"
_TASK = re.compile(r"\[([ xX])\](?=\s)")
# an amount and words: the text between two prices
_PRICE = re.compile(r"\d[\d,.]*+[a-zA-Z]{0,3}+[,;.:)]*+\s++(?!\\)[a-zA-Z]{2,}")
# a longer span is two prices, not a formula
_LONGEST_INLINE = 2_000
_MOST_LINES = 300
# the scheme of an address in a text, and the character before it
_SCHEME = re.compile(r"(?:^|[^a-z0-9.+-])(?:https?|ftp)$", re.IGNORECASE)
_LONGEST_SCHEME = len("https") + 1


def make_parser(rules: Mapping[str, Rule]) -> MarkdownIt:
    """`rules` render the tokens of those types. Line breaks are kept, bare addresses become links;
    raw HTML is text except for a few tags of style, and nothing is ever fetched."""
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import emphasis, strikethrough
    from mdit_py_plugins.footnote import footnote_plugin

    md = MarkdownIt("commonmark", {"html": False, "linkify": True, "breaks": True})
    md.enable(["table", "strikethrough"])
    # only addresses with a scheme are links: main.py and README.md are file names
    md.linkify.set({"fuzzy_link": False, "fuzzy_email": False})  # type: ignore[union-attr]
    md.enable("linkify")
    md.inline.ruler.at("linkify", _inline_link)
    md.inline.ruler.at("emphasis", beside_cjk(emphasis.tokenize))
    md.inline.ruler.at("strikethrough", beside_cjk(strikethrough.tokenize))
    md.inline.ruler.before("html_inline", "tags", html_tags)
    setattr(md, "validateLink", is_safe_link)  # noqa: B010
    # a footnote stays where it was written: streamed text never moves
    md.use(footnote_plugin, inline=False, move_to_end=False)
    md.inline.ruler.before("escape", "math", _inline_math)
    md.block.ruler.before(
        "fence", "math", _block_math, {"alt": ["paragraph", "reference", "blockquote", "list"]}
    )
    md.core.ruler.after("inline", "tasks", _tasks)
    for name, rule in rules.items():
        md.add_render_rule(name, _as_method(rule))
    return md


def _inline_link(state: StateInline, silent: bool) -> bool:
    """Run the library's rule only right after a known scheme: it scans the whole line for each
    colon, which takes 20 seconds for 100 kB of colons."""
    from markdown_it.rules_inline.linkify import linkify

    before = state.pending[-_LONGEST_SCHEME:]
    if state.src.startswith("://", state.pos) and _SCHEME.search(before) is not None:
        return linkify(state, silent)
    return False


def language_of(token: Token) -> str:
    """The language of fenced code: the first word after the fence, unescaped."""
    from markdown_it.common.utils import unescapeAll

    words = unescapeAll(token.info).split()
    return words[0] if words else ""


def source_of(token: Token) -> str:
    """The source of a formula."""
    if token.type == MATH_BLOCK:
        return str(token.meta["source"])
    return f"{token.markup}{token.content}{CLOSING[token.markup]}"


def formula_name(token: Token) -> str:
    """A formula encoded as an image name, for documents; `named_formula` decodes it."""
    return _FORMULA + quote(f"{token.markup}\n{token.content}")


def named_formula(name: str) -> tuple[str, str] | None:
    """Delimiter and LaTeX of a formula; None if the name belongs to something else."""
    if not name.startswith(_FORMULA):
        return None
    left, _, latex = unquote(name.removeprefix(_FORMULA)).partition("\n")
    return left, latex


def task_of(token: Token) -> bool | None:
    """True if the task of a list item is done; None for an item without a task."""
    return token.meta.get("task") if token.type == "list_item_open" else None


def note_label(token: Token) -> str:
    """Label of a footnote, at its text and at its references."""
    return str(token.meta.get("label", ""))


def _as_method(rule: Rule) -> Callable[..., str]:
    def render(_self: RendererHTML, tokens: Sequence[Token], index: int, *_rest: object) -> str:
        return rule(tokens[index])

    return render


# --- formulas ----------------------------------------------------------------------------


def _inline_math(state: StateInline, silent: bool) -> bool:
    found = _inline_formula(state.src, state.pos, state.posMax)
    if found is None:
        return False
    left, latex, end = found
    if not silent:
        display = left in ("$$", "\\[")
        token = state.push(DISPLAY_MATH if display else MATH, "math", 0)
        token.markup, token.content = left, latex
    state.pos = end
    return True


def _inline_formula(text: str, at: int, end: int) -> tuple[str, str, int] | None:
    """Opening delimiter, LaTeX, and end. A dollar opens before anything but a space, and closes
    after anything but a space and not before a digit (Pandoc's rule) or a letter: prices and
    variable names stay text."""
    first = text[at]
    left = text[at : at + 2]
    end = min(end, at + _LONGEST_INLINE)
    if first == "\\":
        if left not in ("\\(", "\\["):
            return None
        close = text.find(CLOSING[left], at + 2, end)
        latex = text[at + 2 : close] if close > 0 else ""
        return (left, latex, close + 2) if latex.strip() else None
    if first != "$":
        return None
    if left == "$$":
        close = _find(text, "$$", at + 2, end)
        latex = text[at + 2 : close] if close > 0 else ""
        return (left, latex, close + 2) if latex.strip() else None
    if text[at + 1 : at + 2].isspace() or _is_word(text[max(0, at - 1) : at]):
        return None
    close = _find(text, "$", at + 1, end)
    # an opening dollar needs a valid closing one
    if close < 0 or text[close - 1].isspace() or _is_word(text[close + 1 : close + 2]):
        return None
    latex = text[at + 1 : close]
    return ("$", latex, close + 1) if latex and _PRICE.match(latex) is None else None


def _is_word(one: str) -> bool:
    return one.isascii() and one.isalnum()


def _find(text: str, sign: str, at: int, end: int) -> int:
    """Position of the next `sign` without a backslash before it; -1 if there is none."""
    while (found := text.find(sign, at, end)) >= 0:
        slashes = 0
        while text[found - 1 - slashes] == "\\":
            slashes += 1
        if slashes % 2 == 0:
            return found
        at = found + 1
    return -1


def _block_math(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Parse a formula on its own lines; while the text grows, an unclosed one too."""
    if state.is_code_block(start):
        return False
    begin = state.bMarks[start] + state.tShift[start]
    left = state.src[begin : begin + 2]
    environment = _ENVIRONMENT.match(state.src, begin) if left == "\\b" else None
    if environment is not None:
        left, right, ends = "", "", f"\\end{{{environment[1]}}}"
    elif left in ("$$", "\\["):
        right = ends = CLOSING[left]
    else:
        return False
    last = _closing_line(state, begin + 2, ends, start, end)
    if last is None:
        return False
    closed = last >= 0
    last = last if closed else end - 1
    lines = [state.src[begin + len(left) : state.eMarks[start]]]
    if last > start:
        lines.append(state.getLines(start + 1, last + 1, state.blkIndent, False).rstrip("\n"))
    if closed:
        lines[-1] = lines[-1].rstrip().removesuffix(right)
    whole = "\n".join(lines)
    latex = whole.strip("\n")
    if closed and not latex.strip():
        return False
    if silent:
        return True
    state.line = last + 1
    token = state.push(MATH_BLOCK, "math", 0)
    token.block = True
    token.markup, token.content = left, latex
    token.map = [start, state.line]
    token.meta["source"] = f"{left}{whole}{right if closed else ''}"
    if not closed:
        token.meta["open"] = True
    return True


def _closing_line(state: StateBlock, at: int, right: str, start: int, end: int) -> int | None:
    """The line that ends a formula; -1 for an unfinished one, None if it is not a formula on its
    own lines."""
    # if there is none from here on, there is none further down
    missing = f"no {right}"
    found = -1 if state.env.get(missing) else state.src.find(right, at)
    if found < 0:
        state.env[missing] = True
        growing = state.env.get(GROWING) and end >= state.lineMax
        return -1 if growing and _is_inside(state, start, end) else None
    last = bisect_left(state.eMarks, found)
    if last >= end or state.src[found + len(right) : state.eMarks[last]].strip():
        # in another block, or followed by words: the formula is part of a paragraph
        return None
    return last if _is_inside(state, start, last + 1) else None


def _is_inside(state: StateBlock, start: int, end: int) -> bool:
    """True if all lines belong to the list or quote of the first one."""
    if end - start > _MOST_LINES:
        return False
    return all(state.sCount[line] >= state.blkIndent for line in range(start + 1, end))


# --- tasks -------------------------------------------------------------------------------


def _tasks(state: StateCore) -> None:
    """Mark list items that begin with a box as tasks, and remove the box."""
    tokens = state.tokens
    for index, token in enumerate(tokens[:-2]):
        if token.type != "list_item_open" or tokens[index + 1].type != "paragraph_open":
            continue
        inline = tokens[index + 2]
        children = inline.children or []
        if not children or children[0].type != "text":
            continue
        found = _TASK.match(children[0].content)
        if found is not None:
            token.meta["task"] = found[1] != " "
            children[0].content = children[0].content[found.end() :].lstrip()
            inline.content = inline.content[found.end() :].lstrip()
