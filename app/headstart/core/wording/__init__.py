"""Texts for users, by code: the one place with the sentences of problems, notices and reasons.

A sentence names its facts in braces, with Python's format; `{count:n turn is|turns are}` writes the
number and the form that goes with it, `{count:size}` bytes in units. A fact can be the code of
another sentence with the same facts: `{reason:message}` and `{reason:remedy}` are its two halves,
`{reason:text}` both.
"""

from __future__ import annotations

import functools
import string
from collections.abc import Mapping
from typing import Any

from headstart.core.text.shown import size_text


class _Words(string.Formatter):
    def __init__(self, facts: Mapping[str, object]) -> None:
        self._facts = facts

    def format_field(self, value: Any, format_spec: str) -> str:
        if format_spec.startswith("n "):
            one, _, many = format_spec[2:].partition("|")
            return f"{value:,} {one if value == 1 else many}"
        if format_spec == "size":
            return size_text(value)
        if format_spec in _HALVES:
            return self._half(str(value), _HALVES[format_spec])
        return str(super().format_field(value, format_spec))

    def _half(self, code: str, half: slice) -> str:
        halves = catalogue().get(code)
        if halves is None:
            # what was stored before it was a code is told as it is
            return code if half.start == 0 else ""
        # a sentence that names itself, in a damaged row, ends here
        inner = {name: fact for name, fact in self._facts.items() if fact != code}
        wanted = [text for text in halves[half] if text]
        return " ".join(_Words(inner).vformat(text, (), inner) for text in wanted)


_HALVES = {"message": slice(0, 1), "remedy": slice(1, 2), "text": slice(0, 2)}


@functools.cache
def catalogue() -> Mapping[str, tuple[str, str]]:
    """The sentences by code: what happened, and what to do."""
    from headstart.core.wording import (
        attachments,
        chats,
        files,
        heads,
        home,
        hub,
        imports,
        models,
        notices,
        phrases,
        reasons,
        servers,
    )

    found: dict[str, tuple[str, str]] = {}
    for room in (attachments, chats, files, heads, home, hub, imports, models, servers):
        found.update(room.PROBLEMS)
    found.update(phrases.PHRASES)
    for table in (notices.NOTICES, reasons.REASONS):
        found.update({code: (text, "") for code, text in table.items()})
    return found


def sentences(code: str, facts: Mapping[str, object]) -> tuple[str, str]:
    """The event and the way out. A code of a newer version, or facts that are missing, are shown as
    they are: what was stored stays readable."""
    found = catalogue().get(code)
    if found is not None:
        try:
            message, remedy = (_Words(facts).vformat(text, (), facts) for text in found)
        except (KeyError, ValueError, TypeError, IndexError):
            pass
        else:
            return message, remedy
    known = ", ".join(f"{name}: {fact}" for name, fact in facts.items())
    return f"{code} ({known})" if known else code, ""
