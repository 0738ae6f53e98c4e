"""The Markdown that models and people write, as tokens: CommonMark, GitHub's tables, tasks,
footnotes and strikethrough, and LaTeX between `$`, `$$`, `\\(` and `\\[`, or in an environment of
its own.

The window and the exports render the tokens, each by its own rules. The library is imported when
the first parser is made.
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

# the HTML of a token, decided by the token alone
Rule = Callable[["Token"], str]

# of a token of a formula: `content` is the LaTeX, `markup` what it stood between
MATH, DISPLAY_MATH, MATH_BLOCK = "math", "math_display", "math_block"
CLOSING = {"$": "$", "$$": "$$", "\\(": "\\)", "\\[": "\\]", "": ""}
# environments of LaTeX that are formulas without anything around them; their markup is ""
_ENVIRONMENT = re.compile(
    r"\\begin\{((?:align|alignat|equation|gather|multline|flalign|eqnarray)\*?|aligned|gathered|split"
    r"|cases|[pbBvV]?matrix)\}"
)
# asked of `MarkdownIt.parse` in its `env`: the text goes on, and so may a formula at its end
GROWING = "growing"
_FORMULA = "formula:"
_TASK = re.compile(r"\[([ xX])\](?=\s)")
# an amount and words: what follows a price up to the next one
_PRICE = re.compile(r"\d[\d,.]*[a-zA-Z]{0,3}[,;.:)]*\s+(?!\\)[a-zA-Z]{2,}")
# longer ones are no formulas, but two prices
_LONGEST_INLINE = 2_000
_MOST_LINES = 300
# the beginning of an address in a text, and a character before that
_SCHEME = re.compile(r"(?:^|[^a-z0-9.+-])(?:https?|ftp)$", re.IGNORECASE)
_LONGEST_SCHEME = len("https") + 1


def make_parser(rules: Mapping[str, Rule]) -> MarkdownIt:
    """`rules` render the tokens of those types. Lines end where they were ended, bare addresses are
    links; raw HTML is text but for a few tags of looks, nothing is ever fetched."""
    from markdown_it import MarkdownIt
    from markdown_it.rules_inline import emphasis, strikethrough
    from mdit_py_plugins.footnote import footnote_plugin

    md = MarkdownIt("commonmark", {"html": False, "linkify": True, "breaks": True})
    md.enable(["table", "strikethrough"])
    # only addresses that say so are links: main.py and README.md are file names
    md.linkify.set({"fuzzy_link": False, "fuzzy_email": False})  # type: ignore[union-attr]
    md.enable("linkify")
    md.inline.ruler.at("linkify", _inline_link)
    md.inline.ruler.at("emphasis", beside_cjk(emphasis.tokenize))
    md.inline.ruler.at("strikethrough", beside_cjk(strikethrough.tokenize))
    md.inline.ruler.before("html_inline", "tags", html_tags)
    setattr(md, "validateLink", is_safe_link)  # noqa: B010
    # a footnote stays where it was written: what streams is never moved
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
    """The library's rule, asked only where one of the schemes that it knows ends: it looks through
    all of the line for each colon, which takes 20 seconds for 100 kB of them."""
    from markdown_it.rules_inline.linkify import linkify

    before = state.pending[-_LONGEST_SCHEME:]
    if state.src.startswith("://", state.pos) and _SCHEME.search(before) is not None:
        return linkify(state, silent)
    return False


def language_of(token: Token) -> str:
    """The language of fenced code: the first word behind the fence, its escapes undone."""
    from markdown_it.common.utils import unescapeAll

    words = unescapeAll(token.info).split()
    return words[0] if words else ""


def source_of(token: Token) -> str:
    """A formula as it was written."""
    if token.type == MATH_BLOCK:
        return str(token.meta["source"])
    return f"{token.markup}{token.content}{CLOSING[token.markup]}"


def formula_name(token: Token) -> str:
    """A formula as the name of an image, for documents; `named_formula` undoes it."""
    return _FORMULA + quote(f"{token.markup}\n{token.content}")


def named_formula(name: str) -> tuple[str, str] | None:
    """Delimiters of a formula, and its LaTeX; None for the name of something else."""
    if not name.startswith(_FORMULA):
        return None
    left, _, latex = unquote(name.removeprefix(_FORMULA)).partition("\n")
    return left, latex


def task_of(token: Token) -> bool | None:
    """True if the task of a list's item is done; None for an item that is no task."""
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
    after anything but a space and not before a digit (Pandoc's rule), nor before a letter: prices
    and names of variables stay text."""
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
    # a dollar that closes nothing opens nothing either
    if close < 0 or text[close - 1].isspace() or _is_word(text[close + 1 : close + 2]):
        return None
    latex = text[at + 1 : close]
    return ("$", latex, close + 1) if latex and _PRICE.match(latex) is None else None


def _is_word(one: str) -> bool:
    return one.isascii() and one.isalnum()


def _find(text: str, sign: str, at: int, end: int) -> int:
    """Position of the next `sign` that no backslash escapes; -1 where it is not."""
    while (found := text.find(sign, at, end)) >= 0:
        slashes = 0
        while text[found - 1 - slashes] == "\\":
            slashes += 1
        if slashes % 2 == 0:
            return found
        at = found + 1
    return -1


def _block_math(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A formula on lines of its own; one that is not closed yet, where the text grows."""
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
    """The line that a formula ends with; -1 for one that is still being written, None for what is
    no formula on lines of its own."""
    # once there is none, there is none below either
    missing = f"no {right}"
    found = -1 if state.env.get(missing) else state.src.find(right, at)
    if found < 0:
        state.env[missing] = True
        growing = state.env.get(GROWING) and end >= state.lineMax
        return -1 if growing and _is_inside(state, start, end) else None
    last = bisect_left(state.eMarks, found)
    if last >= end or state.src[found + len(right) : state.eMarks[last]].strip():
        # another block's, or words follow: it stands in a paragraph
        return None
    return last if _is_inside(state, start, last + 1) else None


def _is_inside(state: StateBlock, start: int, end: int) -> bool:
    """True if all lines belong to the list or quote that the first one is in."""
    if end - start > _MOST_LINES:
        return False
    return all(state.sCount[line] >= state.blkIndent for line in range(start + 1, end))


# --- tasks -------------------------------------------------------------------------------


def _tasks(state: StateCore) -> None:
    """Note in the items of lists which begin with a box, and take the box away."""
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
