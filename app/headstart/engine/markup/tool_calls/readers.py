"""Readers of calls whose arguments are JSON. Pure.

Each reads from behind the mark that opens a call, or a section of calls, to behind its end.
"""

from __future__ import annotations

import json
import re
from typing import Protocol

from msgspec import Struct

from headstart.engine.markup.tool_calls.feed import (
    CallArguments,
    CallBegan,
    CallEnded,
    Cut,
    Feed,
    NotACall,
    Reading,
    begun_object,
)

_NAMES = ("name", "tool_name", "function_name", "function")
_ARGUMENTS = ("arguments", "parameters", "args", "input", "params")
_NAME = re.compile(r"[\w.\-/:]{1,128}")


def checked_name(text: str) -> str:
    """A tool's name as it is known; raises NotACall for other text."""
    name = text.strip().removeprefix("functions.")
    if not _NAME.fullmatch(name):
        raise NotACall
    return name


class JsonCalls(Struct, frozen=True):
    """Objects with a name and arguments, in any order of keys: one, several, or a list of them.
    `closes` stands behind them; "" where the object or list itself is the end."""

    closes: str = ""
    # objects such as {"weather": {...}}: the key is the name
    keyed: bool = False

    # a literal behind the opening mark
    leads: str = ""

    def read(self, feed: Feed) -> Reading[None]:
        if self.leads:
            yield from feed.literal(self.leads)
        while True:
            first = yield from feed.peek()
            if first == "[":
                yield from self._list(feed)
            elif first == "{":
                yield from self._call(feed)
            elif first in ",;" and self.closes:
                feed.at += 1
                continue
            elif self.closes:
                yield from feed.literal(self.closes)
                return
            else:
                raise NotACall
            if not self.closes:
                return

    def _list(self, feed: Feed) -> Reading[None]:
        yield from feed.literal("[")
        while True:
            yield from self._call(feed)
            if (yield from feed.one_of(",", "]")) == "]":
                return

    def _call(self, feed: Feed) -> Reading[None]:
        yield from (_keyed(feed) if self.keyed else _named(feed))


def _keyed(feed: Feed) -> Reading[None]:
    yield from feed.literal("{")
    name = checked_name((yield from feed.string()))
    yield from feed.literal(":")
    if (yield from feed.peek()) != "{":
        raise NotACall
    yield CallBegan(name)
    yield from feed.value(shown=True)
    yield from feed.literal("}")
    yield CallEnded()


def _named(feed: Feed, ends: bool = True) -> Reading[None]:
    """An object with a name and arguments; `ends` is False for one inside another."""
    name, held, told = "", "", False
    yield from feed.literal("{")
    if (yield from feed.peek()) == "}":
        raise NotACall
    while True:
        key = yield from feed.string()
        yield from feed.literal(":")
        first = yield from feed.peek()
        if key in _NAMES and not name and first == '"':
            name = checked_name((yield from feed.string()))
            yield CallBegan(name)
            if held:
                yield CallArguments(held)
                told = True
        elif key == "function" and not name and first == "{":
            yield from _named(feed, ends=False)
            name, told = "function", True
        elif key in _ARGUMENTS and not told and not held:
            shown, begins = bool(name) and first == "{", feed.at
            try:
                text = yield from feed.value(shown=shown)
            except Cut:
                if name and not shown and (text := begun_object(feed.text[begins:])):
                    yield CallArguments(text)
                raise
            text = text if shown else _unquoted(text)
            if name and not shown:
                yield CallArguments(text)
            told, held = bool(name), text
        else:
            # an id, a type
            yield from feed.value(shown=False)
        if (yield from feed.one_of(",", "}")) == "}":
            break
    if not name:
        raise NotACall
    if ends:
        if not told:
            yield CallArguments("{}")
        yield CallEnded()
    elif not told:
        yield CallArguments("{}")


def _unquoted(text: str) -> str:
    """Arguments as an object: some write the object into a string."""
    if text.startswith('"'):
        try:
            inner = json.loads(text, strict=False)
        except ValueError:
            return text
        return inner if inner.strip().startswith("{") else text
    return "{}" if text in ("null", "None") else text


class NamedCalls(Struct, frozen=True):
    """A name and its arguments, with marks between. `begins` stands before each call behind the
    opening mark, `arguments` between name and arguments, `ends` behind each, and `closes` behind
    all. An id stands between `begins` and `name_mark`, or between name and arguments behind
    `id_mark`."""

    arguments: str
    begins: str = ""
    ends: str = ""
    closes: str = ""
    id_mark: str = ""
    name_mark: str = ""
    # more calls follow one another, each behind the opening mark
    repeats: str = ""

    def read(self, feed: Feed) -> Reading[None]:
        if self.begins:
            yield from feed.literal(self.begins)
        while True:
            yield from self._call(feed)
            ways = [one for one in (self.begins, self.closes, self.repeats) if one]
            if not self.begins and not self.closes and not self.repeats:
                return
            found = yield from feed.one_of(*ways, "")
            if found in ("", self.closes):
                return

    def _call(self, feed: Feed) -> Reading[None]:
        if self.name_mark:
            yield from feed.until(self.name_mark)
        marks = [one for one in (self.arguments, self.id_mark) if one]
        head, mark = yield from feed.until(*marks)
        if mark == self.id_mark:
            yield from feed.until(self.arguments)
        fenced = head.strip() == "function"
        if fenced:
            # the kind stands before the name, which is a line with fenced JSON below it
            head, _ = yield from feed.until("\n")
            yield from feed.literal("```json")
        # Kimi counts its calls behind the name
        yield CallBegan(checked_name(re.sub(r":\d+\Z", "", head.strip())))
        if (yield from feed.peek()) != "{":
            raise NotACall
        yield from feed.value(shown=True)
        if fenced:
            yield from feed.literal("```")
        if self.ends:
            yield from feed.literal(self.ends)
        yield CallEnded()


class BodyCalls(Struct, frozen=True):
    """Arguments alone: the header before them has the name. `programs`: they may be any text."""

    programs: bool = False

    def read(self, feed: Feed) -> Reading[None]:
        yield CallBegan(checked_name(feed.name))
        if (yield from feed.peek()) == "{":
            yield from feed.value(shown=True)
        elif not self.programs:
            raise NotACall
        else:
            # all of the message
            try:
                while True:
                    yield from feed.more()
            except Cut:
                text, feed.at = feed.text[feed.at :], len(feed.text)
                if feed.broken:
                    yield CallArguments(text.lstrip())
                    raise
                yield CallArguments(text.strip())
        yield CallEnded()


class Reader(Protocol):
    """Reads the text behind an opening mark."""

    def read(self, feed: Feed) -> Reading[None]: ...


class JsonOr(Struct, frozen=True):
    """JSON, or another way where the first character is no bracket."""

    json: JsonCalls
    other: Reader

    def read(self, feed: Feed) -> Reading[None]:
        first = yield from feed.peek()
        reader = self.json if first in "{[" else self.other
        yield from reader.read(feed)
