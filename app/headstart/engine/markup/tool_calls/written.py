"""Readers of calls that are written as a function call: Python's way and Gemma's. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from msgspec import Struct

from headstart.engine.markup.tool_calls.feed import (
    CallArguments,
    CallBegan,
    CallEnded,
    Feed,
    NotACall,
    Reading,
)
from headstart.engine.markup.tool_calls.readers import checked_name

_WORDS = {"true": True, "false": False, "null": None, "none": None}
_DEEPEST = 100


class PythonCalls(Struct, frozen=True):
    """`[name(key='text', other=1), ...]` with Python's literals."""

    closes: str

    def read(self, feed: Feed) -> Reading[None]:
        if (yield from feed.peek()) != "[":
            raise NotACall
        text, _ = yield from feed.until(self.closes)
        for called, arguments in _Values(_PYTHON, text).calls():
            yield CallBegan(called)
            yield CallArguments(json.dumps(arguments, ensure_ascii=False))
            yield CallEnded()


# a string ends at a quotation mark before a delimiter: templates leave quotation marks and line
# breaks inside as they are
_PYTHON = re.compile(
    r"'(?P<one>(?:[^'\\]|\\.|'(?!\s*(?:[,)\]}:]|\Z)))*)'"
    r'|"(?P<two>(?:[^"\\]|\\.|"(?!\s*(?:[,)\]}:]|\Z)))*)"'
    r"|(?P<sign>[()\[\]{}:,=])|(?P<bare>[^\s()\[\]{}:,='\"]+)|(?P<space>\s+)",
    re.DOTALL,
)
_ESCAPED = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


class GemmaCalls(Struct, frozen=True):
    """`call:name{key:<|"|>text<|"|>,other:1}`; quotation marks are a token of their own."""

    closes: str

    def read(self, feed: Feed) -> Reading[None]:
        yield from feed.literal("call:")
        head, _ = yield from feed.until("{")
        yield CallBegan(checked_name(head))
        # the end may stand within a text
        begins = feed.at
        while True:
            yield from feed.until(self.closes)
            body = "{" + feed.text[begins : feed.at - len(self.closes)]
            if body.count(_QUOTE) % 2 == 0:
                break
        yield CallArguments(json.dumps(_Values(_GEMMA, body).object(), ensure_ascii=False))
        yield CallEnded()


_QUOTE = '<|"|>'
_GEMMA = re.compile(
    r'<\|"\|>(?P<text>.*?)<\|"\|>|(?P<sign>[{}\[\]:,])|(?P<bare>[^{}\[\]:,<]+)', re.DOTALL
)


class _Values:
    """The calls, or the one value, in a text; raises NotACall at anything else."""

    def __init__(self, token: re.Pattern[str], text: str) -> None:
        self._rest = list(_tokens(token, text))
        self._rest.reverse()

    def calls(self) -> list[tuple[str, dict[str, Any]]]:
        """`[name(key=value, ...), ...]`."""
        found = []
        self._expect("[")
        while True:
            name = checked_name(self._word())
            self._expect("(")
            arguments: dict[str, Any] = {}
            while not self._takes(")"):
                key = self._word()
                self._expect("=")
                arguments[key] = self._value(0)
                if not self._takes(","):
                    self._expect(")")
                    break
            found.append((name, arguments))
            if not self._takes(","):
                self._expect("]")
                break
        if self._rest:
            raise NotACall
        return found

    def object(self) -> dict[str, Any]:
        value = self._value(0)
        if self._rest or not isinstance(value, dict):
            raise NotACall
        return value

    def _takes(self, sign: str) -> bool:
        if self._rest and self._rest[-1] == ("sign", sign):
            self._rest.pop()
            return True
        return False

    def _expect(self, sign: str) -> None:
        if not self._takes(sign):
            raise NotACall

    def _word(self) -> str:
        if not self._rest or self._rest[-1][0] == "sign":
            raise NotACall
        return self._rest.pop()[1].strip()

    def _value(self, depth: int) -> Any:
        if not self._rest or depth > _DEEPEST:
            raise NotACall
        kind, text = self._rest.pop()
        if kind == "text":
            return text
        if kind == "bare":
            return _bare(text.strip())
        if text == "{":
            return self._pairs(depth)
        if text not in ("[", "("):
            raise NotACall
        items, end = [], "]" if text == "[" else ")"
        while not self._takes(end):
            items.append(self._value(depth + 1))
            if not self._takes(","):
                self._expect(end)
                break
        return items

    def _pairs(self, depth: int) -> dict[str, Any]:
        made: dict[str, Any] = {}
        while not self._takes("}"):
            key = self._word()
            self._expect(":")
            made[key] = self._value(depth + 1)
            if not self._takes(","):
                self._expect("}")
                break
        return made


def _tokens(token: re.Pattern[str], text: str) -> Iterator[tuple[str, str]]:
    at = 0
    while at < len(text):
        match = token.match(text, at)
        if match is None:
            raise NotACall
        at = match.end()
        kind = match.lastgroup or ""
        if kind in ("one", "two"):
            yield "text", _ESCAPED.sub(_unescaped, match[kind])
        elif kind != "space" and (kind != "bare" or match[kind].strip()):
            yield kind, match[kind]


def _unescaped(found: re.Match[str]) -> str:
    code = found[1] or found[2] or found[3]
    if not code:
        return _ESCAPES.get(found[4], found[4])
    number = int(code, 16)
    # half a pair could not be stored
    return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else found[0]


def _bare(text: str) -> Any:
    """A number or a word; any other text is a string without quotation marks."""
    if text.casefold() in _WORDS:
        return _WORDS[text.casefold()]
    try:
        return json.loads(text)
    except ValueError:
        return text
