"""Text that can be stored, shown and written: no broken characters. Pure.

JSON can hold half of a surrogate pair, and servers split characters between two events. Python
keeps such halves in a `str`, which then cannot be encoded for a database, file or window.
"""

from __future__ import annotations

import re

import msgspec

_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_HALF = re.compile("[\ud800-\udfff]")
# SQLite's functions end a text at it
_ZERO = "\0"


def whole(text: str) -> str:
    """The text with surrogate halves joined; lone halves and zeros become U+FFFD."""
    if _ZERO in text:
        text = text.replace(_ZERO, _REPLACEMENT)
    if text.isascii() or not _HALF.search(text):
        return text
    return _HALF.sub(_REPLACEMENT, _PAIR.sub(_joined, text))


def whole_json(value: object) -> bytes:
    """A value as JSON whose texts are whole."""
    try:
        data = msgspec.json.encode(value)
        if b"\\u0000" not in data:
            return data
    except UnicodeEncodeError:
        pass
    return msgspec.json.encode(_whole_within(msgspec.to_builtins(value)))


def _whole_within(value: object) -> object:
    if isinstance(value, str):
        return whole(value)
    if isinstance(value, dict):
        return {whole(str(key)): _whole_within(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_whole_within(one) for one in value]
    return value


def is_text(text: str) -> bool:
    """False for lone surrogates, as in file names of another encoding."""
    return text.isascii() or _HALF.search(text) is None


def _joined(pair: re.Match[str]) -> str:
    return pair[0].encode("utf-16-le", "surrogatepass").decode("utf-16-le")


class WholeText:
    """Does the same for text in pieces: a half waits for the other one."""

    def __init__(self) -> None:
        self._half = ""

    def push(self, text: str) -> str:
        """The complete characters so far; "" for only a half."""
        text, self._half = self._half + text, ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._half = text[:-1], text[-1]
        return whole(text)

    def rest(self) -> str:
        """The replacement for a half without a partner."""
        half, self._half = self._half, ""
        return whole(half)
