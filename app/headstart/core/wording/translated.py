"""The sentences of the window's language, in place of the English tables. Pure.

A file `resources/languages/CODE.json` holds {code: text}, or {code: [event, remedy]} for sentences
of `core.wording`. An entry that is missing, or that does not fit its facts, is English: one by one.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct

Halves = tuple[str, str]


class LanguageFile(Struct, frozen=True):
    """`words` by code."""

    language: str
    words: dict[str, str | tuple[str, str]]


_words: Mapping[str, Halves] = {}


def translated(code: str) -> Halves | None:
    """The event and the remedy of a code in the window's language; None in English."""
    return _words.get(code)


def use_words(words: Mapping[str, Halves]) -> None:
    """Use these sentences from now on; {} for English."""
    global _words
    _words = words


def read_words(path: Path) -> dict[str, Halves]:
    """The sentences of a file. Raises OSError, and msgspec.MsgspecError for another file."""
    found = msgspec.json.decode(path.read_bytes(), type=LanguageFile)
    return {code: (one, "") if isinstance(one, str) else one for code, one in found.words.items()}
