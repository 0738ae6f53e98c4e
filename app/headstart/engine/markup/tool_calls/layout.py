"""The layout of a family's calls: the text around names, keys and values, from an example. Pure."""

from __future__ import annotations

import itertools
import json
import re

from msgspec import Struct
from msgspec.structs import replace

# the calls of the examples
NAME, OTHER_NAME, ID = "probe_weather", "probe_tide", "a1B2c3D4e"
FIRST_KEY, FIRST_VALUE, SECOND_KEY, SECOND_VALUE = "city", "Oslo", "days", "3"
# marks that end a header with the tool's name
HEADER_ENDS = ("<|message|>", "<|role_sep|>", "<|sep|>", "\n")
# stands for the key in a tag that closes
KEY = "KEY"
ARGUMENTS = {FIRST_KEY: FIRST_VALUE, SECOND_KEY: int(SECOND_VALUE)}


class JsonLayout(Struct, frozen=True):
    """`before` NAME `middle` ARGUMENTS `after`, with `between` in place of `after` where another
    call follows in the same section ("" where none does)."""

    before: str
    middle: str
    after: str
    between: str = ""


class TagLayout(Struct, frozen=True):
    """`before` NAME `name_end`, then for each argument `key` KEY `text_value` or `other_value`
    VALUE `value_end`, with `separator` between arguments, and `after` behind the last.

    `text_value` stands before a string, `other_value` before any other value; a string has
    `quote` around it.
    """

    before: str
    name_end: str
    key: str
    text_value: str
    other_value: str
    value_end: str
    after: str
    separator: str = ""
    quote: str = ""
    between: str = ""


Layout = JsonLayout | TagLayout


def layout_of(one: str, two: str) -> Layout | None:
    """The layout behind the opening mark; None for an example that has none of these shapes.

    `one`: an example with the first call; `two`: one with both calls in a section, or "".
    """
    at = one.find(NAME)
    if at < 0:
        return None
    before, rest = one[:at], one[at + len(NAME) :]
    found = _json_span(rest)
    if found is not None:
        begins, ends = found
        return JsonLayout(before, rest[:begins], rest[ends:], _between(two))
    return _tags(before, rest, two)


def behind_header(text: str) -> str:
    """The text behind the end of a header; all of it without one."""
    for mark in HEADER_ENDS:
        _, found, rest = text.partition(mark)
        if found:
            return rest
    return text


def _json_span(text: str) -> tuple[int, int] | None:
    for found in re.finditer(r"\{", text):
        try:
            value, end = json.JSONDecoder().raw_decode(text, found.start())
        except ValueError:
            continue
        if value == ARGUMENTS:
            return found.start(), end
    return None


def _between(two: str) -> str:
    """The text between the arguments of the first call and the name of the second."""
    at, first = two.find(OTHER_NAME), _json_span(two)
    return two[first[1] : at] if first is not None and at >= first[1] else ""


def _common(one: str, other: str) -> str:
    pairs = itertools.takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return "".join(sign for sign, _ in pairs)


def _tags(before: str, rest: str, two: str) -> TagLayout | None:
    cuts, at = [], 0
    for text in (FIRST_KEY, FIRST_VALUE, SECOND_KEY, SECOND_VALUE):
        found = rest.find(text, at)
        if found < 0:
            return None
        cuts.append(rest[at:found])
        at = found + len(text)
    # some tags that close have the key
    start, text_value, middle, other_value = cuts
    middle = middle.replace(f"/{FIRST_KEY}>", f"/{KEY}>")
    end = rest[at:].replace(f"/{SECOND_KEY}>", f"/{KEY}>")
    same = _common(middle, end)
    value_end = same[: same.rfind(">") + 1]
    if value_end:
        key, after = middle[len(value_end) :], end[len(value_end) :]
        if not start.endswith(key):
            return None
        shape = TagLayout(
            before, start.removesuffix(key), key, text_value, other_value, value_end, after
        )
    else:
        # a function call: quotes around texts, a separator between arguments
        quote = text_value.removeprefix(other_value)
        separator = middle.removeprefix(quote)
        shape = TagLayout(before, start, "", other_value, other_value, "", end, separator, quote)
    begins, other = two.find(SECOND_KEY), two.find(OTHER_NAME)
    if begins < 0 or other < begins:
        return shape
    value = two.find(SECOND_VALUE, begins) + len(SECOND_VALUE)
    between = two[value:other].replace(f"/{SECOND_KEY}>", f"/{KEY}>")
    return replace(shape, between=between.removeprefix(value_end))
