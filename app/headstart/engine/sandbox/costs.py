"""Costs in bytes of templates' methods and filters, charged before they run.

Unknown ones count as costly: their texts must be short.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import Any

from headstart.engine.sandbox.budget import TooMuch, charge, step, tick
from headstart.engine.sandbox.sizes import (
    LARGEST_PRODUCT,
    LONGEST_WRITTEN,
    check_format,
    check_written,
    walked,
)

_MOST_INDENT = 1000
# characters for filters that no chat template needs: some take quadratic time
_LONGEST_ODD = 20_000
# overhead in bytes of each separate text, and of each value written as JSON
_TEXT, _VALUE = 80, 120
# bytes of an item that is appended to a list
_ITEM = 32
# bytes per character where a regular expression splits a text into words
_WORDS = 64
_WHITE = " \n\t\r\f\v"


# --- methods -----------------------------------------------------------------------------


def check_call(called: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
    """Charge a call of a text's or a number's method in advance."""
    tick()
    owner, name = getattr(called, "__self__", None), getattr(called, "__name__", "")
    if isinstance(owner, str | bytes):
        given = [*arguments, *named.values()]
        check = _METHODS.get(name)
        if check is None:
            charge(8 * sys.getsizeof(owner))
        else:
            check(owner, given)
    elif isinstance(owner, list):
        charge(_ITEM)
    elif isinstance(owner, int | float):
        _check_width([*arguments, *named.values()], _MOST_INDENT)


def _light(_text: Any, _given: list[Any]) -> None:
    """Charge nothing: the result is no larger than the input."""


def _cased(text: Any, _given: list[Any]) -> None:
    charge(3 * sys.getsizeof(text))


def _padded(_text: Any, given: list[Any]) -> None:
    _check_width(given)


def _tabs(text: Any, given: list[Any]) -> None:
    width = next((abs(one) for one in given if isinstance(one, int)), 8)
    charge(4 * (len(text) + width * text.count("\t" if isinstance(text, str) else b"\t")))


def _formatted(text: Any, given: list[Any]) -> None:
    held = [value for one in given if isinstance(one, dict) for value in one.values()]
    check_format(text, [*given, *held])


def _replaced(text: Any, given: list[Any]) -> None:
    if len(given) < 2:
        return
    old, new = given[:2]
    if isinstance(text, str) and isinstance(old, str) and isinstance(new, str):
        times = text.count(old) if old else len(text) + 1
        wide = 1 if text.isascii() and new.isascii() else 4
        charge(wide * (len(text) + times * len(new)))
    else:
        charge(8 * sys.getsizeof(text))


def _joined(text: Any, given: list[Any]) -> None:
    if given:
        _check_joined(text, given[0])


def _split(text: Any, given: list[Any]) -> None:
    between = given[0] if given and isinstance(given[0], str) and given[0] else None
    if not isinstance(text, str):
        charge(_WORDS * len(text))
        return
    if between is None:
        parts = min(len(text) // 2, sum(text.count(one) for one in _WHITE) + _wide_spaces(text))
    else:
        parts = text.count(between)
    charge(sys.getsizeof(text) + _TEXT * (parts + 1))


def _wide_spaces(text: str) -> int:
    """Upper bound of the number of non-ASCII spaces and line ends."""
    return 0 if text.isascii() else len(text) - len(text.encode("ascii", "ignore"))


def _lines(text: Any, _given: list[Any]) -> None:
    _split(text, [])


def _refused(_text: Any, _given: list[Any]) -> None:
    raise TooMuch("it changes letter by letter")


def _check_width(given: Iterable[Any], most: int = LARGEST_PRODUCT) -> None:
    if any(isinstance(one, int | float) and abs(one) > most for one in given):
        raise TooMuch("the text is padded too far")


def _check_joined(between: Any, values: Any) -> None:
    if isinstance(values, str):
        charge(4 * len(values) * (1 + len(between)) + _TEXT)
        return
    if isinstance(values, list | tuple | dict):
        size = 0
        for one in values:
            size += len(one) if isinstance(one, str) else walked(one, written=True)[0]
            if size > LONGEST_WRITTEN * 4:
                raise TooMuch("it makes too long a text")
        charge(size + sys.getsizeof(between) * len(values))


_METHODS: dict[str, Callable[[Any, list[Any]], None]] = {
    **dict.fromkeys(
        (
            *("strip", "lstrip", "rstrip", "removeprefix", "removesuffix", "partition"),
            *("rpartition", "startswith", "endswith", "find", "rfind", "index", "rindex", "count"),
            *("isalnum", "isalpha", "isascii", "isdecimal", "isdigit", "isidentifier", "islower"),
            *("isnumeric", "isprintable", "isspace", "istitle", "isupper"),
        ),
        _light,
    ),
    **dict.fromkeys(("lower", "upper", "title", "capitalize", "swapcase", "casefold"), _cased),
    **dict.fromkeys(("ljust", "rjust", "center", "zfill"), _padded),
    "expandtabs": _tabs,
    "format": _formatted,
    "format_map": _formatted,
    "replace": _replaced,
    "join": _joined,
    "split": _split,
    "rsplit": _split,
    "splitlines": _lines,
    "translate": _refused,
}


# --- filters -----------------------------------------------------------------------------

_Named = dict[str, Any]


def _free(_value: Any, _given: list[Any], _named: _Named) -> None:
    """Charge nothing: the filter only looks at a value, or yields its items one by one."""


def _text(factor: int) -> Callable[[Any, list[Any], _Named], None]:
    """The check of a filter from text to text, charged `factor` bytes for each byte of input."""

    def check(value: Any, _given: list[Any], _named: _Named) -> None:
        check_written(value)
        if isinstance(value, str):
            charge(factor * sys.getsizeof(value))

    return check


def _list(value: Any, _given: list[Any], _named: _Named) -> None:
    if isinstance(value, str):
        charge(len(value) * (8 if value.isascii() else 8 + _TEXT))
    elif hasattr(type(value), "__len__"):
        step(len(value))
        charge(16 * len(value))


def _grouped(value: Any, given: list[Any], named: _Named) -> None:
    _list(value, given, named)
    if hasattr(type(value), "__len__"):
        charge(2 * _VALUE * len(value))


def _padding(value: Any, given: list[Any], named: _Named) -> None:
    _check_width([*given, *named.values()])
    check_written(value)


def _indentation(given: list[Any], named: _Named) -> int:
    """The widest indentation in characters; raises TooMuch."""
    widest = 0
    for one in (*given, *named.values()):
        width = len(one) if isinstance(one, str) else one if type(one) is int else 0
        if width > _MOST_INDENT:
            raise TooMuch("the text is padded too far")
        widest = max(widest, width)
    return widest


def _indent(value: Any, given: list[Any], named: _Named) -> None:
    wide = max(4, _indentation(given, named))
    check_written(value)
    if isinstance(value, str):
        _lines(value, [])
        charge(2 * sys.getsizeof(value) + wide * (len(value.splitlines()) + 1))


def _json(value: Any, given: list[Any], named: _Named) -> None:
    wide = _indentation(given, named)
    if isinstance(value, str):
        charge(3 * sys.getsizeof(value))
    check_written(value, _VALUE + 8 * wide)


def _format(value: Any, given: list[Any], named: _Named) -> None:
    check_format(value, [*given, *named.values()])


def _replace(value: Any, given: list[Any], named: _Named) -> None:
    check_written(value)
    pair = [*given[:2]] or [named.get("old", ""), named.get("new", "")]
    if len(pair) == 1:
        pair.append(named.get("new", ""))
    _replaced(value if isinstance(value, str) else str(value), [str(one) for one in pair])


def _join(value: Any, given: list[Any], named: _Named) -> None:
    between = str(given[0] if given else named.get("d", ""))
    _check_joined(between, value)


def _added(value: Any, given: list[Any], named: _Named) -> None:
    """Charge `sum`, which copies its result at each step when it adds lists."""
    if hasattr(type(value), "__len__"):
        start = named.get("start", given[1] if len(given) > 1 else 0)
        step(len(value))
        if not isinstance(start, int | float) or "attribute" in named or given:
            held = walked(value)[1]
            if len(value) * held > 20_000_000:
                raise TooMuch("it adds too much")
    else:
        raise TooMuch("it adds too much")


def _odd(value: Any, given: list[Any], named: _Named) -> None:
    for one in (value, *given, *named.values()):
        characters, count = walked(one, written=True)
        if characters + count > _LONGEST_ODD:
            raise TooMuch("it makes too long a text")
    _check_width([*given, *named.values()], _MOST_INDENT)


_FILTERS: dict[str, Callable[[Any, list[Any], _Named], None]] = {
    **dict.fromkeys(
        (
            *("abs", "attr", "count", "d", "default", "filesizeformat", "first", "float", "int"),
            *("items", "last", "length", "map", "max", "min", "random", "reject", "rejectattr"),
            *("select", "selectattr", "reverse"),
        ),
        _free,
    ),
    **dict.fromkeys(("safe", "string", "trim", "truncate"), _text(2)),
    **dict.fromkeys(("capitalize", "lower", "upper"), _text(3)),
    **dict.fromkeys(("e", "escape", "forceescape"), _text(6)),
    **dict.fromkeys(("title", "wordcount"), _text(_WORDS)),
    **dict.fromkeys(("dictsort", "list", "sort"), _list),
    **dict.fromkeys(("groupby", "unique"), _grouped),
    **dict.fromkeys(("batch", "center", "round", "slice"), _padding),
    "format": _format,
    "indent": _indent,
    "join": _join,
    "replace": _replace,
    "sum": _added,
    "tojson": _json,
}
# filters that store all items of an iterator
_HOLDING = {"list", "sort", "dictsort", "groupby", "unique", "join", "sum", "last", "reverse"}


def cost_of(name: str) -> Callable[[Any, list[Any], _Named], None]:
    """The check to run before the filter of this name."""
    return _FILTERS.get(name, _odd)


def holds(name: str) -> bool:
    """True if a filter stores all items of an iterator."""
    return name in _HOLDING


def is_free(name: str) -> bool:
    """True if a filter returns an existing value."""
    return cost_of(name) is _free
