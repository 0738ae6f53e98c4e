"""Whole sentences of a text that grows. Pure."""

from __future__ import annotations

import functools
import re

# marks that close a sentence, with what may stand behind them; “1.” begins a line of a list
_END = r"""(?:(?<!\d)\.|[!?…])["'”’»)\]*_]*(?=\s)|[。！？｡]["”’»」』）]*|[؟۔।॥](?=\s)|\n\s*\n"""
_FENCE = r"^ {0,3}(?:```|~~~)"
# compiled for who hears the window; the start does without
_compiled = functools.cache(re.compile)


def whole_until(text: str, begin: int) -> int:
    """The end of the last whole sentence or block of `text` after `begin`, which itself is one;
    `begin` if there is none yet. Code counts once it is closed."""
    fences = [one.start() for one in _compiled(_FENCE, re.MULTILINE).finditer(text, begin)]
    limit = fences[-1] if len(fences) % 2 else len(text)
    closed = None if len(fences) < 2 else text.find("\n", fences[len(fences) // 2 * 2 - 1])
    ends = [one.end() for one in _compiled(_END).finditer(text, begin, limit)]
    if closed is not None and closed >= 0:
        ends.append(min(closed, limit))
    return max(ends, default=begin)
