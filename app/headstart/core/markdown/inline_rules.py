"""Inline rules beyond CommonMark's: bold and struck words beside Chinese, Japanese and Korean, the
few HTML tags that models write, and addresses that may become links."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from markdown_it.rules_inline import StateInline
    from markdown_it.rules_inline.state_inline import Scanned

# tags that change only the looks
_PAIRS = ("sub", "sup", "kbd", "mark", "u", "b", "i", "strong", "em", "s", "del", "ins", "small")
_OPEN = re.compile(rf"<({'|'.join(_PAIRS)})>", re.IGNORECASE)
_BREAK = re.compile(r"<br[ \t]*/?>", re.IGNORECASE)
# characters between a tag and its end
_LONGEST = 2_000
_SCHEMES = ("http", "https", "mailto")


def is_safe_link(address: str) -> bool:
    """True for addresses of the web and of mail: others would start programs, or contact a computer
    in the network."""
    try:
        found = urlsplit(address.strip())
    except ValueError:
        return False
    if found.scheme.lower() == "mailto":
        return bool(found.path)
    return found.scheme.lower() in _SCHEMES and bool(found.netloc)


def beside_cjk(
    tokenize: Callable[[StateInline, bool], bool],
) -> Callable[[StateInline, bool], bool]:
    """Wrap the library's rule for emphasis to accept marks beside a Chinese, Japanese or Korean
    character: these languages have no spaces, and CommonMark wants one beside punctuation.

    Follows the amendment of the markdown-cjk-friendly specification.
    """

    def rule(state: StateInline, silent: bool) -> bool:
        if not state.src.isascii():
            # the rule calls it on the state
            setattr(state, "scanDelims", partial(_scan, state))  # noqa: B010
        return tokenize(state, silent)

    return rule


def _scan(state: StateInline, start: int, splits_words: bool) -> Scanned:
    from markdown_it.common.utils import isMdAsciiPunct, isPunctChar, isWhiteSpace
    from markdown_it.rules_inline.state_inline import Scanned

    text, mark = state.src, state.src[start]
    end = start
    while end < state.posMax and text[end] == mark:
        end += 1
    # both ends of a text count as spaces
    last = text[start - 1] if start else " "
    following = text[end] if end < state.posMax else " "

    def is_sign(one: str) -> bool:
        return isMdAsciiPunct(ord(one)) or isPunctChar(one)

    last_space, next_space = isWhiteSpace(ord(last)), isWhiteSpace(ord(following))
    last_cjk, next_cjk = _is_cjk(last), _is_cjk(following)
    last_sign = is_sign(last) and not last_cjk
    next_sign = is_sign(following) and not next_cjk
    left = not next_space and (not next_sign or last_space or last_sign or last_cjk)
    right = not last_space and (not last_sign or next_space or next_sign or next_cjk)
    opens = left and (splits_words or not right or is_sign(last))
    closes = right and (splits_words or not left or is_sign(following))
    return Scanned(opens, closes, end - start)


def _is_cjk(one: str) -> bool:
    """True for Chinese, Japanese or Korean characters, punctuation included; not for emoji."""
    code = ord(one)
    if code < 0x1100 or 0x1F000 <= code < 0x20000:
        return False
    if unicodedata.east_asian_width(one) in ("W", "F"):
        # symbols and pictures that are wide only by appearance
        return not 0x2300 <= code < 0x2E80
    return 0xFF61 <= code <= 0xFFDC


def html_tags(state: StateInline, silent: bool) -> bool:
    """Parse a line break, or a pair of tags around words of one paragraph; all other HTML stays
    text."""
    text, at = state.src, state.pos
    if text[at] != "<":
        return False
    found = _BREAK.match(text, at, state.posMax)
    if found is not None:
        if not silent:
            state.push("hardbreak", "br", 0)
        state.pos = found.end()
        return True
    found = _OPEN.match(text, at, state.posMax)
    if found is None:
        return False
    tag = found[1].lower()
    begin, most = found.end(), min(state.posMax, found.end() + _LONGEST)
    ended = re.compile(rf"</{tag}>", re.IGNORECASE).search(text, begin, most)
    if ended is None:
        return False
    close = ended.start()
    if not silent:
        state.push(f"{tag}_open", tag, 1)
        outer, state.pos, state.posMax = state.posMax, begin, close
        state.md.inline.tokenize(state)
        state.posMax = outer
        state.push(f"{tag}_close", tag, -1)
    state.pos = close + len(tag) + 3
    return True
