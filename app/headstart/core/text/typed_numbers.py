"""Numbers as people type them: digits of any script, thousands separators, decimal points. Pure."""

from __future__ import annotations

import unicodedata

# commas, points, apostrophes and spaces in numbers; spaces count as one separator
_POINTS = ".,\u066b"
_APOSTROPHES = "'\u2019\u066c"
_SPACES = " \u00a0\u2009\u202f"
_MINUS = "-\u2212"
# direction marks, which may surround a number in right-to-left text
_UNSEEN = dict.fromkeys(map(ord, "\u200e\u200f\u061c\u2066\u2067\u2068\u2069"))
# longest accepted text: no number of a setting has more
_LONGEST = 40
_THOUSAND = 3


def number_of(text: str, point: str = ".") -> float | None:
    """The number in a text; None if there is none, or if it is ambiguous.

    `point` is the locale's decimal point. A single separator that may be a decimal point is one,
    unless it is not the locale's and three digits follow: 1,500 is 1500 where the point is `.`, and
    1.5 where it is `,`; 1,5 and 0,500 are decimals everywhere. Thousands separators must stand
    between groups of three digits, or of two and a final three as in India.
    """
    text = text.translate(_UNSEEN).strip()
    negative = text[:1] != "" and text[0] in _MINUS
    text = text[1:] if negative or text[:1] == "+" else text
    if not text or len(text) > _LONGEST:
        return None
    signs, groups = [""], [""]
    for one in text:
        digit = unicodedata.decimal(one, None)
        if digit is not None:
            groups[-1] += str(digit)
        elif (sign := _sign(one)) is not None:
            signs.append(sign)
            groups.append("")
        else:
            return None
    kinds = set(signs[1:])
    decimals = ""
    if len(signs) > 1 and signs.count(signs[-1]) == 1 and signs[-1] in _POINTS:
        alone = len(signs) == 2
        plain = signs[-1] == point or not _is_thousand(groups)
        if not alone or plain:
            decimals = groups.pop()
            kinds.discard(signs.pop())
            if not decimals:
                return None
    if len(kinds) > 1 or (len(groups) > 1 and not _is_thousand(groups)):
        return None
    whole = "".join(groups)
    if not whole and not decimals:
        return None
    value = float(f"{whole or '0'}.{decimals or '0'}")
    return -value if negative else value


def may_become_number(text: str) -> bool:
    """False for a text with a character that no number has."""
    text = text.translate(_UNSEEN).strip()
    text = text[1:] if text[:1] in (*_MINUS, "+") else text
    known = (unicodedata.decimal(one, None) is not None or _sign(one) is not None for one in text)
    return len(text) <= _LONGEST and all(known)


def _sign(one: str) -> str | None:
    if one in _POINTS:
        return one
    if one in _APOSTROPHES:
        return "'"
    return " " if one in _SPACES else None


def _is_thousand(groups: list[str]) -> bool:
    """True if the digits are grouped like thousands."""
    first, *middle, last = groups
    sizes = {len(one) for one in middle}
    return (
        0 < len(first) <= _THOUSAND
        and first[0] != "0"
        and len(last) == _THOUSAND
        and (sizes <= {_THOUSAND} or (sizes == {2} and len(first) <= 2))
    )
