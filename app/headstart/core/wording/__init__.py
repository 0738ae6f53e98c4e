"""What users read, by code: the one place with the sentences of problems, notices and reasons.

A sentence names its facts in braces, with Python's format; `{count:n turn is|turns are}` writes the
number and the form that goes with it.
"""

from __future__ import annotations

import functools
import string
from collections.abc import Mapping
from typing import Any


class _Words(string.Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        if format_spec.startswith("n "):
            one, _, many = format_spec[2:].partition("|")
            return f"{value:,} {one if value == 1 else many}"
        return str(super().format_field(value, format_spec))


_WORDS = _Words()


@functools.cache
def catalogue() -> Mapping[str, tuple[str, str]]:
    """The sentences by code: what happened, and what to do."""
    from headstart.core.wording import chats, files, home, models, notices, reasons, servers

    found: dict[str, tuple[str, str]] = {}
    for room in (chats, files, home, models, servers):
        found.update(room.PROBLEMS)
    for table in (notices.NOTICES, reasons.REASONS):
        found.update({code: (text, "") for code, text in table.items()})
    return found


def sentences(code: str, facts: Mapping[str, object]) -> tuple[str, str]:
    """What happened, and what to do. A code of a newer version, or facts that are missing, are
    shown as they are: what was stored stays readable."""
    found = catalogue().get(code)
    if found is not None:
        try:
            message, remedy = (_WORDS.vformat(text, (), facts) for text in found)
        except (KeyError, ValueError, IndexError):
            pass
        else:
            return message, remedy
    known = ", ".join(f"{name}: {fact}" for name, fact in facts.items())
    return f"{code} ({known})" if known else code, ""
