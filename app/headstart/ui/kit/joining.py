"""Texts put together, with the marks of the window's language. Pure but for the words."""

from __future__ import annotations

from collections.abc import Iterable

from headstart.ui.wording import say


def titled(title: str, text: str) -> str:
    """“Model: SmolLM2”."""
    return say("kit.titled", title=title, text=text)


def commas(parts: Iterable[str]) -> str:
    """“one, two, three”: facts side by side, not a list with an “and”."""
    return say("kit.comma").join(parts)


def quoted(text: str) -> str:
    return say("kit.quoted", text=text)
