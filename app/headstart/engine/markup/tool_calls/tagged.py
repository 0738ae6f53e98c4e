"""Readers of calls whose arguments stand in tags, one for each. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
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
from headstart.engine.markup.tool_calls.readers import Reader, checked_name
from headstart.engine.markup.tool_calls.values import (
    begun_json,
    part_of,
    to_json,
    types_in,
    types_of,
)

_KEY = re.compile(r'(?:^|\s)(?:name|key)="([^"]*)"')
_TYPE = re.compile(r'\s(?:string|type)="([^"]*)"')
_CDATA, _CDATA_END = "<![CDATA[", "]]>"
_DEEPEST = 50
# what an explicit type says: of a number or an object its JSON stands in the tag
_SAYS = {"true": "string", "string": "string"}


class TaggedCalls(Struct, frozen=True):
    """`begins` NAME `name_end`, then for each argument `key` KEY `key_end` VALUE `value_end`, and
    `ends` behind the last; `closes` behind the last call.

    KEY is bare, or an attribute beside others. Between tags white space is free.
    """

    begins: str
    name_end: str
    key: str
    key_end: str
    value_end: str
    ends: str
    closes: tuple[str, ...] = ()
    # between the key's end and the value
    value: str = ""
    # a value stands on lines of its own: the line breaks around it are not part of it
    lines: bool = False

    # a literal behind the opening mark
    leads: str = ""
    # a value may consist of tags of its own: items, and keys
    nested: bool = False
    # a value may be enclosed as XML has it, so that marks in it mean nothing
    cdata: bool = False

    def read(self, feed: Feed) -> Reading[None]:
        if self.leads:
            yield from feed.literal(self.leads)
        if not self.begins:
            yield from self._call(feed, feed.name)
            return
        yield from feed.literal(self.begins)
        while True:
            yield from self._call(feed, "")
            if (yield from feed.one_of(self.begins, *self.closes, "")) != self.begins:
                return

    def _call(self, feed: Feed, name: str) -> Reading[None]:
        mark = ""
        if not name and self.begins:
            head, _ = yield from feed.until(self.name_end)
        elif not name:
            # the name ends where the first key begins
            head, mark = yield from feed.until(self.key, self.ends)
            head = head.partition(self.name_end)[0] if self.name_end else head
        name = checked_name(name or head.strip().strip('"'))
        yield CallBegan(name)
        schema = feed.schemas(name)
        before = "{"
        while True:
            mark = mark or (yield from feed.one_of(self.key, self.ends))
            if mark == self.ends:
                break
            head, _ = yield from feed.until(self.key_end)
            if self.value:
                yield from feed.literal(self.value)
            key, types = _key(head, schema)
            yield CallArguments(f"{before}{json.dumps(key, ensure_ascii=False)}: ")
            end = self.value_end.replace("KEY", key)
            if self.nested and types != {"string"}:
                yield from self._nested(feed, end, part_of(schema, key), schema)
            else:
                yield from self._value(feed, end, types)
            before, mark = ", ", ""
        if before == "{" and not self.begins and schema is None:
            # a word between two tags
            raise NotACall
        yield CallArguments("{}" if before == "{" else "}")
        yield CallEnded()

    def _value(self, feed: Feed, end: str, types: frozenset[str]) -> Reading[None]:
        """A value up to `end` that is followed by another key or the end of the call: the text of
        a value may have such a tag in it."""
        streams = types == {"string"}
        if streams:
            yield CallArguments('"')
        if self.cdata and (yield from self._begins_cdata(feed)):
            end = f"{_CDATA_END}{end}"
        begins = feed.at
        try:
            told = yield from self._upto(feed, end, streams)
        except Cut:
            if not streams:
                text = self._bare(feed.text[begins : self._reach(feed, begins, end)])
                yield CallArguments(begun_json(text, types))
            raise
        at = feed.at - len(end)
        if streams:
            last = at - 1 if self.lines and at > begins and feed.text[at - 1] == "\n" else at
            first = self._first(feed, begins)
            yield CallArguments(
                _escaped(feed.text[max(first, told) : max(last, told, first)]) + '"'
            )
            return
        yield CallArguments(to_json(self._bare(feed.text[begins:at]), types))

    def _nested(
        self, feed: Feed, end: str, part: Any, schema: Mapping[str, Any] | None
    ) -> Reading[None]:
        """A value that may have a tag for each key or item."""
        begins = feed.at
        try:
            text, _ = yield from feed.until(end)
        except Cut:
            text = feed.text[begins : self._reach(feed, begins, end)]
            yield CallArguments(begun_nested(text, self.key, part, schema))
            raise
        yield CallArguments(nested_json(text, self.key, part, schema))

    def _upto(self, feed: Feed, end: str, streams: bool) -> Reading[int]:
        """Pass over a value and its end; returns how far its text was told."""
        begins = looked = told = feed.at
        while True:
            at = feed.text.find(end, looked)
            if at >= 0 and (follows := self._follows(feed, at + len(end))) is not None:
                if follows:
                    feed.at = at + len(end)
                    return told
                looked = at + 1
                continue
            if streams:
                sure = at if at >= 0 else max(told, len(feed.text) - len(end))
                sure = self._reach(feed, looked, end) if feed.ended else sure
                yield from self._stream(feed, begins, told, sure)
                told = max(told, self._sure(feed, begins, sure))
            looked = at if at >= 0 else max(looked, len(feed.text) - len(end) + 1)
            yield from feed.more()

    def _reach(self, feed: Feed, begins: int, end: str) -> int:
        """The end of a value's text where the reply ended before it: an end that may be none, or
        a part of one, is not told."""
        at = feed.text.find(end, begins)
        return at if at >= 0 else len(feed.text) - unfinished(feed.text, end)

    def _first(self, feed: Feed, begins: int) -> int:
        return begins + (self.lines and feed.text.startswith("\n", begins))

    def _sure(self, feed: Feed, begins: int, upto: int) -> int:
        """The end of what is certainly text of the value."""
        while self.lines and upto > begins and feed.text[upto - 1] == "\n":
            upto -= 1
        return upto

    def _stream(self, feed: Feed, begins: int, told: int, upto: int) -> Reading[None]:
        first, upto = max(self._first(feed, begins), told), self._sure(feed, begins, upto)
        if upto > first:
            yield CallArguments(_escaped(feed.text[first:upto]))

    def _follows(self, feed: Feed, at: int) -> bool | None:
        """True if a key or the call's end stands at `at`, None while that is not known."""
        rest = feed.text[at:].lstrip()
        ways = [one for one in (self.key, self.ends) if one]
        if any(rest.startswith(one) for one in ways):
            return True
        return None if any(one.startswith(rest) for one in ways) else False

    def _bare(self, text: str) -> str:
        return text.removeprefix("\n").removesuffix("\n") if self.lines else text

    def _begins_cdata(self, feed: Feed) -> Reading[bool]:
        while len(feed.text) - feed.at < len(_CDATA):
            if not _CDATA.startswith(feed.text[feed.at :]):
                return False
            yield from feed.more()
        found = feed.text.startswith(_CDATA, feed.at)
        feed.at += len(_CDATA) if found else 0
        return found


def _key(head: str, schema: Mapping[str, Any] | None) -> tuple[str, frozenset[str]]:
    """An argument's name and its types, from its tag."""
    named, typed = _KEY.search(f" {head}"), _TYPE.search(head)
    key = named[1] if named is not None else head.strip().strip('"')
    if typed is not None:
        says = _SAYS.get(typed[1])
        return key, frozenset({says}) if says else frozenset({"json"})
    return key, types_of(schema, key)


def _escaped(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)[1:-1]


class TagsOr(Struct, frozen=True):
    """Calls that begin with a tag, or with a name."""

    tags: Reader
    names: Reader

    def read(self, feed: Feed) -> Reading[None]:
        first = yield from feed.peek()
        reader = self.tags if first == "<" else self.names
        yield from reader.read(feed)


def nested_json(text: str, mark: str, part: Any, root: Mapping[str, Any] | None) -> str:
    """The JSON of a value that has a tag for each key or item, each behind `mark`."""
    return _nested(text, mark, part, root or {}, 0)


def _nested(text: str, mark: str, part: Any, root: Mapping[str, Any], depth: int) -> str:
    if mark not in text or depth > _DEEPEST:
        return to_json(text, types_in(part, root))
    found: list[tuple[str, str]] = []
    at = text.find(mark)
    while at >= 0:
        key, _, _ = text[at + len(mark) :].partition(">")
        begins = at + len(mark) + len(key) + 1
        end = text.find(f"{mark}/{key}>", begins)
        if not key or end < 0:
            raise NotACall
        inner = _nested(text[begins:end], mark, part_of(part, key), root, depth + 1)
        found.append((key, inner))
        at = text.find(mark, end + len(mark))
    if all(key == "item" for key, _ in found):
        return f"[{', '.join(inner for _, inner in found)}]"
    pairs = (f"{json.dumps(key, ensure_ascii=False)}: {inner}" for key, inner in found)
    return f"{{{', '.join(pairs)}}}"


def begun_nested(text: str, mark: str, part: Any, root: Mapping[str, Any] | None) -> str:
    """The beginning of that JSON, of a value that the reply's end cuts."""
    return _begun(text, mark, part, root or {}, 0)


def _begun(text: str, mark: str, part: Any, root: Mapping[str, Any], depth: int) -> str:
    at = text.find(mark)
    if at < 0 or depth > _DEEPEST:
        rest = text[: len(text) - unfinished(text, mark)] if at < 0 else ""
        return begun_json(rest, types_in(part, root))
    found: list[str] = []
    opening = ""
    while at >= 0:
        key, named, _ = text[at + len(mark) :].partition(">")
        if not named:
            break
        opening = opening or ("[" if key == "item" else "{")
        name = "" if opening == "[" else f"{json.dumps(key, ensure_ascii=False)}: "
        begins = at + len(mark) + len(key) + 1
        end = text.find(f"{mark}/{key}>", begins)
        if end < 0:
            inner = text[begins : len(text) - unfinished(text, f"{mark}/{key}>")]
            found.append(name + _begun(inner, mark, part_of(part, key), root, depth + 1))
            break
        found.append(name + _nested(text[begins:end], mark, part_of(part, key), root, depth + 1))
        at = text.find(mark, end + len(mark))
    return opening + ", ".join(found)
