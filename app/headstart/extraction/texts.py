"""The text of a file in any encoding. Pure."""

from __future__ import annotations

import codecs
import re

from msgspec import Struct

from headstart.core.errors import EnvironmentProblem
from headstart.core.text.encodings import CODECS

_MARKS = (
    # the longer marks first: UTF-32's begins with UTF-16's
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# bytes examined if there is no byte order mark
_SAMPLE = 4096
# largest share of control characters, and of zero bytes, in a text
_CONTROLS, _ZEROS = 0.02, 0.01
_MEANT = frozenset("\n\r\t\f\x1b")
# escapes that begin letters in 7-bit encodings, and the codecs that use them
_SHIFTS = (b"\x1b$", b"\x1b(J", b"\x1b(I")
_SHIFTED = ("iso2022_jp_ext", "iso2022_jp_2", "iso2022_kr")
# this many times more valid UTF-8 letters than damaged ones mean damaged UTF-8
_MOSTLY = 20
_DECLARED = re.compile(
    rb"""<(?:meta[^>]{0,200}?charset|\?xml[^>]{0,200}?encoding)\s*+=\s*+(?:["']\s*+)?([A-Za-z0-9_:.-]{1,40})""",
    re.IGNORECASE,
)
_EXTENDED = {
    "iso8859-1": "cp1252",
    "ascii": "cp1252",
    "iso8859-9": "cp1254",
    "iso8859-11": "cp874",
    "tis-620": "cp874",
    "shift_jis": "cp932",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "big5": "big5hkscs",
    "euc_kr": "cp949",
}
# encodings that cannot be declared in an ASCII-readable head, and codecs that are not for text
_NO_PAGES = frozenset(
    ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-le", "utf-32-be", "utf-7", "idna",
     "punycode", "rot13", "base64", "hex", "quopri", "uu", "zlib", "bz2", "undefined",
     "unicode_escape", "raw_unicode_escape", "mbcs", "oem")
)  # fmt: skip
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"


class Decoded(Struct, frozen=True):
    """`encoding`: the name in `core.text.encodings` if it is uncertain; "" if it is certain."""

    text: str
    encoding: str = ""


def decode(data: bytes, name: str, encoding: str = "") -> Decoded:
    """Decode a text, with line feeds at line ends. `encoding`: the user's choice, a name of
    `core.text.encodings`. Raises EnvironmentProblem for data that is not text."""
    if encoding in CODECS:
        found: Decoded | None = Decoded(data.decode(CODECS[encoding], "replace"), encoding)
    else:
        found = _decoded(data)
    if found is None or (not encoding and _controls(found.text[:_SAMPLE]) > _CONTROLS):
        raise EnvironmentProblem("attachment-no-text", name=name)
    text = found.text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")
    return Decoded(text, found.encoding)


def text_of_name(data: bytes) -> str | None:
    """The name of a file in the encoding that it looks like; None if it looks like none."""
    from headstart.extraction.detection import detect

    found = detect(data)
    return None if found is None else data.decode(CODECS[found.encoding])


def decode_html(data: bytes, name: str, encoding: str = "") -> Decoded:
    """Decode a page, which may declare its encoding in its head."""
    declared = "" if encoding else _declared(data[:_SAMPLE])
    if declared and not data.startswith(tuple(mark for mark, _ in _MARKS)):
        try:
            return Decoded(data.decode(declared))
        except UnicodeDecodeError:
            # the declaration is wrong
            pass
    return decode(data, name, encoding)


def _declared(head: bytes) -> str:
    """Python's codec for a page's declaration; as in browsers, Windows' encodings replace those
    that they extend."""
    found = _DECLARED.search(head)
    label = found[1].decode("ascii").lower() if found else ""
    try:
        name = codecs.lookup(label).name
    except LookupError:
        return ""
    return _EXTENDED.get(name, name) if name not in _NO_PAGES else ""


def _decoded(data: bytes) -> Decoded | None:
    for mark, codec in _MARKS:
        if data.startswith(mark):
            return Decoded(data.decode(codec, "replace"))
    sample = data[:_SAMPLE]
    if sample.count(0) > len(sample) * _ZEROS:
        text = _wide(data)
        return None if text is None else Decoded(text)
    if any(shift in data for shift in _SHIFTS):
        text = _shifted(data)
        if text is not None:
            return Decoded(text)
    text = _utf8(data)
    if text is not None:
        return Decoded(text, "UTF-8" if _REPLACEMENT in text else "")
    # imported with the first file that needs it
    from headstart.extraction.detection import detect

    found = detect(data)
    if found is None:
        return None
    return Decoded(data.decode(CODECS[found.encoding]), "" if found.certain else found.encoding)


def _utf8(data: bytes) -> str | None:
    """Returns None for other encodings. A letter truncated by a write becomes U+FFFD."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("utf-8", "replace")
    damaged = text.count(_REPLACEMENT)
    right = sum(1 for one in text if one > "\x7f") - damaged
    return text if right > damaged * _MOSTLY or _is_cut(data, right) else None


def _is_cut(data: bytes, right: int) -> bool:
    """True if only the last letter is incomplete UTF-8, and other non-ASCII letters precede it."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return right > 0 and error.reason == "unexpected end of data"
    return False


def _shifted(data: bytes) -> str | None:
    """Japanese or Korean mail; None if the escapes mean something else."""
    korean = b"\x1b$)C" in data
    for codec in _SHIFTED[::-1] if korean else _SHIFTED:
        try:
            text = data.decode(codec)
        except UnicodeDecodeError:
            continue
        if not {"\x1b", "\x0e", "\x0f"} & set(text):
            return text
    return None


def _wide(data: bytes) -> str | None:
    """Text in UTF-16 or UTF-32 without a mark: in most texts some bytes of each character are
    zero."""
    sample = data[: _SAMPLE // 4 * 4]
    zeros = [sample[place::4].count(0) for place in range(4)]
    quarter = len(sample) // 4
    if len(data) % 4 == 0 and quarter:
        # the highest byte is always zero, and the next one nearly always
        for codec, high, second in (("utf-32-le", 3, 2), ("utf-32-be", 0, 1)):
            if zeros[high] == quarter and zeros[second] > 0.8 * quarter:
                try:
                    return data.decode(codec)
                except UnicodeDecodeError:
                    break
    even, odd = zeros[0] + zeros[2], zeros[1] + zeros[3]
    if max(even, odd) < 8 * min(even, odd) + 2:
        return None
    try:
        return data[: len(data) // 2 * 2].decode("utf-16-be" if even > odd else "utf-16-le")
    except UnicodeDecodeError:
        return None


def _controls(text: str) -> float:
    """Their share; a single truncated letter does not disqualify a short text."""
    odd = sum(1 for one in text if (one < " " and one not in _MEANT) or one == _REPLACEMENT)
    return max(0, odd - 1) / max(1, len(text))
