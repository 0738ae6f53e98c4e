"""Notices of what a prompt lacks: a reply keeps each of them, for good. Pure.

A folder's search keeps its own part at the question, and files say in their text which pages have
none.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from headstart.core.chats.parts import LeftOutPart, Part
from headstart.core.told import Told, from_stored

# the codes, each with the words that exported files have in every language
LEFT_OUT = {
    "context-dropped": "the {dropped} oldest turns of the chat",
    "images-not-seen": "images, which the model does not see",
    "images-not-seen-because": "images, which could not be shown to the model",
    "images-refused": "images, which the server did not take",
    "images-gone": "images that cannot be read any more: {count}",
    "document-lost": "the document {name}",
    "tool-server-left-out": "tools of a server that did not start",
    "server-takes-less": "settings that the server does not take: {settings}",
}


def is_left_out(told: Told) -> bool:
    """True if a notice tells of something that a prompt lacks."""
    return told.code in LEFT_OUT


def told_of(part: LeftOutPart) -> Told | None:
    return from_stored(part.told)


def left_out_words(part: LeftOutPart) -> str:
    """The thing in English, for files."""
    told = told_of(part)
    words = None if told is None else LEFT_OUT.get(told.code)
    if told is None or words is None:
        return "something that this version does not know"
    try:
        return words.format(**told.facts)
    except (KeyError, IndexError, ValueError):
        return words


def with_left_out(parts: Sequence[Part], left: Iterable[LeftOutPart]) -> list[Part]:
    """The parts of a reply behind what its prompts lacked. `left`: of its latest prompts, each step
    of a reply with tools has one; the same thing is told once, as it was last."""
    again = {_subject(one): one for one in left}
    before = [
        one for one in parts if not isinstance(one, LeftOutPart) or _subject(one) not in again
    ]
    old = [one for one in before if isinstance(one, LeftOutPart)]
    return [*old, *again.values(), *(one for one in before if not isinstance(one, LeftOutPart))]


def _subject(part: LeftOutPart) -> tuple[str, str]:
    """Its code, and the thing where there may be several."""
    told = told_of(part)
    return ("", part.told) if told is None else (told.code, str(told.facts.get("name", "")))
