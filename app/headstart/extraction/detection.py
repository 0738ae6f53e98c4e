"""Detects the encoding of a text that does not declare it. Pure.

chardet ranks encodings by the frequency of byte pairs in each language, which is unreliable for
short texts. So its candidates are decoded, and weighed by oddities (letters of two alphabets in a
word, signs inside words, letters that no language combines) and by the rarity of the encoding.
"""

from __future__ import annotations

import codecs
import math
import re
import unicodedata

from msgspec import Struct

from headstart.core.text.encodings import CODECS
from headstart.extraction.alphabets import foreign_letters

# bytes passed to chardet, and characters checked for oddities
_SAMPLE, _LOOKED_AT = 1 << 16, 4_000
# chardet's names for ours, and encodings of the same letters; the other names are equal
_NAMES = {
    "iso8859-1": "Windows-1252",
    "iso8859-15": "Windows-1252",
    "iso8859-9": "Windows-1254",
    "tis620": "Windows-874",
    "iso8859-11": "Windows-874",
    "cp874": "Windows-874",
    "gb2312": "GB 18030",
    "gbk": "GB 18030",
    "hzgb2312": "GB 18030",
    "big5hkscs": "Big5",
    "cp950": "Big5",
    "cp932": "Shift JIS",
    "cp949": "EUC-KR",
    "uhc": "EUC-KR",
    "eucjis2004": "EUC-JP",
    "eucjisx0213": "EUC-JP",
}
# penalties of rare encodings, in the logarithm of chardet's confidence: by the first matching
# prefix of the name, else `_USUAL`
_RARE = (
    ("Windows-1252", 0.0),
    ("ISO", 0.5),
    ("IBM 866", 0.45),
    ("IBM", 0.8),
    ("Mac", 0.8),
)
_USUAL = 0.45
_ODD, _FOREIGN = 2.0, 0.25
# least certain lead over the next candidate, for fewer than this many non-ASCII letters
_MARGINS = ((5, 9.0), (30, 2.0), (300, 1.0), (1 << 30, 0.2))
# blocks and lines for drawing, and letters that Unicode has only for old encodings
_DRAWING = (("\u2500", "\u259f"), ("\ufb50", "\ufdff"), ("\ufe70", "\ufefe"))
_KANA = ("\u3041", "\u30fa")
_CHINESE = ("GB 18030", "Big5")
# signs allowed within a word
_IN_WORDS = frozenset("’‘´·ʼ\xad")
_SIGN_KINDS = frozenset(("So", "Sm", "Sc", "Sk", "No", "Po", "Pe", "Ps"))
_SIGNS = frozenset("“”‘’–—…•«»°±µ§£€©®™²³½¼¾×·\xa0")
_BEYOND = re.compile(rb"[\x80-\xff]")
_ALPHABETS = ("LATIN", "GREEK", "CYRILLIC", "HEBREW", "ARABIC", "THAI", "ARMENIAN", "GEORGIAN")


class DetectedEncoding(Struct, frozen=True):
    """An encoding by its name in `core.text.encodings`; `certain`: none other is nearly as
    likely."""

    encoding: str
    certain: bool


def detect(data: bytes) -> DetectedEncoding | None:
    """The likeliest encoding of bytes that are not UTF-8; None if no encoding decodes them all."""
    sample = _sample(data)
    # imported with the first file that needs it
    import chardet

    found = chardet.detect_all(sample, ignore_threshold=True)
    confidences: dict[str, float] = {"Windows-1252": 1e-3}
    for one in found:
        name = _known(one["encoding"] or "")
        if name:
            confidences[name] = max(one["confidence"], confidences.get(name, 0.0))
    best = max(confidences.values())
    scored: list[tuple[float, str, str]] = []
    for name, confidence in confidences.items():
        text = _read(sample, name, whole=False)
        if text is not None:
            weight = math.log(max(confidence, 1e-6) / best)
            scored.append((weight - _seldom(name) - _ODD * _oddity(name, text), name, text))
    scored.sort(reverse=True)
    for place, (score, name, text) in enumerate(scored):
        if _read(data, name) is None:
            continue
        others = [one for one in scored[place + 1 :] if one[2] != text]
        count = sum(one > "\x7f" for one in text)
        margin = next(least for below, least in _MARGINS if count < below)
        sure = not others or score - others[0][0] > margin
        return DetectedEncoding(name, sure)
    return None


def _sample(data: bytes) -> bytes:
    """The informative lines: those with bytes beyond ASCII."""
    taken, size = list[bytes](), 0
    for line in data.split(b"\n"):
        if line.isascii():
            continue
        if len(line) > _SAMPLE:
            first = _BEYOND.search(line)
            assert first is not None
            line = line[first.start() : first.start() + _SAMPLE]
        taken.append(line)
        size += len(line) + 1
        if size > _SAMPLE:
            break
    return b"\n".join(taken)


def _known(name: str) -> str:
    """Our name for an encoding of chardet's; "" if we have none."""
    plain = _plain(name)
    if plain.startswith("cp") and plain not in _NAMES:
        plain = f"windows-{plain[2:]}" if plain.startswith("cp125") else f"ibm{plain[2:]}"
    return _NAMES.get(plain) or _OURS.get(plain, "")


def _plain(name: str) -> str:
    return "".join(one for one in name.lower() if one.isalnum() or one == "-").replace(
        "iso-8859", "iso8859"
    )


def _read(data: bytes, name: str, whole: bool = True) -> str | None:
    """Returns None for invalid bytes; `whole`: the data must not end within a character."""
    try:
        return codecs.getincrementaldecoder(CODECS[name])().decode(data, final=whole)
    except UnicodeDecodeError:
        return None


def _seldom(name: str) -> float:
    return next((much for start, much in _RARE if name.startswith(start)), _USUAL)


def _oddity(name: str, text: str) -> float:
    """Odd places per 60 characters, with weights for rare letters and signs."""
    looked = text[:_LOOKED_AT]
    odd = odd_places(looked) / max(1.0, len(looked) / 60) + _FOREIGN * foreign_letters(looked)
    others = {one for one in looked if one > "\x7f"}
    if name == "Windows-1252" and others <= _SIGNS:
        # only typographic signs, no letter that tells the language
        odd -= 1
    if name in _CHINESE and any(_KANA[0] <= one <= _KANA[1] for one in looked):
        odd += 1
    return odd


def odd_places(text: str) -> float:
    """Number of places that no language has: letters of two alphabets in a word, signs inside words
    or in front of them, capitals after small letters, controls, drawings."""
    odd, alphabet, sign, before = 0.0, "", False, ""
    for one in text:
        kind = unicodedata.category(one)
        if kind[0] == "L":
            other = _alphabet(one)
            if sign:
                odd += 1 if alphabet else 0.5
            elif alphabet and other != alphabet:
                odd += 1
            if kind == "Lu" and before.islower():
                odd += 0.5
            if any(first <= one <= last for first, last in _DRAWING):
                odd += 1
            alphabet, sign, before = other, False, one
            continue
        if kind[0] == "M":
            continue
        before = ""
        if any(first <= one <= last for first, last in _DRAWING):
            odd += 1
        if kind in ("Cc", "Cn", "Co") and one not in "\n\r\t\f\x1b":
            odd += 2
        # a sign right after a word, or before one
        sign = one > "\x7f" and kind in _SIGN_KINDS and one not in _IN_WORDS and one not in "¿¡«»°"
        if not sign and one not in _IN_WORDS:
            alphabet = ""
    return odd


def _alphabet(one: str) -> str:
    if one < "\x80" or one in "ªºµ":
        return "LATIN"
    name = unicodedata.name(one, "").split(" ")[0]
    # Chinese, Japanese and Korean mix scripts
    return name if name in _ALPHABETS else "other"


_OURS = {_plain(name.replace(" ", "")): name for name in CODECS}
