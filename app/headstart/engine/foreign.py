"""Texts of strangers in prompts: whatever a template does with them, they never become control
tokens.

A private-use character behind the first letter of each mark keeps it text, also of a mark that the
end of a text cuts: a template may write the rest behind it. What a template makes of such a text is
one again; see `sandbox`. Tokenizing removes the characters.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from headstart.engine.token_finder import TokenFinder

# private-use characters; text that really contains them loses only them. The second cuts plain text
# where a tokenizer would otherwise match a token in it
GUARD, CUT = "\ue0f7", "\ue0f8"
# on both sides of an image's digest
IMAGE = "\ue0f9"
_OWN = str.maketrans({GUARD: None, CUT: None, IMAGE: None})
# functions that return parts of a text
_PARTS = frozenset(
    {"strip", "lstrip", "rstrip", "trim", "split", "rsplit", "splitlines", "partition"}
    | {"rpartition", "removeprefix", "removesuffix"}
)
# Python writes private-use characters as escapes; a backslash before would be written twice
_ESCAPED = re.compile(rf"(?<!\\)((?:\\\\)*)\\u{ord(GUARD):04x}")


class Foreign(str):
    """A text in which no mark begins that is meant as one."""

    __slots__ = ("guard",)
    guard: Guard

    def __new__(cls, text: str, guard: Guard | None = None) -> Foreign:
        made = super().__new__(cls, text)
        made.guard = guard or NO_MARKS
        return made

    def __str__(self) -> str:
        return self

    def __repr__(self) -> str:
        return _ESCAPED.sub(rf"\1{GUARD}", super().__repr__())

    def __getitem__(self, key: Any) -> Foreign:
        return self.guard.again(bare(self)[key])

    def __iter__(self) -> Iterator[str]:
        return map(self.guard.again, bare(self))


class Guard:
    """Makes texts safe for templates. `marks`: the texts of all control tokens."""

    def __init__(self, marks: Iterable[str] = ()) -> None:
        known = sorted({mark for mark in marks if mark})
        self._marks = known
        self._finder = TokenFinder(known)
        self.longest = max(map(len, known), default=0)
        self._first = re.compile(beginning(known)) if known else None

    def text(self, text: str) -> Foreign:
        """A stranger's text, made safe."""
        if GUARD in text or CUT in text or IMAGE in text:
            text = text.translate(_OWN)
        return self.again(text)

    def value(self, value: Any) -> Any:
        """A value as JSON has it, with all of its texts made safe, keys included."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(str(key)): self.value(one) for key, one in value.items()}
        if isinstance(value, list):
            return [self.value(one) for one in value]
        return value

    def again(self, text: str, is_part: bool = False) -> Foreign:
        """A text made of safe ones, in which a mark may have come together; in a part of one only
        its end may be new."""
        if isinstance(text, Foreign):
            return text
        found, at = list[str](), 0
        for place in self._places(text, max(0, len(text) - self.longest) if is_part else 0):
            found += (text[at : place + 1], GUARD)
            at = place + 1
        return Foreign("".join((*found, text[at:])) if found else text, self)

    def fence(self, before: str, text: Foreign) -> str:
        """A text that goes on behind `before`; guarded where a mark that began there would go on in
        it."""
        if not text or self._first is None:
            return text
        tail = before[-self.longest :]
        begun = any(
            self._begins(tail[found.start() :] + text[0]) for found in self._first.finditer(tail)
        )
        return GUARD + text if begun else text

    def is_harmless(self, text: str) -> bool:
        """True if no mark begins in a text, wherever it stands."""
        return isinstance(text, Foreign) or self._first is None or not self._first.search(text)

    def _places(self, text: str, start: int) -> Iterator[int]:
        """The places where a mark begins, those included whose rest may follow."""
        if self._first is None:
            return
        for found in self._first.finditer(text, start):
            at = found.start()
            if text.startswith(GUARD, at + 1):
                continue
            if self._finder.longest(text, at) or self._is_cut(text, at):
                yield at

    def _is_cut(self, text: str, at: int) -> bool:
        """True if the end of a text cuts a mark. Letters alone are words, and names of keys."""
        if len(text) - at >= self.longest:
            return False
        rest = text[at:]
        return not rest.isalnum() and self._begins(rest)

    def _begins(self, text: str) -> bool:
        """True if a mark begins with this text."""
        at = bisect_left(self._marks, text)
        return at < len(self._marks) and self._marks[at].startswith(text)


def beginning(marks: Iterable[str]) -> str:
    """A pattern of the first letter of a mark, before its second one or a text's end."""
    first, second = set[str](), set[str]()
    for mark in marks:
        first.add(re.escape(mark[0]))
        second.add(re.escape(mark[1:2]) or "\0-\U0010ffff")
    return f"[{''.join(sorted(first))}](?=[{''.join(sorted(second))}]|\\Z)"


NO_MARKS = Guard()
# makes a value safe: a text, or what JSON has
Safe = Callable[[Any], Any]


def unchanged(value: Any) -> Any:
    """A value that no prompt is made of, or that is safe."""
    return value


def bare(text: str) -> str:
    """A text as it was before it was made safe."""
    return text.replace(GUARD, "")


def joined(parts: Sequence[str]) -> str:
    """Texts as one text. No mark begins in a template's own text and goes on in a stranger's."""
    guard = next((part.guard for part in parts if isinstance(part, Foreign)), None)
    if guard is None:
        return "".join(parts)
    texts: list[str] = []
    for part in parts:
        if isinstance(part, Foreign) and texts:
            part = guard.fence(_end_of(texts, guard.longest), part)
        texts.append(part)
    text = "".join(texts)
    first = next((part for part in parts if part), "")
    if isinstance(first, Foreign) and all(map(guard.is_harmless, parts)):
        return Foreign(text, guard)
    return text


def fenced(text: Any) -> Any:
    """A stranger's text that goes into a template's form, at a place that is not known."""
    if not isinstance(text, Foreign) or text.guard is NO_MARKS:
        return text
    return Foreign(GUARD + text, text.guard)


def made_of(source: Any, name: str, given: Iterable[Any], made: Any) -> Any:
    """The result of the function `name`: a stranger's, if `source` is and a template's own words in
    `given` add no marks."""
    if not isinstance(source, Foreign):
        return made
    guard, is_part = source.guard, name in _PARTS
    if not is_part and not all(guard.is_harmless(one) for one in given if isinstance(one, str)):
        return made
    if type(made) is str:
        return guard.again(made, is_part)
    if type(made) in (list, tuple):
        return type(made)(guard.again(one, is_part) if type(one) is str else one for one in made)
    return made


def as_text(value: Any, text: str) -> str:
    """`text`, as which a value is written: a stranger's if the value holds one of theirs."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Foreign):
            return one.guard.again(text)
        if isinstance(one, dict):
            waiting += (*one.keys(), *one.values())
        elif isinstance(one, list | tuple):
            waiting += one
    return text


def _end_of(texts: Sequence[str], length: int) -> str:
    """The last `length` characters of joined texts."""
    found = ""
    for text in reversed(texts):
        found = f"{text[-length:]}{found}"
        if len(found) >= length:
            break
    return found
