"""Readers of calls that are written as a function call: Python's way and Gemma's. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct

from headstart.engine.markup.tool_calls.feed import (
    CallArguments,
    CallBegan,
    CallEnded,
    Cut,
    Feed,
    NotACall,
    Reading,
    unfinished,
)
from headstart.engine.markup.tool_calls.readers import checked_name

_WORDS = {"true": True, "false": False, "null": None, "none": None}
# as JSON writes it, too
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)?(?:\.\d*[1-9])?")
_DEEPEST = 100


class PythonCalls(Struct, frozen=True):
    """`[name(key='text', other=1), ...]` with Python's literals."""

    closes: str

    def read(self, feed: Feed) -> Reading[None]:
        yield from feed.literal("[")
        begins = feed.at
        head, _ = yield from feed.until("(")
        # the others are known with the whole text
        yield CallBegan(checked_name(head))
        feed.at = begins
        text, cut = "", False
        try:
            text, _ = yield from feed.until(self.closes)
        except Cut:
            text, cut = feed.text[begins:], True
            text = text[: len(text) - unfinished(text, self.closes)]
        written = _Writing(_tokens(_PYTHON, text, cut))
        for number, (called, arguments, closed) in enumerate(written.calls()):
            if number:
                yield CallBegan(called)
            yield CallArguments(arguments)
            if not closed:
                break
            yield CallEnded()
        if cut:
            raise Cut


# a string ends at a quotation mark before a delimiter: templates leave quotation marks and line
# breaks inside as they are
_PYTHON = re.compile(
    r"'(?P<one>(?:[^'\\]|\\.|'(?!\s*(?:[,)\]}:]|\Z)))*)'"
    r'|"(?P<two>(?:[^"\\]|\\.|"(?!\s*(?:[,)\]}:]|\Z)))*)"'
    r"|(?P<sign>[()\[\]{}:,=])|(?P<bare>[^\s()\[\]{}:,='\"]+)|(?P<space>\s+)",
    re.DOTALL,
)
_ESCAPED = re.compile(r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|x([0-9a-fA-F]{2})|(.))", re.DOTALL)
_HALF_ESCAPE = re.compile(
    r"(?<!\\)((?:\\\\)*)\\(?:u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7}|x[0-9a-fA-F]?)?\Z"
)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


class GemmaCalls(Struct, frozen=True):
    """`call:name{key:<|"|>text<|"|>,other:1}`; quotation marks are a token of their own."""

    closes: str

    def read(self, feed: Feed) -> Reading[None]:
        yield from feed.literal("call:")
        head, _ = yield from feed.until("{")
        yield CallBegan(checked_name(head))
        begins = feed.at - 1
        cut = False
        try:
            # the end may stand within a text
            while True:
                yield from feed.until(self.closes)
                body = feed.text[begins : feed.at - len(self.closes)]
                if body.count(_QUOTE) % 2 == 0:
                    break
        except Cut:
            body, cut = feed.text[begins:], True
            body = body[: len(body) - unfinished(body, self.closes)]
        yield CallArguments(_Writing(_tokens(_GEMMA, body, cut)).object())
        if cut:
            raise Cut
        yield CallEnded()


_QUOTE = '<|"|>'
_GEMMA = re.compile(
    r'<\|"\|>(?P<text>.*?)<\|"\|>|(?P<sign>[{}\[\]:,])|(?P<bare>[^{}\[\]:,<]+)', re.DOTALL
)


class _Ends(Exception):
    """The tokens of a call that was cut are over."""


class _Writing:
    """Writes the calls, or the one object, that stand in tokens, as JSON; raises NotACall at
    anything else. Tokens of a text that was cut give the JSON as far as it is sure."""

    def __init__(self, tokens: Iterable[tuple[str, str]]) -> None:
        self._rest = list(tokens)
        self._rest.reverse()
        self._written: list[str] = []

    def calls(self) -> list[tuple[str, str, bool]]:
        """Calls behind `[`: name and arguments, and True for those that are closed."""
        found, name = list[tuple[str, str, bool]](), ""
        try:
            while True:
                called = checked_name(self._word())
                self._expect("(")
                name, self._written = called, []
                self._pairs("=", ")", 0)
                found.append((name, "".join(self._written), True))
                name = ""
                if not self._takes(","):
                    self._expect("]")
                    break
            self._over()
        except _Ends:
            if name:
                found.append((name, "".join(self._written), False))
        return found

    def object(self) -> str:
        try:
            self._expect("{")
            self._pairs(":", "}", 0)
            self._over()
        except _Ends:
            pass
        return "".join(self._written)

    def _over(self) -> None:
        if self._rest and self._rest[-1][0] != "end":
            raise NotACall

    def _takes(self, sign: str) -> bool:
        if self._rest and self._rest[-1] == ("sign", sign):
            self._rest.pop()
            return True
        return False

    def _expect(self, sign: str) -> None:
        if not self._takes(sign):
            raise _Ends if self._rest and self._rest[-1][0] == "end" else NotACall

    def _word(self) -> str:
        kind, text = self._rest[-1] if self._rest else ("sign", "")
        if kind in ("open", "last", "end"):
            raise _Ends
        if kind == "sign":
            raise NotACall
        self._rest.pop()
        return text.strip()

    def _value(self, depth: int) -> None:
        if not self._rest or depth > _DEEPEST:
            raise NotACall
        kind, text = self._rest.pop()
        if kind == "text":
            self._written.append(_quoted(text))
        elif kind == "bare":
            self._written.append(json.dumps(_bare(text.strip()), ensure_ascii=False))
        elif kind != "sign":
            self._written.append(_quoted(text)[:-1] if kind == "open" else _begun(text.strip()))
            raise _Ends
        elif text == "{":
            self._pairs(":", "}", depth)
        elif text in ("[", "("):
            self._items("]" if text == "[" else ")", depth)
        else:
            raise NotACall

    def _items(self, end: str, depth: int) -> None:
        before = "["
        while not self._takes(end):
            self._written.append(before)
            self._value(depth + 1)
            before = ", "
            if not self._takes(","):
                self._expect(end)
                break
        self._written.append("[]" if before == "[" else "]")

    def _pairs(self, between: str, end: str, depth: int) -> None:
        self._written.append("{")
        before = ""
        while not self._takes(end):
            key = self._word()
            self._expect(between)
            self._written.append(f"{before}{_quoted(key)}: ")
            self._value(depth + 1)
            before = ", "
            if not self._takes(","):
                self._expect(end)
                break
        self._written.append("}")


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _tokens(token: re.Pattern[str], text: str, cut: bool) -> Iterator[tuple[str, str]]:
    """Kind and text of each token. The last one of a text that was `cut` is `open` where it is a
    string, `last` where it is a word or a number, and `end` follows."""
    at = 0
    while at < len(text):
        match = token.match(text, at)
        if match is None and not cut:
            raise NotACall
        kind = match.lastgroup or "" if match is not None else ""
        if match is None or (cut and not _is_sure(kind, text[match.end() :])):
            yield from _last(text[at:])
            break
        at = match.end()
        if kind in ("one", "two"):
            yield "text", _ESCAPED.sub(_unescaped, match[kind])
        elif kind != "space" and (kind != "bare" or match[kind].strip()):
            yield kind, match[kind]
    if cut:
        yield "end", ""


def _is_sure(kind: str, rest: str) -> bool:
    """True if more text would not change a token before `rest`."""
    if kind in ("one", "two"):
        return rest.lstrip()[:1] in tuple(",)]}:")
    return bool(rest) or kind != "bare"


def _last(text: str) -> Iterator[tuple[str, str]]:
    if text.startswith(_QUOTE):
        text = text.removeprefix(_QUOTE)
        yield "open", text[: len(text) - unfinished(text, _QUOTE)]
    elif text[0] in "'\"":
        # a quotation mark at the end may stand inside
        inner, bare = text[1:], text[1:].rstrip()
        inner = bare[:-1] if bare.endswith(text[0]) else inner
        yield "open", _ESCAPED.sub(_unescaped, _HALF_ESCAPE.sub(r"\1", inner))
    elif text[0] != "<":
        yield "last", text


def _unescaped(found: re.Match[str]) -> str:
    code = found[1] or found[2] or found[3]
    if not code:
        return _ESCAPES.get(found[4], found[4])
    number = int(code, 16)
    # half a pair could not be stored
    return chr(number) if number < 0x110000 and not 0xD800 <= number < 0xE000 else found[0]


def _begun(text: str) -> str:
    """The JSON of a word or a number that was cut."""
    word = text.casefold()
    words = [json.dumps(value) for name, value in _WORDS.items() if name.startswith(word)]
    if words:
        return words[0][: len(word)]
    return text if _NUMBER.fullmatch(text) else ""


def _bare(text: str) -> Any:
    """A number or a word; any other text is a string without quotation marks."""
    if text.casefold() in _WORDS:
        return _WORDS[text.casefold()]
    try:
        return json.loads(text)
    except ValueError:
        return text
