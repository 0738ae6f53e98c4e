"""A language for tests: each English text with accents, in brackets and longer, so that a text
outside the tables, or one that is cut, can be seen. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping

from headstart.core.wording.translated import Halves

LETTERS = dict(zip("aceginorsuyzACEGINORSUYZ", "áçéĝíñóŕšúýžÁÇÉĜÍÑÓŔŠÚÝŽ", strict=True))
_ACCENTS = str.maketrans(LETTERS)
_FIELD = re.compile(r"(\{[^{}]*\})")
# the share by which a text is longer, as German and Russian are
_LONGER = 0.4


def pseudo(text: str) -> str:
    """The text as the pseudo-locale has it; facts stay as they are."""
    if not text.strip():
        return text
    pieces = _FIELD.split(text)
    said = "".join(one if one.startswith("{") else one.translate(_ACCENTS) for one in pieces)
    letters = sum(len(one) for one in pieces if not one.startswith("{"))
    return f"[{said}{' ~' * max(1, round(letters * _LONGER / 2))}]"


def pseudo_words(words: Mapping[str, Halves]) -> dict[str, Halves]:
    return {code: (pseudo(event), pseudo(remedy)) for code, (event, remedy) in words.items()}
