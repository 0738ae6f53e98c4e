"""Text as the index of words takes it: signs that are words of their own stand apart. Pure.

Chinese, Japanese and Korean are written without spaces, so that a whole sentence would be one word;
each of their signs is one instead, and a word of several is a phrase.
"""

from __future__ import annotations

import re

# Han with its extensions, kana, Hangul syllables, and their half-width and compatibility forms
_SIGN = (
    "\u2e80-\u2fdf\u3005\u3007\u3021-\u3029\u3031-\u3035\u3040-\u30ff\u3105-\u312f\u3131-\u318e"
    "\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9f"
    "\U00020000-\U0003ffff"
)
_SIGNS = re.compile(f"[{_SIGN}]")
_APART = re.compile(f" ?(\x01?[{_SIGN}]\x02?) ?")
# parts of a query: what stands between quotation marks, or a word
_PARTS = re.compile(r'"([^"]*)"?|(\S+)')
_WORD = re.compile(r"\w")


def fold(text: object) -> str:
    """For the index; anything but text is nothing."""
    if not isinstance(text, str):
        return ""
    return text if text.isascii() else _SIGNS.sub(r" \g<0> ", text)


def unfolded(text: str) -> str:
    """A piece of folded text as it is read; \x01 and \x02 are marks in it."""
    return text if text.isascii() else _APART.sub(r"\1", text).replace("\x02\x01", "")


def match_of(query: str) -> str:
    """What FTS5 is asked for a user's words: all of them, the last one as a beginning; "" where
    there are none. Nothing of it can be an error, or means more than it says."""
    found: list[str] = []
    parts = list(_PARTS.finditer(query))
    for part in parts:
        phrase, word = part.groups()
        text = fold((phrase if word is None else word).replace("\0", " "))
        words = [one for one in text.split() if _WORD.search(one)]
        if not words:
            continue
        quoted = '"' + " ".join(words).replace('"', '""') + '"'
        # what is still being typed; a phrase that was closed is not
        open_end = part is parts[-1] and word is not None and not query[-1:].isspace()
        if open_end and len(text) == 1 and text.isascii():
            # a letter begins a tenth of all words: a second one says which (70 ms of looking less)
            if not found:
                found.append(quoted)
            continue
        found.append(quoted + ("*" if open_end else ""))
    return " ".join(found)
