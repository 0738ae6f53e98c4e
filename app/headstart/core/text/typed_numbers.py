"""Numbers as people type them: digits of any script, signs of thousands and decimals. Pure."""

from __future__ import annotations

import unicodedata

# commas, points, apostrophes and spaces that stand in numbers; spaces are one sign
_POINTS = ".,\u066b"
_APOSTROPHES = "'\u2019\u066c"
_SPACES = " \u00a0\u2009\u202f"
_MINUS = "-\u2212"
# directions, which a number of a text from right to left may have around it
_UNSEEN = dict.fromkeys(map(ord, "\u200e\u200f\u061c\u2066\u2067\u2068\u2069"))
# the longest that is read: no number of a setting has more
_LONGEST = 40
_THOUSAND = 3


def number_of(text: str, point: str = ".") -> float | None:
    """The number that a text says; None where it says none, or is not clear.

    `point` is the decimal sign of the place. One sign that may be a decimal one is that, unless
    it is not the place's and three digits follow: 1,500 is 1500 where the point is `.`, and 1.5
    where it is `,`; 1,5 and 0,500 are decimals everywhere. Signs of thousands have to stand where
    thousands are: in threes, or in twos and a three as in India.
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
    """False for a text with a sign that no number has."""
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
    """True where digits stand in groups as thousands do."""
    first, *middle, last = groups
    sizes = {len(one) for one in middle}
    return (
        0 < len(first) <= _THOUSAND
        and first[0] != "0"
        and len(last) == _THOUSAND
        and (sizes <= {_THOUSAND} or (sizes == {2} and len(first) <= 2))
    )
