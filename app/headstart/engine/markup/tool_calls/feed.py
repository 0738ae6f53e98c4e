"""The text of a call as it arrives, for readers that wait until there is more. Pure.

A reader is a generator: it yields None when it needs more text, and an event when it knows
something. It raises NotACall at text that is no call, and Cut where the reply ends inside one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Generator, Mapping
from typing import Any, TypeAlias, TypeVar

from msgspec import Struct

from headstart.core.text.begun import begun_string


class CallBegan(Struct, frozen=True):
    """A call of the tool `name`; its arguments follow."""

    name: str


class CallArguments(Struct, frozen=True):
    """More of the arguments, as JSON."""

    text: str


class CallEnded(Struct, frozen=True):
    """The call is whole."""


CallEvent: TypeAlias = CallBegan | CallArguments | CallEnded
T = TypeVar("T")
Reading: TypeAlias = Generator[CallEvent | None, None, T]

# the arguments of a call that was cut before them: an empty text would read as none, and run
BEGUN = "{"
_SPACE = " \t\r\n"
_PLAIN = re.compile(r'[^"{}\[\]]*')
_QUOTED = re.compile(r'[^"\\]*')
_SCALAR = re.compile(r"[^\s,}\]]*")


class NotACall(Exception):
    """The text is something else."""


class Cut(Exception):
    """The reply ended here."""


# the schema of a tool's arguments, by the tool's name; None for a tool that nobody offered
Schemas: TypeAlias = Callable[[str], Mapping[str, Any] | None]


class Feed:
    """Text so far; `at` is the position of the reader. `name`: the tool's, where a header before
    the call has it; else ""."""

    def __init__(self, schemas: Schemas, name: str = "") -> None:
        self.schemas, self.name = schemas, name
        self.text = ""
        self.at = 0
        self.ended = False
        # the text was cut: its writer might have gone on
        self.broken = False

    def push(self, text: str) -> None:
        self.text += text

    def end(self, broken: bool = False) -> None:
        """No more text will come; `broken`: it was cut."""
        self.ended, self.broken = True, broken

    def more(self) -> Reading[None]:
        """Wait for more text; raises Cut if none will come."""
        if self.ended:
            raise Cut
        yield None

    def peek(self) -> Reading[str]:
        """The next character that is no white space; what is before it is passed over."""
        while True:
            while self.at < len(self.text):
                if self.text[self.at] not in _SPACE:
                    return self.text[self.at]
                self.at += 1
            yield from self.more()

    def literal(self, text: str) -> Reading[None]:
        """Pass over `text`, with white space before it; raises NotACall at anything else."""
        yield from self.peek()
        while len(self.text) - self.at < len(text):
            if not text.startswith(self.text[self.at :]):
                raise NotACall
            yield from self.more()
        if not self.text.startswith(text, self.at):
            raise NotACall
        self.at += len(text)

    def one_of(self, *texts: str) -> Reading[str]:
        """Pass over one of these, with white space before it; returns it. `""` among them stands
        for none, and is returned where nothing else fits."""
        if "" in texts and self.ended and not self.text[self.at :].strip():
            return ""
        yield from self.peek()
        while True:
            rest = self.text[self.at :]
            longer = [one for one in texts if len(one) > len(rest) and one.startswith(rest)]
            if not longer or self.ended:
                break
            yield from self.more()
        fits = [one for one in texts if rest.startswith(one)]
        if not fits:
            raise Cut if self.ended and longer else NotACall
        found = max(fits, key=len)
        self.at += len(found)
        return found

    def until(self, *marks: str) -> Reading[tuple[str, str]]:
        """The text up to the first of these marks, and the mark; both are passed over."""
        looked = self.at
        longest = max(map(len, marks))
        while True:
            found = [(at, mark) for mark in marks if (at := self.text.find(mark, looked)) >= 0]
            if found:
                at, mark = min(found, key=lambda one: (one[0], -len(one[1])))
                text, self.at = self.text[self.at : at], at + len(mark)
                return text, mark
            looked = max(self.at, len(self.text) - longest + 1)
            yield from self.more()

    def string(self) -> Reading[str]:
        """A JSON string, decoded."""
        yield from self.literal('"')
        begins = self.at - 1
        yield from self._quoted()
        try:
            return str(json.loads(self.text[begins : self.at], strict=False))
        except ValueError:
            raise NotACall from None

    def value(self, shown: bool) -> Reading[str]:
        """A JSON value as it is written, passed on as it comes if `shown`. Brackets are counted;
        nothing else is checked."""
        first = yield from self.peek()
        begins = self.at
        if first == '"':
            self.at += 1
            yield from self._quoted()
            return self.text[begins : self.at]
        if first not in "{[":
            while True:
                found = _SCALAR.match(self.text, begins)
                assert found is not None
                if found.end() < len(self.text) or self.ended:
                    break
                yield from self.more()
            self.at = found.end()
            if self.at == begins:
                raise NotACall
            return self.text[begins : self.at]
        yield from self._object(begins, shown)
        return self.text[begins : self.at]

    def _object(self, told: int, shown: bool) -> Reading[None]:
        """Pass over an object or a list; `told` is its beginning."""
        depth = 0
        try:
            while True:
                found = _PLAIN.match(self.text, self.at)
                assert found is not None
                self.at = found.end()
                if self.at == len(self.text):
                    if shown and self.at > told:
                        yield CallArguments(self.text[told : self.at])
                        told = self.at
                    yield from self.more()
                    continue
                sign = self.text[self.at]
                self.at += 1
                if sign == '"':
                    while not (yield from self._quote_ends()):
                        if shown and self.at > told:
                            yield CallArguments(self.text[told : self.at])
                            told = self.at
                        yield from self.more()
                    continue
                depth += 1 if sign in "{[" else -1
                if not depth:
                    break
        except Cut:
            # half an escape, too: it was written
            self.at = len(self.text)
            if shown and self.at > told:
                yield CallArguments(self.text[told : self.at])
            raise
        if shown and self.at > told:
            yield CallArguments(self.text[told : self.at])

    def _quoted(self) -> Reading[None]:
        while not (yield from self._quote_ends()):
            yield from self.more()

    def _quote_ends(self) -> Reading[bool]:
        """True once the string that stands open is passed over; False at the end of the text."""
        while True:
            found = _QUOTED.match(self.text, self.at)
            assert found is not None
            self.at = found.end()
            if self.at == len(self.text):
                return False
            if self.text[self.at] == '"':
                self.at += 1
                return True
            # an escape is two characters, however they arrive
            while self.at + 2 > len(self.text):
                yield from self.more()
            self.at += 2


def begun_object(text: str) -> str:
    """The object that a JSON string has inside, as far as both are written; "" for another
    value."""
    if not text.startswith('"'):
        return text if text[:1] in ("{", "[") else ""
    inner = begun_string(text) or ""
    return inner if inner.lstrip().startswith("{") else ""


def unfinished(text: str, mark: str) -> int:
    """Length of the longest tail of a text that may become a mark."""
    for size in range(min(len(mark) - 1, len(text)), 0, -1):
        if mark.startswith(text[-size:]):
            return size
    return 0
