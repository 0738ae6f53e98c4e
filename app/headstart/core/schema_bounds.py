"""Bounds of the JSON Schemas that strangers send, counted before anything is made of them. Pure.

Prompts and grammars are made of schemas, in time that grows faster than these do. The largest that
programs and tool servers are known to send have a tenth of this.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Sequence
from enum import StrEnum
from typing import Any

# levels of values in each other; values, members of objects and lists; characters of all texts
MOST_LEVELS, MOST_VALUES, MOST_CHARACTERS = 100, 10_000, 200_000
# so many times as much for all tools of a request
MOST_IN_ALL = 10
# for a grammar: keys of one object, and the sum of the numbers of which values are multiples; both
# take a tenth of a second
MOST_KEYS, MOST_MULTIPLES = 1_000, 20_000
# schemas that were counted, by their text
_KEPT = 4096


class Excess(StrEnum):
    """A bound that a schema is over."""

    LEVELS = "levels"
    VALUES = "values"
    CHARACTERS = "characters"

    def words(self, times: int = 1) -> str:
        """The bound in the words of programs and models. `times`: of so many schemas."""
        most = {"levels": MOST_LEVELS, "values": MOST_VALUES, "characters": MOST_CHARACTERS}
        many = most[self.value] * (1 if self is Excess.LEVELS else times)
        return f"more than {many:,} {self.value}"


def excess_of(schema: object) -> Excess | None:
    """The first bound that a schema, as a value, is over; None for one within all of them."""
    return _count([schema], MOST_VALUES, MOST_CHARACTERS)


def excess_in_all(texts: Sequence[str]) -> Excess | None:
    """The same for the schemas of one request, each within the bounds, as JSON text."""
    size = sum(map(len, texts))
    if size <= MOST_CHARACTERS:
        # a value has two letters
        return None
    if size > MOST_CHARACTERS * MOST_IN_ALL:
        return Excess.CHARACTERS
    values = list(map(json.loads, texts))
    return _count(values, MOST_VALUES * MOST_IN_ALL, MOST_CHARACTERS * MOST_IN_ALL)


@functools.lru_cache(maxsize=_KEPT)
def excess_in(text: str) -> Excess | None:
    """The same for a schema as JSON text; None for a text that is no JSON."""
    if len(text) > 2 * MOST_CHARACTERS:
        return Excess.CHARACTERS
    try:
        return excess_of(json.loads(text))
    except RecursionError:
        return Excess.LEVELS
    except ValueError:
        return None


class GrammarCosts:
    """Counts the parts of schemas that make a grammar slow, with which the bounds of its library do
    not help."""

    def __init__(self) -> None:
        self._multiples: dict[float, int] = {}

    def excess(self, schema: object) -> str:
        """The bound that the schemas so far are over, in words for programs; "" for none."""
        level = [schema]
        while level:
            inner: list[Any] = []
            for value in level:
                if isinstance(value, dict):
                    if len(value) > MOST_KEYS:
                        return f"it has more than {MOST_KEYS:,} keys in one object"
                    step = value.get("multipleOf")
                    if isinstance(step, int | float) and step not in self._multiples:
                        self._multiples[step] = _digits(step)
                    inner += value.values()
                elif isinstance(value, list):
                    inner += value
            level = inner
        if sum(self._multiples.values()) > MOST_MULTIPLES:
            return "it wants multiples of too large numbers"
        return ""


def _digits(number: float) -> int:
    """The digits of a number, without its point."""
    found = "".join(one for one in f"{number:.15g}" if one.isdecimal())
    return min(int(found[:9] or 0), MOST_MULTIPLES + 1)


def _count(level: list[Any], most_values: int, most_characters: int) -> Excess | None:
    """Count level by level, and stop at the first bound."""
    values = characters = levels = 0
    while level:
        levels += 1
        if levels > MOST_LEVELS:
            return Excess.LEVELS
        inner: list[Any] = []
        for value in level:
            if isinstance(value, dict):
                characters += sum(map(len, value))
                inner += value.values()
            elif isinstance(value, list | tuple):
                inner += value
            elif isinstance(value, str):
                characters += len(value)
        values += len(inner)
        if values > most_values:
            return Excess.VALUES
        if characters > most_characters:
            return Excess.CHARACTERS
        level = inner
    return None
