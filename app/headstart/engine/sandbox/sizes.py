"""Size limits of a template's values: larger ones are refused before they are made.

A short template can ask for gigabytes in one call (`'x'.ljust(10**10)`), or nest lists that contain
each other twice until no memory could hold their text.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from jinja2.utils import Namespace

from headstart.engine.sandbox.budget import TooMuch, charge, step, tick

# characters that one call may pad to, repeat or insert
LARGEST_PRODUCT = 100_000
# characters of a template: nested parts compile in quadratic time
_LONGEST_SOURCE = 100_000
# characters that a prompt may have beyond four times its messages
_MOST_ADDED = 1_000_000
# nested values, counted once per reference, and their greatest depth
_MOST_VALUES, _DEEPEST = 200_000, 200
_MOST_BITS = 10_000
# characters of values that are written out
LONGEST_WRITTEN = 12_000_000
_NUMBERS = re.compile(r"\d+")


def check_source(source: str) -> None:
    if len(source) > _LONGEST_SOURCE:
        raise TooMuch("the template is too long")


def check_prompt(prompt: str, given: int) -> None:
    """Refuse a prompt that is too long for messages of `given` characters."""
    if len(prompt) > 4 * given + _MOST_ADDED:
        raise TooMuch("it makes too long a text")


# --- values ------------------------------------------------------------------------------


def kept(value: Any) -> Any:
    """Charge a new value, and refuse it if it holds too many others."""
    tick()
    kind = type(value)
    if kind is int:
        _check_bits(value.bit_length())
    elif isinstance(value, str | bytes):
        charge(sys.getsizeof(value))
    elif isinstance(value, list | tuple | dict):
        charge(sys.getsizeof(value))
        walked(value)
    return value


def counted(values: Iterable[Any]) -> Iterator[Any]:
    """The same values, each counted as a step."""
    for value in values:
        step(1)
        yield value


def stored(values: Iterable[Any]) -> Iterator[Any]:
    """The same values, each charged, as they will be stored."""
    for value in values:
        step(1)
        charge(sys.getsizeof(value) if type(value) in (list, tuple, dict) else 64)
        yield value


def check_written(value: Any, each: int = 0) -> None:
    """Charge a value's text: its characters, and `each` bytes for each value in it."""
    if not isinstance(value, str):
        characters, count = walked(value, written=True)
        charge(4 * characters + each * count)


def walked(value: Any, written: bool = False) -> tuple[int, int]:
    """Number of characters (if `written`) and of nested values; a value held twice counts twice."""
    characters, count, waiting = 0, 1, [(value, 0)]
    while waiting:
        held, depth = waiting.pop()
        tick()
        items: Collection[Any]
        if isinstance(held, Namespace):
            items = object.__getattribute__(held, "_Namespace__attrs").values()
        elif isinstance(held, dict):
            items = held.values()
            if written:
                characters += sum(_length(key) for key in held)
        elif isinstance(held, list | tuple):
            items = held
        else:
            characters += _length(held)
            continue
        count += len(items)
        if count > _MOST_VALUES or depth > _DEEPEST:
            raise TooMuch("it makes too large a list")
        if written:
            characters += sum(_length(one) for one in items)
            if characters > LONGEST_WRITTEN:
                raise TooMuch("it makes too long a text")
        waiting += [
            (one, depth + 1) for one in items if isinstance(one, list | tuple | dict | Namespace)
        ]
    return characters, count


def _length(value: Any) -> int:
    if isinstance(value, str | bytes):
        return len(value) + 4
    return value.bit_length() // 3 + 4 if isinstance(value, int) else 24


# --- operators ---------------------------------------------------------------------------


def check_sum(left: Any, right: Any) -> None:
    for value in (left, right):
        if isinstance(value, str | bytes | list | tuple):
            charge(sys.getsizeof(value))


def check_product(left: Any, right: Any) -> None:
    """Refuse a `*` whose result is too long."""
    for value, times in ((left, right), (right, left)):
        sized = isinstance(value, str | bytes | list | tuple)
        if sized and isinstance(times, int) and len(value) * times > LARGEST_PRODUCT:
            raise TooMuch("the repeated text is too long")
    if isinstance(left, int) and isinstance(right, int):
        _check_bits(left.bit_length() + right.bit_length())


def check_power(left: Any, right: Any) -> None:
    if not all(isinstance(value, int | float) for value in (left, right)) or right > 64:
        raise TooMuch("the power is too large")
    if isinstance(left, int) and isinstance(right, int):
        _check_bits(left.bit_length() * max(right, 1))


def check_format(form: Any, values: Iterable[Any] = ()) -> None:
    """Refuse large numbers in, or passed to, `%`, `format` and other strings with a width."""
    if not isinstance(form, str | bytes):
        return
    text = form if isinstance(form, str) else form.decode("latin-1")
    asked, longest = 0, 0
    for one in values:
        if isinstance(one, int):
            asked = max(asked, abs(one))
        check_written(one)
        written = len(one) if isinstance(one, str | bytes) else walked(one, written=True)[0]
        longest = max(longest, written)
    numbers = [found.group() for found in _NUMBERS.finditer(text)]
    padded = sum(int(found) for found in numbers if len(found) < 6)
    long = any(len(found) > 5 or int(found) >= LARGEST_PRODUCT for found in numbers)
    # one of the values may serve as a width
    from_values = asked > LARGEST_PRODUCT and ("*" in text or "{" in text.replace("{}", ""))
    if long or from_values:
        raise TooMuch("the text is padded too far")
    fields = text.count("%") + text.count("{")
    stars = text.count("*") + text.count("{", 1)
    charge(4 * (len(text) + padded + fields * longest + stars * min(asked, LARGEST_PRODUCT)))


def _check_bits(bits: int) -> None:
    if bits > _MOST_BITS:
        raise TooMuch("the number is too large")
