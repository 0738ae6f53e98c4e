"""Texts put together, with the marks of the window's language. Pure but for the words."""

from __future__ import annotations

from collections.abc import Iterable

from headstart.core.text.shown import joined
from headstart.ui.kit import languages
from headstart.ui.wording import say


def titled(title: str, text: str) -> str:
    """“Model: SmolLM2”."""
    return say("kit.titled", title=title, text=text)


def sentences(*parts: str) -> str:
    """“One. Another.”: parts that are read as sentences, those without words left out."""
    said = [one for one in parts if one]
    whole = said[0] if said else ""
    for one in said[1:]:
        ended = whole.rstrip().endswith((".", "!", "?", "…", "。", "！", "？", "।", "؟"))
        whole = joined((whole, one)) if ended else say("kit.sentences", first=whole, second=one)
    return whole


def unit_suffix(unit: str) -> str:
    """A unit as it stands behind a number: with a space, but not in Japanese."""
    alone = not unit or (languages.current().base == "ja" and not unit.isascii())
    return unit if alone else f" {unit}"


def commas(parts: Iterable[str]) -> str:
    """“one, two, three”: facts side by side, not a list with an “and”."""
    return say("kit.comma").join(parts)


def quoted(text: str) -> str:
    return say("kit.quoted", text=text)
