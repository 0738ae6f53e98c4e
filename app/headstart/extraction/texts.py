"""The text of a file of any encoding. Pure."""

from __future__ import annotations

import codecs

from headstart.core.errors import EnvironmentProblem

_MARKS = (
    # the longer ones first: one begins with another
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
# of what is looked at where no mark tells
_SAMPLE = 4096
# a text has at most this share of control characters
_CONTROLS = 0.02
_MEANT = frozenset("\n\r\t\f\x1b")


def decode(data: bytes, name: str) -> str:
    """Lines end with a line feed. Raises EnvironmentProblem for what is no text."""
    text = _decoded(data)
    if text is None or _controls(text[:_SAMPLE]) > _CONTROLS:
        raise EnvironmentProblem("attachment-no-text", name=name)
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\0", "")


def _decoded(data: bytes) -> str | None:
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return data.decode(encoding, "replace")
    if b"\0" in data[:_SAMPLE]:
        return _wide(data)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        # one letter that a write was cut in
        if error.start > len(data) - 4:
            return data[: error.start].decode("utf-8")
    # with the first file that needs it
    from charset_normalizer import from_bytes

    found = from_bytes(data).best()
    return None if found is None else str(found)


def _wide(data: bytes) -> str | None:
    """Characters of two bytes without a mark: one byte of each is zero in Western texts."""
    even, odd = data[:_SAMPLE:2].count(0), data[1:_SAMPLE:2].count(0)
    if max(even, odd) < 8 * min(even, odd) + 2:
        return None
    try:
        return data[: len(data) // 2 * 2].decode("utf-16-be" if even > odd else "utf-16-le")
    except UnicodeDecodeError:
        return None


def _controls(text: str) -> float:
    odd = sum(
        1 for one in text if (one < " " and one not in _MEANT) or one == "\N{REPLACEMENT CHARACTER}"
    )
    return odd / max(1, len(text))
