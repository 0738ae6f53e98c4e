"""The window's texts, by code: “room.words”, where each room has a table beside this file.

The tables are in English, and `resources/languages` has the other languages; sentences are whole,
and name their facts as those of `core.wording` do. No text is created on import: a constant holds a
code, and `say` turns it into text for display. Text for a model is not in these tables.
"""

from __future__ import annotations

import functools
import importlib
import logging
from collections.abc import Mapping

from headstart.core.wording import worded
from headstart.core.wording.translated import translated

log = logging.getLogger(__name__)


def say(code: str, **facts: object) -> str:
    """The sentence of a code with its facts; raises KeyError for a code that no table has, and for
    a fact that is missing."""
    own = translated(code)
    if own is not None:
        try:
            return worded(own[0], facts)
        except (KeyError, ValueError, TypeError, IndexError):
            # a translation that does not fit: a test finds it, the user reads English
            log.warning("a sentence of the window's language does not fit its facts: %s", code)
    room, _, name = code.partition(".")
    return worded(table(room)[name], facts)


def all_words() -> dict[str, str]:
    """All English texts of the window, by code."""
    import pkgutil

    rooms = sorted(one.name for one in pkgutil.iter_modules(__path__))
    return {f"{room}.{name}": text for room in rooms for name, text in table(room).items()}


@functools.cache
def table(room: str) -> Mapping[str, str]:
    """The words of a room, read when it is first shown."""
    words: Mapping[str, str] = importlib.import_module(f"{__name__}.{room}").WORDS
    return words
