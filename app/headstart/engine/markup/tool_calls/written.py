"""Readers of calls that are written as a function call: Python's way and Gemma's. Pure."""

from __future__ import annotations

import ast
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

# characters of one list of calls in Python: its parser recurses
_LONGEST = 200_000
# a string ends at a quotation mark before a delimiter
_TEXT = re.compile(
    r"'(?P<one>(?:[^'\\]|\\.|'(?!\s*(?:[,)\]}:]|\Z)))*)'"
    r'|"(?P<two>(?:[^"\\]|\\.|"(?!\s*(?:[,)\]}:]|\Z)))*)"',
    re.DOTALL,
)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}
_WORDS = {"true": True, "false": False, "null": None}


class PythonCalls(Struct, frozen=True):
    """`[name(key='text', other=1), ...]` with Python's literals."""

    closes: str

    def read(self, feed: Feed) -> Reading[None]:
        if (yield from feed.peek()) != "[":
            raise NotACall
        text, _ = yield from feed.until(self.closes)
        for called, arguments in _python(text):
            yield CallBegan(called)
            yield CallArguments(json.dumps(arguments, ensure_ascii=False))
            yield CallEnded()


def _python(text: str) -> list[tuple[str, dict[str, Any]]]:
    if len(text) > _LONGEST:
        raise NotACall
    try:
        tree = ast.parse(_TEXT.sub(_as_python, text.strip()), mode="eval").body
        calls = tree.elts if isinstance(tree, ast.List) else [tree]
        return [_of_call(call) for call in calls]
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        raise NotACall from None


def _as_python(found: re.Match[str]) -> str:
    """A string with what templates leave in it: line breaks, and the quotation marks around it."""
    inner = found["one"] if found["one"] is not None else found["two"]
    return repr(_ESCAPED.sub(lambda escape: _ESCAPES.get(escape[1], escape[1]), inner))


def _of_call(call: ast.expr) -> tuple[str, dict[str, Any]]:
    if not isinstance(call, ast.Call) or call.args:
        raise NotACall
    found = {word.arg: _literal(word.value) for word in call.keywords if word.arg}
    if len(found) != len(call.keywords):
        raise NotACall
    return checked_name(ast.unparse(call.func)), found


def _literal(node: ast.expr) -> Any:
    """A value in Python's words or JSON's."""
    if isinstance(node, ast.Name) and node.id in _WORDS:
        return _WORDS[node.id]
    if isinstance(node, ast.List | ast.Tuple):
        return [_literal(one) for one in node.elts]
    if isinstance(node, ast.Dict):
        keys = [ast.literal_eval(key) if key is not None else None for key in node.keys]
        return {str(key): _literal(one) for key, one in zip(keys, node.values, strict=True)}
    return ast.literal_eval(node)


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
        yield CallArguments(json.dumps(_gemma(body), ensure_ascii=False))
        yield CallEnded()


_QUOTE = '<|"|>'
_TOKEN = re.compile(
    r'<\|"\|>(?P<text>.*?)<\|"\|>|(?P<sign>[{}\[\]:,])|(?P<bare>[^{}\[\]:,<]+)', re.DOTALL
)


def _gemma(text: str) -> Any:
    found = list(_tokens(text))
    found.reverse()
    value = _value(found, 0)
    if found or not isinstance(value, dict):
        raise NotACall
    return value


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise NotACall
        at = match.end()
        kind = match.lastgroup or ""
        if kind != "bare" or match[kind].strip():
            yield kind, match[kind]


def _value(rest: list[tuple[str, str]], depth: int) -> Any:
    if not rest or depth > 100:
        raise NotACall
    kind, text = rest.pop()
    if kind == "text":
        return text
    if kind == "bare":
        try:
            return json.loads(text.strip())
        except ValueError:
            # a word without quotation marks
            return text.strip()
    made: Any = {} if text == "{" else []
    if text not in "{[":
        raise NotACall
    end = "}" if text == "{" else "]"
    while True:
        if rest and rest[-1] == ("sign", end):
            rest.pop()
            return made
        if isinstance(made, dict):
            key = _word(rest)
            if not rest or rest.pop() != ("sign", ":"):
                raise NotACall
            made[key] = _value(rest, depth + 1)
        else:
            made.append(_value(rest, depth + 1))
        if rest and rest[-1] == ("sign", ","):
            rest.pop()


def _word(rest: list[tuple[str, str]]) -> str:
    if not rest or rest[-1][0] == "sign":
        raise NotACall
    return rest.pop()[1].strip()
