"""Texts that are hard for a pattern of `re`, made from the pattern itself, and its steps over them.

What its repeats take, many times; its beginning, many times; with an end that it does not take.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tests.support.pattern_steps import (
    BOUND,
    OF_ONE_SIGN,
    PARSER,
    UNBOUNDED,
    Steps,
    TooManySteps,
    accepts,
)

# steps for each sign that are not worth a second count
_FEW = 8
# signs to make texts of, besides those that the pattern names
_SIGNS = "a0 \nA_-.\"'\\,;:!\té中\u0301\x00\u2028"


def hard_texts(
    pattern: str | bytes, flags: int, length: int
) -> Iterator[tuple[str, str, str, int]]:
    """Texts of a beginning, something repeated, and an end: (beginning, repeated, end, times), of
    about this length. They come from the pattern: what its repeats take, what it begins with, and
    an end that it does not take."""
    samples = _Samples(pattern, flags)
    seen: set[tuple[str, str, str]] = set()
    for begin, again in samples.pumps():
        for end in ("", samples.refused, "a" if again[-1:] != "a" else " "):
            if again and (begin, again, end) not in seen:
                seen.add((begin, again, end))
                yield begin, again, end, max(8, length // len(again))


class _Samples:
    """Short texts that parts of a pattern match."""

    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self._bytes = isinstance(pattern, bytes)
        parsed = PARSER.parse(pattern, flags)
        self._flags = int(parsed.state.flags)
        self._items = list(parsed)
        self._named: list[str] = []
        self._sets: list[Callable[[str], bool]] = []
        self._collect(self._items, self._flags)
        signs = dict.fromkeys((*self._named, *_SIGNS))
        self._signs = [one for one in signs if not self._bytes or ord(one) < 256]
        self._groups: dict[int, str] = {}
        refused = (one for one in reversed(self._signs) if not any(s(one) for s in self._sets))
        self.refused = next(refused, "\x00")

    def pumps(self) -> Iterator[tuple[str, str]]:
        """A beginning, and what is repeated after it."""
        whole = self._of(self._items, self._flags, 1)
        for cut in range(1, len(self._items) + 1):
            yield "", self._of(self._items[:cut], self._flags, 1)
            yield "", self._of(self._items[:cut], self._flags, 1) + " "
        yield from self._repeats(self._items, self._flags, "")
        taken = [one for one in self._signs if any(s(one) for s in self._sets)][:12]
        for one in taken:
            yield "", one
            yield whole, one
        for one in taken[:6]:
            for other in taken[:6]:
                yield "", one + other

    def _repeats(self, items: Any, flags: int, before: str) -> Iterator[tuple[str, str]]:
        for op, value in items:
            name = str(op)
            if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
                # many beginnings without an end
                yield "", before
                for way in self._ways(value[2], flags):
                    yield before, way
                yield from self._repeats(value[2], flags, before)
            elif name == "BRANCH":
                for one in value[1]:
                    yield from self._repeats(one, flags, before)
            elif name == "SUBPATTERN":
                yield from self._repeats(value[3], (flags | value[1]) & ~value[2], before)
            elif name == "ATOMIC_GROUP":
                yield from self._repeats(value, flags, before)
            elif name in ("ASSERT", "ASSERT_NOT"):
                yield from self._repeats(value[1], flags, before)
            before += self._of([(op, value)], flags, 1)

    def _ways(self, items: Any, flags: int) -> list[str]:
        """Samples of a repeat's body: with one and two of its inner repeats, and each branch."""
        found = [self._of(items, flags, times) for times in (1, 2)]
        for op, value in items:
            inner = value[3] if str(op) == "SUBPATTERN" else [(op, value)]
            for name, branches in inner:
                if str(name) == "BRANCH":
                    found += [self._of(one, flags, 1) for one in branches[1]]
                elif str(name) == "IN":
                    test = accepts("IN", branches, flags, self._bytes)
                    found += [one for one in self._signs if test(one)][:3]
        return list(dict.fromkeys(found))

    def _of(self, items: Any, flags: int, times: int) -> str:
        return "".join(self._one(str(op), value, flags, times) for op, value in items)

    def _one(self, op: str, value: Any, flags: int, times: int) -> str:
        if op in OF_ONE_SIGN:
            test = accepts(op, value, flags, self._bytes)
            return next((one for one in self._signs if test(one)), "")
        if op in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
            least, most, body = value
            return self._of(body, flags, times) * int(min(most, max(least, times), BOUND))
        if op == "BRANCH":
            return self._of(value[1][0], flags, times)
        if op == "SUBPATTERN":
            found = self._of(value[3], (flags | value[1]) & ~value[2], times)
            if value[0] is not None:
                self._groups[value[0]] = found
            return found
        if op == "ATOMIC_GROUP":
            return self._of(value, flags, times)
        return self._groups.get(value, "") if op == "GROUPREF" else ""

    def _collect(self, items: Any, flags: int) -> None:
        for op, value in items:
            name = str(op)
            if name in OF_ONE_SIGN:
                self._sets.append(accepts(name, value, flags, self._bytes))
                self._named += _named(name, value)
            elif name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
                self._collect(value[2], flags)
            elif name == "BRANCH":
                for one in value[1]:
                    self._collect(one, flags)
            elif name == "SUBPATTERN":
                self._collect(value[3], (flags | value[1]) & ~value[2])
            elif name == "ATOMIC_GROUP":
                self._collect(value, flags)


def _named(op: str, value: Any) -> Sequence[str]:
    if op == "LITERAL":
        return [chr(value)]
    if op == "IN":
        codes = [
            of if str(kind) == "LITERAL" else of[0]
            for kind, of in value
            if str(kind) in ("LITERAL", "RANGE")
        ]
        return [chr(one) for one in codes[:4]]
    return []


def can_grow(pattern: str | bytes, flags: int) -> bool:
    """True if a repeat of the pattern has no bound: others cost the same at each place."""
    waiting = [PARSER.parse(pattern, flags)]
    while waiting:
        for op, value in waiting.pop():
            name = str(op)
            if name in ("MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"):
                if value[1] == UNBOUNDED:
                    return True
                waiting.append(value[2])
            elif name == "BRANCH":
                waiting += value[1]
            elif name == "SUBPATTERN":
                waiting.append(value[3])
            elif name == "ATOMIC_GROUP":
                waiting.append(value)
            elif name in ("ASSERT", "ASSERT_NOT"):
                waiting.append(value[1])
    return False


def growth(
    pattern: str | bytes, flags: int, method: str, length: int
) -> Iterator[tuple[str, int, int]]:
    """For each hard text its description, and the steps for it and for twice as much of it; only
    where these are more than a few for each sign."""
    if not can_grow(pattern, flags):
        return
    steps = Steps(pattern, flags)

    for begin, again, end, times in hard_texts(pattern, flags, length):
        said = f"{begin!r} + {again!r} * {times} + {end!r}"
        text = begin + again * 2 * times + end
        try:
            steps.spans(text, method)
        except TooManySteps:
            # as good as for ever
            yield said, 1, steps.steps
            continue
        double = steps.steps
        if double > _FEW * len(text):
            steps.spans(begin + again * times + end, method)
            yield said, steps.steps, double
