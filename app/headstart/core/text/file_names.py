"""Names of files as people read them. Pure.

Unix names are bytes, mostly UTF-8; Python keeps others in a `str` with half surrogates. Names from
old disks and archives are in the encoding of their country, which nothing declares.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Callable

from headstart.core.text.locale import locale
from headstart.core.text.whole import is_text, whole

# encodings of a language's old systems, where words could also be read as Western European
_LANGUAGES = {"pl": "cp1250", "tr": "cp1254", "vi": "cp1258"}
_WORD = re.compile(r"[^\W\d_]+")
_PUNCTUATION = "·«»“”„‘’…"


def _nothing(_data: bytes) -> str | None:
    return None


_detect: Callable[[bytes], str | None] = _nothing


def use_detection(
    detect: Callable[[bytes], str | None],
) -> Callable[[bytes], str | None]:
    """Have `detect` decode bytes whose encoding is unknown, from now on; returns the one before."""
    global _detect
    before, _detect = _detect, detect
    _decoded.cache_clear()
    return before


def readable(name: str) -> str:
    """The name, without half surrogates: its bytes are decoded by the encoding that they look
    like."""
    return whole(name) if is_text(name) else whole(_decoded(name))


@functools.lru_cache(maxsize=4096)
def _decoded(name: str) -> str:
    try:
        data = name.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        # halves that no file system gave
        return name
    for codec in (_LANGUAGES.get(locale().language, "cp1252"), "cp1252"):
        found = _read(data, codec)
        if found is not None and _is_western(found):
            return found
    return _detect(data) or _read(data, "cp1252") or data.decode("latin-1")


def _read(data: bytes, codec: str) -> str | None:
    try:
        return data.decode(codec)
    except UnicodeDecodeError:
        return None


def _is_western(text: str) -> bool:
    """True if words have a few letters beyond ASCII, as in languages with Latin letters."""
    for sign in text:
        letter = sign.isascii() or unicodedata.category(sign)[0] in "LMN"
        if not letter and sign not in _PUNCTUATION and unicodedata.category(sign) != "Pd":
            return False
    for word in _WORD.findall(text):
        beyond = [place for place, letter in enumerate(word) if not letter.isascii()]
        if len(beyond) > max(1, len(word) // 2):
            return False
        # capitals in the middle of a word are another encoding's
        if beyond and not word.isupper() and any(letter.isupper() for letter in word[1:]):
            return False
    return True
