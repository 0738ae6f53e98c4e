"""How large the values of a template may become: what would take more is refused before it is made.

A short template can ask for gigabytes in one call (`'x'.ljust(10**10)`), or nest lists that hold
each other twice until no memory could write them out.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable
from typing import Any

import jinja2

# characters that one call may pad to, repeat or put between
LARGEST_PRODUCT = 100_000
# characters of one text that is joined or replaced in
_LONGEST = 50_000_000
# characters of a template: its nested parts are compiled in quadratic time
_LONGEST_SOURCE = 100_000
# what a prompt may have more than a few times its messages, characters
_MOST_ADDED = 1_000_000
# values within values, those counted twice that are named twice, and how deep they may lie
_MOST_VALUES, _DEEPEST = 2_000_000, 200
_MOST_BITS = 10_000
_LONG_NUMBER = re.compile(r"\d{5}")
_PADDING = {"ljust", "rjust", "center", "zfill", "expandtabs"}
_MOST_INDENT = 1000


class TooMuch(jinja2.TemplateError):
    """The template loops for too long, or makes too much."""


def check_source(source: str) -> None:
    if len(source) > _LONGEST_SOURCE:
        raise TooMuch("the template is too long")


def check_prompt(prompt: str, given: int) -> None:
    """A prompt that was made of messages of so many characters."""
    if len(prompt) > 4 * given + _MOST_ADDED:
        raise TooMuch("it makes too long a text")


def weighed(value: Any) -> Any:
    """The value, unless it holds too many others; what is held twice counts twice."""
    if not isinstance(value, list | tuple | dict):
        return value
    count, waiting = 0, [(value, 0)]
    while waiting:
        held, depth = waiting.pop()
        items: Iterable[Any] = held.values() if isinstance(held, dict) else held
        count += len(held)
        if count > _MOST_VALUES or depth > _DEEPEST:
            raise TooMuch("it makes too large a list")
        waiting += [(one, depth + 1) for one in items if isinstance(one, list | tuple | dict)]
    return value


def check_product(left: Any, right: Any) -> None:
    """Of a `*`."""
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
    """Of `%`, `format` and what names a width: no number in it, or for it, may be long."""
    if not isinstance(form, str | bytes):
        return
    text = form if isinstance(form, str) else form.decode("latin-1")
    asked = any(isinstance(one, int) and abs(one) > LARGEST_PRODUCT for one in values)
    # a width may itself be one of the values
    if _LONG_NUMBER.search(text) or (asked and ("*" in text or "{" in text.replace("{}", ""))):
        raise TooMuch("the text is padded too far")


def check_call(called: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
    """Of a method of a text, before it is called."""
    text, name = getattr(called, "__self__", None), getattr(called, "__name__", "")
    if not isinstance(text, str | bytes):
        return
    given = [*arguments, *named.values()]
    if name in _PADDING:
        _check_width(given)
    elif name in ("format", "format_map"):
        check_format(text, [*given, *(v for one in given if isinstance(one, dict)
                                      for v in one.values())])  # fmt: skip
    elif name == "replace" and len(arguments) > 1:
        _check_replaced(text, arguments[0], arguments[1])
    elif name == "join" and arguments:
        _check_joined(text, arguments[0])
    elif name == "translate":
        raise TooMuch("it changes letter by letter")


def _check_width(given: Iterable[Any]) -> None:
    if any(isinstance(one, int | float) and abs(one) > LARGEST_PRODUCT for one in given):
        raise TooMuch("the text is padded too far")


def _check_replaced(text: Any, old: Any, new: Any) -> None:
    if isinstance(text, str) and isinstance(old, str) and isinstance(new, str):
        times = text.count(old) if old else len(text) + 1
        if len(text) + times * len(new) > _LONGEST:
            raise TooMuch("it makes too long a text")


def _check_joined(between: Any, values: Any) -> None:
    if isinstance(values, list | tuple | dict):
        size = sum(len(one) if isinstance(one, str) else 20 for one in values)
        if size + len(between) * len(values) > _LONGEST:
            raise TooMuch("it makes too long a text")


def _check_bits(bits: int) -> None:
    if bits > _MOST_BITS:
        raise TooMuch("the number is too large")


# --- filters -----------------------------------------------------------------------------


def _center(_value: Any, *given: Any, **named: Any) -> None:
    _check_width([*given, *named.values()])


def _indent(_value: Any, *given: Any, **named: Any) -> None:
    for one in (*given, *named.values()):
        if isinstance(one, int) and one > _MOST_INDENT:
            raise TooMuch("the text is padded too far")
        if isinstance(one, str) and len(one) > _MOST_INDENT:
            raise TooMuch("the text is padded too far")


def _format(value: Any, *given: Any, **named: Any) -> None:
    check_format(value, [*given, *named.values()])


def _replace(value: Any, old: Any = "", new: Any = "", *_rest: Any) -> None:
    _check_replaced(value, old, new)


def _join(value: Any, between: Any = "", *_rest: Any, **named: Any) -> None:
    between = named.get("d", between)
    _check_joined(between if isinstance(between, str) else "", value)


CHECKS: dict[str, Callable[..., None]] = {
    "center": _center,
    "batch": _center,
    "slice": _center,
    "round": _center,
    "indent": _indent,
    "tojson": _indent,
    "wordwrap": _indent,
    "format": _format,
    "replace": _replace,
    "join": _join,
}


def guard(name: str, used: Callable[..., Any]) -> Callable[..., Any]:
    """A filter of Jinja's that looks first at what it is asked for."""
    check = CHECKS[name]
    # those that want a context get it before the value
    before = 1 if hasattr(used, "jinja_pass_arg") else 0

    @functools.wraps(used)
    def guarded(*given: Any, **named: Any) -> Any:
        check(*given[before:], **named)
        return used(*given, **named)

    return guarded
