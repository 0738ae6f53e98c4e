"""Patterns of names as git reads them, matched without going back. Pure; in bytes, as git's are.

All patterns run side by side as one automaton whose states are the bits of a number: a name of n
bytes takes n steps, whatever the patterns are. Where `re` goes back, one pattern can take for ever.
"""

from __future__ import annotations

from bisect import bisect_right

from msgspec import Struct

_SLASH, _STAR, _BACKSLASH = b"/*\\"
# sets of bytes, as the bits of a number
_NOT_SLASH = ((1 << 256) - 1) & ~(1 << _SLASH)


def _of(*ranges: tuple[int, int]) -> int:
    """The set of the bytes in these ranges, both ends included."""
    return sum((1 << last + 1) - (1 << first) for first, last in ranges)


_DIGITS, _UPPER, _LOWER = _of((48, 57)), _of((65, 90)), _of((97, 122))
# git's own classes: ASCII, and white space without \v and \f
_CLASSES = {
    b"alnum": _DIGITS | _UPPER | _LOWER,
    b"alpha": _UPPER | _LOWER,
    b"blank": _of((9, 9), (32, 32)),
    b"cntrl": _of((0, 31), (127, 127)),
    b"digit": _DIGITS,
    b"graph": _of((33, 126)),
    b"lower": _LOWER,
    b"print": _of((32, 126)),
    b"punct": _of((33, 47), (58, 64), (91, 96), (123, 126)),
    b"space": _of((9, 10), (13, 13), (32, 32)),
    b"upper": _UPPER,
    b"xdigit": _DIGITS | _of((65, 70), (97, 102)),
}


class _Never(Exception):
    """The pattern is malformed: git lets it match nothing."""


class GlobStep(Struct, frozen=True):
    """A place of a pattern: first any number of bytes of the set `waits`, then one of `takes`.
    `optional`: the place may be skipped (`**/`). The last place takes nothing."""

    takes: int
    waits: int = 0
    optional: bool = False


def steps_of(pattern: bytes) -> tuple[GlobStep, ...]:
    """The places of a pattern with `*`, `**`, `?`, `[...]` and `\\`; () for one that matches
    nothing."""
    try:
        return tuple(_steps(pattern))
    except _Never:
        return ()


def literal_steps(text: bytes) -> tuple[GlobStep, ...]:
    """Places that take just this text, for what stands before a pattern."""
    return tuple(GlobStep(1 << one) for one in text)


def _steps(pattern: bytes) -> list[GlobStep]:
    found: list[GlobStep] = []
    place, waits, optional = 0, 0, False
    while place < len(pattern):
        sign = pattern[place]
        if sign == _STAR:
            end = place + 1
            while end < len(pattern) and pattern[end] == _STAR:
                end += 1
            folders = end > place + 1 and _is_between_slashes(pattern, place, end)
            waits = _NOT_SLASH | 1 << _SLASH if folders else _NOT_SLASH
            optional = folders and pattern[end : end + 1] == b"/"
            # a second `**/` adds nothing to the first
            place = end + 1 if optional and found and found[-1].optional else end
            if place > end:
                waits, optional = 0, False
            continue
        takes, place = _one(pattern, place)
        found.append(GlobStep(takes, waits, optional))
        waits, optional = 0, False
    found.append(GlobStep(0, waits))
    return found


def _is_between_slashes(pattern: bytes, start: int, end: int) -> bool:
    before = start == 0 or pattern[start - 1] == _SLASH
    return before and (end == len(pattern) or pattern.startswith((b"/", b"\\/"), end))


def _one(pattern: bytes, place: int) -> tuple[int, int]:
    """The set of a sign, and the place after it."""
    sign = pattern[place : place + 1]
    if sign == b"?":
        return _NOT_SLASH, place + 1
    if sign == b"[":
        return _bracket(pattern, place + 1)
    if sign == b"\\":
        place += 1
    return 1 << _at(pattern, place), place + 1


def _at(pattern: bytes, place: int) -> int:
    if place >= len(pattern):
        raise _Never
    return pattern[place]


def _bracket(pattern: bytes, place: int) -> tuple[int, int]:
    negated = pattern[place : place + 1] in (b"!", b"^")
    place += negated
    found, before, first = 0, -1, True
    while first or pattern[place : place + 1] != b"]":
        first = False
        sign = _at(pattern, place)
        named = _named_class(pattern, place)
        if sign == _BACKSLASH:
            place += 1
            before = _at(pattern, place)
            found |= 1 << before
        elif sign == ord("-") and before >= 0 and pattern[place + 1 : place + 2] not in (b"", b"]"):
            place += 1
            if pattern[place] == _BACKSLASH:
                place += 1
            last = _at(pattern, place)
            found |= _of((before, last)) if before <= last else 0
            before = -1
        elif named is not None:
            name, place = named
            if name not in _CLASSES:
                raise _Never
            found |= _CLASSES[name]
            before = -1
        else:
            before = sign
            found |= 1 << sign
        place += 1
    found = ~found if negated else found
    return found & _NOT_SLASH, place + 1


def _named_class(pattern: bytes, place: int) -> tuple[bytes, int] | None:
    """The name in `[:name:]`, and the place of its last bracket; None for other signs."""
    if not pattern.startswith(b"[:", place):
        return None
    end = pattern.find(b"]", place + 2)
    if end < 0:
        raise _Never
    if end < place + 3 or pattern[end - 1] != ord(":"):
        return None
    return pattern[place + 2 : end - 1], end


class Globs:
    """Patterns with their numbers, in ascending order; `last` finds the last one that matches."""

    def __init__(self, patterns: list[tuple[int, tuple[GlobStep, ...], bool]]) -> None:
        """`patterns`: number, steps, and True for one that matches folders only."""
        self._numbers: list[int] = []
        self._starts: list[int] = []
        # places by the set that they take; numbers of one bit per place
        self._taking: dict[int, list[int]] = {}
        begins: list[int] = []
        waits_all: list[int] = []
        waits: list[int] = []
        optional: list[int] = []
        ends: list[int] = []
        file_ends: list[int] = []
        place = 0
        for number, steps, only_folders in patterns:
            self._numbers.append(number)
            self._starts.append(place)
            begins.append(place)
            if steps[0].optional:
                begins.append(place + 1)
            for step in steps:
                if step.waits:
                    waits.append(place)
                    if step.waits >> _SLASH & 1:
                        waits_all.append(place)
                if step.optional:
                    optional.append(place)
                if step.takes:
                    self._taking.setdefault(step.takes, []).append(place + 1)
                place += 1
            ends.append(place - 1)
            if not only_folders:
                file_ends.append(place - 1)
        self._size = place // 8 + 1
        self._begin = self._bits(begins)
        self._waits, self._waits_all = self._bits(waits), self._bits(waits_all)
        self._optional = self._bits(optional)
        self._ends, self._file_ends = self._bits(ends), self._bits(file_ends)
        self._takes: dict[int, int] = {}

    def last(self, text: bytes, folder: bool) -> int:
        """The greatest number among the patterns that match the whole text; -1 for none."""
        states = self._begin
        for one in text:
            takes = self._takes.get(one)
            if takes is None:
                takes = self._takes[one] = self._taken_by(one)
            waits = self._waits_all if one == _SLASH else self._waits
            came = (states << 1) & takes
            # a place is skipped on arrival, not after it waited
            states = came | (came & self._optional) << 1 | states & waits
            if not states:
                return -1
        found = states & (self._ends if folder else self._file_ends)
        if not found:
            return -1
        return self._numbers[bisect_right(self._starts, found.bit_length() - 1) - 1]

    def _taken_by(self, one: int) -> int:
        return self._bits(
            [place for set_, places in self._taking.items() if set_ >> one & 1 for place in places]
        )

    def _bits(self, places: list[int]) -> int:
        found = bytearray(self._size + 1)
        for place in places:
            found[place >> 3] |= 1 << (place & 7)
        return int.from_bytes(found, "little")
