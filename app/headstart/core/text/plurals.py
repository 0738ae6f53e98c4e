"""Plural forms of whole numbers by language. Pure.

The rules are those of Unicode CLDR (cardinal numbers, version 47), for the window's planned
languages; an unlisted language has the forms of English.
"""

from __future__ import annotations

from collections.abc import Callable


def plural_form(language: str, count: int) -> str:
    """The plural form for `count`: zero, one, two, few, many or other. `language` is an ISO 639
    code."""
    return _RULES.get(language, _one_other)(abs(count))


def plural_forms(language: str) -> tuple[str, ...]:
    """Every form that a sentence needs in `language`, with “other” last."""
    rule = _RULES.get(language, _one_other)
    needed = {rule(count) for count in (*range(200), 1_000_000)}
    return tuple(form for form in ("zero", "one", "two", "few", "many", "other") if form in needed)


def _other(_count: int) -> str:
    return "other"


def _one_other(count: int) -> str:
    return "one" if count == 1 else "other"


def _zero_and_one(count: int) -> str:
    return "one" if count <= 1 else "other"


def _with_millions(one: Callable[[int], str]) -> Callable[[int], str]:
    # “un million de …”
    def form(count: int) -> str:
        return "many" if count and count % 1_000_000 == 0 else one(count)

    return form


def _east_slavic(count: int) -> str:
    tens, ones = count % 100, count % 10
    if ones == 1 and tens != 11:
        return "one"
    return "few" if 2 <= ones <= 4 and not 12 <= tens <= 14 else "many"


def _polish(count: int) -> str:
    if count == 1:
        return "one"
    return "few" if 2 <= count % 10 <= 4 and not 12 <= count % 100 <= 14 else "many"


def _czech(count: int) -> str:
    if count == 1:
        return "one"
    return "few" if 2 <= count <= 4 else "other"


def _hebrew(count: int) -> str:
    return {1: "one", 2: "two"}.get(count, "other")


def _arabic(count: int) -> str:
    if count < 3:
        return ("zero", "one", "two")[count]
    hundreds = count % 100
    if 3 <= hundreds <= 10:
        return "few"
    return "many" if hundreds >= 11 else "other"


_RULES: dict[str, Callable[[int], str]] = {
    **dict.fromkeys(("id", "ja", "ko", "th", "vi", "zh"), _other),
    **dict.fromkeys(("fa", "hi"), _zero_and_one),
    **dict.fromkeys(("ru", "uk"), _east_slavic),
    "fr": _with_millions(_zero_and_one),
    "pt": _with_millions(_zero_and_one),
    "es": _with_millions(_one_other),
    "it": _with_millions(_one_other),
    "pl": _polish,
    "cs": _czech,
    "he": _hebrew,
    "ar": _arabic,
}
