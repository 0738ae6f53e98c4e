"""Steps that a pattern of `re` takes over a text, by a matcher that goes back as `re` does.

`re` has no counter, and a time depends on the computer. `Steps` walks the parsed pattern in the
order of `re` and counts every place of it that is tried; its spans are those of `re`.
"""

from __future__ import annotations

import importlib
import re
import string
from collections.abc import Callable
from typing import Any

# CPython's own parser: what `re` compiles is what is counted
PARSER: Any = importlib.import_module("re._parser")
_MOST_STEPS = 60_000
# a repeat with a bound goes to this many in `Steps(bounded=True)`: its cost is a constant
BOUND = 12
UNBOUNDED = int(PARSER.MAXREPEAT)
_ASCII_WORD = frozenset(string.ascii_letters + string.digits + "_")
_ASCII_SPACE = frozenset(" \t\n\r\f\v")
OF_ONE_SIGN = ("LITERAL", "NOT_LITERAL", "ANY", "IN")
Next = Callable[[int], bool]
Match = Callable[[int, Next], bool]


class TooManySteps(Exception):
    """The text takes more steps than any pattern here may."""


class Steps:
    """A pattern that counts its `steps`. `bounded`: repeats with a bound stop early, so that their
    cost shows as the constant that it is."""

    def __init__(self, pattern: str | bytes, flags: int = 0, *, bounded: bool = True) -> None:
        self.steps = 0
        self._bounded = bounded
        self._bytes = isinstance(pattern, bytes)
        self.parsed = PARSER.parse(pattern, flags)
        self._flags = int(self.parsed.state.flags)
        self._text = ""
        self._groups: dict[int, tuple[int, int]] = {}
        self._sequence = self._all(self.parsed, self._flags)

    def spans(self, text: str, method: str = "finditer") -> list[tuple[int, int]]:
        """The matches of `re` by this method; "scan": one after the other, until one fails. Raises
        TooManySteps."""
        self._text, self.steps, self._groups = text, 0, {}
        if method in ("match", "fullmatch"):
            end = self._at(0, whole=method == "fullmatch")
            return [] if end is None else [(0, end)]
        found: list[tuple[int, int]] = []
        place, least = 0, -1
        while place <= len(text):
            end = self._at(place, beyond=least)
            if end is None:
                if method == "scan":
                    break
                place += 1
                continue
            found.append((place, end))
            if method == "search":
                break
            # an empty match is not found twice at one place, but a longer one may begin there
            least = end if end == place else -1
            place = end
        return found

    def _at(self, place: int, *, whole: bool = False, beyond: int = -1) -> int | None:
        ends: list[int] = []

        def done(end: int) -> bool:
            if (whole and end != len(self._text)) or (end == place and end == beyond):
                return False
            ends.append(end)
            return True

        self._groups = {}
        return ends[0] if self._sequence(place, done) else None

    def _count(self) -> None:
        self.steps += 1
        if self.steps > _MOST_STEPS:
            raise TooManySteps

    # --- one method for each kind of place ------------------------------------------------

    def _all(self, items: Any, flags: int) -> Match:
        found: Match | None = None
        signs: list[Callable[[str], bool]] = []
        for op, value in reversed(list(items)):
            if str(op) in OF_ONE_SIGN:
                signs.insert(0, accepts(str(op), value, flags, self._bytes))
                continue
            if signs:
                found, signs = _then(self._run_of(signs), found), []
            found = _then(self._one(str(op), value, flags), found)
        if signs:
            found = _then(self._run_of(signs), found)
        return found if found is not None else (lambda place, go_on: go_on(place))

    def _one(self, op: str, value: Any, flags: int) -> Match:
        if op in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            return self._repeat(op, value, flags)
        if op == "BRANCH":
            return self._branch([self._all(one, flags) for one in value[1]])
        if op == "SUBPATTERN":
            group, added, removed, items = value
            return self._group(group, self._all(items, (flags | added) & ~removed))
        if op == "ATOMIC_GROUP":
            return self._atomic(self._all(value, flags))
        if op in ("ASSERT", "ASSERT_NOT"):
            return self._look(op, value, flags)
        if op == "AT":
            return self._place(str(value), flags)
        if op == "GROUPREF":
            return self._again(value)
        raise AssertionError(f"no such place in a pattern is counted yet: {op}")

    def _run_of(self, signs: list[Callable[[str], bool]]) -> Match:
        """Signs in a row; none of them leaves a choice."""

        def match(place: int, go_on: Next) -> bool:
            text = self._text[place : place + len(signs)]
            for takes, one in zip(signs, text, strict=False):
                self.steps += 1
                if not takes(one):
                    return False
            self.steps += 1
            return len(text) == len(signs) and go_on(place + len(signs))

        return match

    def _repeat(self, op: str, value: Any, flags: int) -> Match:
        least, most, items = value
        if self._bounded:
            least = min(least, BOUND)
            most = most if most == UNBOUNDED else max(least, min(most, BOUND))
        single = list(items)
        lazy = op == "MIN_REPEAT"
        if len(single) == 1 and str(single[0][0]) in OF_ONE_SIGN:
            takes = accepts(str(single[0][0]), single[0][1], flags, self._bytes)
            found = (self._lazy_signs if lazy else self._signs)(takes, least, most)
        else:
            found = self._many(self._all(items, flags), least, most, lazy)
        return self._atomic(found) if op == "POSSESSIVE_REPEAT" else found

    def _signs(self, takes: Callable[[str], bool], least: int, most: int) -> Match:
        def match(place: int, go_on: Next) -> bool:
            end = place
            while end - place < most:
                self.steps += 1
                if end >= len(self._text) or not takes(self._text[end]):
                    break
                end += 1
            for one in range(end, place + least - 1, -1):
                self._count()
                if go_on(one):
                    return True
            return False

        return match

    def _lazy_signs(self, takes: Callable[[str], bool], least: int, most: int) -> Match:
        def match(place: int, go_on: Next) -> bool:
            end = place
            while True:
                self._count()
                if end - place >= least and go_on(end):
                    return True
                if end - place >= most or end >= len(self._text) or not takes(self._text[end]):
                    return False
                end += 1

        return match

    def _many(self, body: Match, least: int, most: int, lazy: bool) -> Match:
        def go(place: int, go_on: Next, count: int, last: int) -> bool:
            self._count()
            if lazy and count >= least and go_on(place):
                return True
            again = count < most and (count < least or place != last)
            if again and body(place, lambda end: go(end, go_on, count + 1, place)):
                return True
            return not lazy and count >= least and go_on(place)

        return lambda place, go_on: go(place, go_on, 0, -1)

    def _branch(self, ways: list[Match]) -> Match:
        def match(place: int, go_on: Next) -> bool:
            self._count()
            return any(way(place, go_on) for way in ways)

        return match

    def _group(self, group: int | None, body: Match) -> Match:
        if group is None:
            return body

        def match(place: int, go_on: Next) -> bool:
            before = self._groups.get(group)

            def done(end: int) -> bool:
                inner = self._groups.get(group)
                self._groups[group] = (place, end)
                if go_on(end):
                    return True
                self._restore(group, inner)
                return False

            return body(place, done) or self._restore(group, before)

        return match

    def _restore(self, group: int, span: tuple[int, int] | None) -> bool:
        if span is None:
            self._groups.pop(group, None)
        else:
            self._groups[group] = span
        return False

    def _atomic(self, body: Match) -> Match:
        def match(place: int, go_on: Next) -> bool:
            ends: list[int] = []

            def done(end: int) -> bool:
                ends.append(end)
                return True

            return body(place, done) and go_on(ends[0])

        return match

    def _look(self, op: str, value: Any, flags: int) -> Match:
        direction, items = value
        body = self._all(items, flags)
        width = items.getwidth()[0] if direction < 0 else 0

        def match(place: int, go_on: Next) -> bool:
            self._count()
            found = place >= width and body(place - width, lambda _end: True)
            return found == (op == "ASSERT") and go_on(place)

        return match

    def _place(self, where: str, flags: int) -> Match:
        def match(place: int, go_on: Next) -> bool:
            self._count()
            return self._is_at(where, place, flags) and go_on(place)

        return match

    def _is_at(self, where: str, place: int, flags: int) -> bool:
        text = self._text
        if where == "AT_BEGINNING_STRING":
            return place == 0
        if where == "AT_BEGINNING":
            return place == 0 or bool(flags & re.MULTILINE and text[place - 1] == "\n")
        if where == "AT_END_STRING":
            return place == len(text)
        if where == "AT_END":
            last = place == len(text) or (place == len(text) - 1 and text[place] == "\n")
            return last or bool(flags & re.MULTILINE and text[place] == "\n")
        word = _categories(flags, self._bytes)["CATEGORY_WORD"]
        before = place > 0 and word(text[place - 1])
        after = place < len(text) and word(text[place])
        return (before != after) == (where == "AT_BOUNDARY")

    def _again(self, group: int) -> Match:
        def match(place: int, go_on: Next) -> bool:
            self._count()
            span = self._groups.get(group)
            if span is None:
                return False
            words = self._text[slice(*span)]
            return self._text.startswith(words, place) and go_on(place + len(words))

        return match


def _then(first: Match, second: Match | None) -> Match:
    if second is None:
        return first
    return lambda place, go_on: first(place, lambda end: second(end, go_on))


# --- signs ---------------------------------------------------------------------------------


def _categories(flags: int, of_bytes: bool) -> dict[str, Callable[[str], bool]]:
    if of_bytes or flags & re.ASCII:
        return {
            "CATEGORY_DIGIT": lambda one: one in string.digits,
            "CATEGORY_SPACE": lambda one: one in _ASCII_SPACE,
            "CATEGORY_WORD": lambda one: one in _ASCII_WORD,
        }
    return {
        "CATEGORY_DIGIT": str.isdecimal,
        "CATEGORY_SPACE": str.isspace,
        "CATEGORY_WORD": lambda one: one.isalnum() or one == "_",
    }


def accepts(op: str, value: Any, flags: int, of_bytes: bool) -> Callable[[str], bool]:
    """A test for one sign of a text."""
    if op == "ANY":
        return (lambda _one: True) if flags & re.DOTALL else (lambda one: one != "\n")
    categories = _categories(flags, of_bytes)

    def is_in(one: str) -> bool:
        code = ord(one)
        found = negated = False
        for kind, of in [(op.removeprefix("NOT_"), value)] if op != "IN" else value:
            name = str(kind)
            if name == "NEGATE":
                negated = True
            elif name == "LITERAL":
                found |= code == of
            elif name == "RANGE":
                found |= of[0] <= code <= of[1]
            else:
                wanted = str(of)
                sure = categories[wanted.replace("_NOT_", "_")](one)
                found |= sure != ("_NOT_" in wanted)
        return found != negated

    known: dict[str, bool] = {}

    def test(one: str) -> bool:
        found = known.get(one)
        if found is None:
            ways = {one}
            if flags & re.IGNORECASE:
                ways |= {way for way in (one.lower(), one.upper()) if len(way) == 1}
            # [^a] with IGNORECASE leaves out both
            negated = op == "NOT_LITERAL" or (op == "IN" and str(value[0][0]) == "NEGATE")
            inside = [is_in(way) for way in ways]
            found = all(inside) if negated else any(inside)
            found = not any(way == chr(value) for way in ways) if op == "NOT_LITERAL" else found
            known[one] = found
        return found

    return test
