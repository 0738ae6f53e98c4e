"""The window's texts, by code: “room.words”, where each room has a table beside this file.

The tables are in English; sentences are whole, and name their facts as those of `core.wording` do.
No text is created on import: a constant holds a code, and `say` turns it into text for display.
Text for a model is not in these tables.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Mapping

from headstart.core.wording import worded


def say(code: str, **facts: object) -> str:
    """The sentence of a code with its facts; raises KeyError for a code that no table has, and for
    a fact that is missing."""
    room, _, name = code.partition(".")
    return worded(table(room)[name], facts)


@functools.cache
def table(room: str) -> Mapping[str, str]:
    """The words of a room, read when it is first shown."""
    words: Mapping[str, str] = importlib.import_module(f"{__name__}.{room}").WORDS
    return words
