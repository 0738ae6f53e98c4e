"""Texts for users, by code: all sentences of problems, notices and reasons. The window's own texts
are in `ui.wording`.

A sentence names its facts in braces, with Python's format. The locale formats numbers:
`{count:,}`, `{share:.0%}`, `{speed:.1f}`; `{size:size}` are bytes in units, `{rest:time}` and
`{age:age}` seconds in words, `{used:tokens}` and `{likes:short}` rounded counts, `{names:list}` is
a list with its “and”. `{count:n turn is|turns are}` is the number with the English form that goes
with it; `{count:plural one=# ход|few=# хода|other=# ходов}` does that in any language, and
`{who:select user=You|other=The model}` chooses by a fact. A fact can be the code of another
sentence with the same facts: `{reason:message}` and `{reason:remedy}` are its two halves,
`{reason:text}` both. `{pressed:Ctrl+N}` is no fact: it names keys in Qt's form, which are shown as
this system's keyboards have them.
"""

from __future__ import annotations

import functools
import re
import string
from collections.abc import Callable, Mapping
from typing import Any

from headstart.core.text.locale import locale, plural, reads_from_right
from headstart.core.text.shown import (
    age_code,
    count_text,
    in_window_order,
    isolated,
    joined,
    size_text,
    time_code,
    tokens_text,
)
from headstart.core.wording.translated import translated

# in place of a fact's name: the format holds keys
PRESSED = "pressed"
_KEYS = object()


class _Words(string.Formatter):
    def __init__(self, facts: Mapping[str, object]) -> None:
        self._facts = facts

    def get_value(self, key: int | str, args: Any, kwargs: Any) -> Any:
        return _KEYS if key == PRESSED else super().get_value(key, args, kwargs)

    def format_field(self, value: Any, format_spec: str) -> str:
        if value is _KEYS:
            return locale().keys(format_spec)
        if not format_spec:
            if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1_000:
                # in the digits of all other numbers; a year or a port is a name
                return locale().number(value)
            return isolated(str(value)) if reads_from_right() else str(value)
        if format_spec in _HALVES:
            return self._half(str(value), _HALVES[format_spec])
        kind, _, rest = format_spec.partition(" ")
        if kind in _CHOICES and rest:
            return _CHOICES[kind](value, rest)
        if format_spec in _AMOUNTS:
            return _AMOUNTS[format_spec](value)
        number = _NUMBER.fullmatch(format_spec)
        if number is not None:
            write = locale().percent if number[2] == "%" else locale().number
            return write(value, int(number[1] or 0))
        return str(super().format_field(value, format_spec))

    def _half(self, code: str, half: slice) -> str:
        halves = translated(code) or catalogue().get(code)
        if halves is None:
            # a text from before there were codes is shown unchanged
            return code if half.start == 0 else ""
        # stops a sentence that names itself, in a damaged row
        inner = {name: fact for name, fact in self._facts.items() if fact != code}
        wanted = [text for text in halves[half] if text]
        return joined(_Words(inner).vformat(text, (), inner) for text in wanted)


_HALVES = {"message": slice(0, 1), "remedy": slice(1, 2), "text": slice(0, 2)}
# “,”, “,.1f”, “.0f”, “.0%”
_NUMBER = re.compile(r",?(?:\.(\d+))?([f%]?)")


def worded(text: str, facts: Mapping[str, object]) -> str:
    """A sentence with its facts filled in; raises KeyError, ValueError or TypeError for facts that
    are missing or of another kind."""
    if "{" in text or "}" in text:
        text = _Words(facts).vformat(text, (), facts)
    return in_window_order(text)


def say(code: str, **facts: object) -> str:
    """The sentence of a code without its remedy."""
    return sentences(code, facts)[0]


def time_text(seconds: float) -> str:
    """Duration in words: 20 s, 3 min, 1 h 05."""
    code, facts = time_code(seconds)
    return say(code, **facts)


def age_text(seconds: float) -> str:
    """Age in words: today, 3 days ago, 2 months ago."""
    code, facts = age_code(seconds)
    return say(code, **facts)


def _by_number(value: int, forms: str) -> str:
    one, _, many = forms.partition("|")
    return f"{locale().number(value)} {one if value == 1 else many}"


def _by_form(value: int, forms: str) -> str:
    return _chosen(plural(value), forms).replace("#", locale().number(value))


def _chosen(wanted: str, forms: str) -> str:
    known = dict(form.split("=", 1) for form in forms.split("|"))
    return known.get(wanted, known["other"])


_CHOICES: dict[str, Callable[[Any, str], str]] = {
    "n": _by_number,
    "plural": _by_form,
    "select": lambda value, forms: _chosen(str(value), forms),
}
_AMOUNTS: dict[str, Callable[[Any], str]] = {
    "size": size_text,
    "tokens": tokens_text,
    "short": count_text,
    "time": time_text,
    "age": age_text,
    "list": lambda items: locale().listed([isolated(one) for one in items]),
}


@functools.cache
def catalogue() -> Mapping[str, tuple[str, str]]:
    """The sentences by code: the event, and the remedy."""
    from headstart.core.wording import (
        attachments,
        chats,
        files,
        heads,
        home,
        hub,
        imports,
        knowledge,
        models,
        notices,
        phrases,
        reasons,
        servers,
        settings,
        tool_servers,
    )

    found: dict[str, tuple[str, str]] = {}
    for room in (
        attachments,
        chats,
        files,
        heads,
        home,
        hub,
        imports,
        knowledge,
        models,
        servers,
        tool_servers,
    ):
        found.update(room.PROBLEMS)
    found.update(phrases.PHRASES)
    found.update(settings.SETTINGS)
    for table in (notices.NOTICES, reasons.REASONS):
        found.update({code: (text, "") for code, text in table.items()})
    return found


def sentences(code: str, facts: Mapping[str, object]) -> tuple[str, str]:
    """The event and the remedy. A newer version's code, or one with missing facts, is shown as
    is: stored messages stay readable."""
    for found in (translated(code), catalogue().get(code)):
        if found is None:
            continue
        try:
            message, remedy = (worded(text, facts) for text in found)
        except (KeyError, ValueError, TypeError, IndexError, AttributeError, OverflowError):
            continue
        return message, remedy
    known = ", ".join(f"{name}: {fact}" for name, fact in facts.items())
    return f"{code} ({known})" if known else code, ""
