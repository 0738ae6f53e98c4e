"""Chats as Markdown of coding programs: Cursor's exports, and aider's history."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import zip_longest

from msgspec import Struct

from headstart.exchange.fields import Fields
from headstart.exchange.material import Material
from headstart.exchange.readers.building import LONGEST_TEXT
from headstart.exchange.readers.common import each
from headstart.exchange.readers.lists import of_messages
from headstart.exchange.readers.programs import Common
from headstart.exchange.report import Report
from headstart.exchange.tree import ExchangeChat

_CURSOR = re.compile(r"^_Exported on .{4,60} from Cursor\b.*_\s*$", re.MULTILINE)
_TURN = re.compile(r"^\*\*(?P<who>User|Cursor)\*\*[ \t]*\n", re.MULTILINE)
_TITLE = re.compile(r"\A\s*# (?P<title>.+)$", re.MULTILINE)
_AIDER = re.compile(r"^# aider chat started at (?P<moment>[\d-]+ [\d:]+)[ \t]*$", re.MULTILINE)


class Transcript(Struct, frozen=True):
    """`chats`: the chats of a text."""

    source: str
    name: str
    recognise: Callable[[str], bool]
    chats: Callable[[str], Iterator[Common]]

    def read(
        self, material: Material, members: Sequence[str], report: Report
    ) -> Iterator[ExchangeChat]:
        for member in members:
            data = material.data(member)
            if len(data) > LONGEST_TEXT * 4:
                report.skip(member, "import-chat-too-large", size=len(data))
                continue
            text = bytes(data).decode("utf-8", "replace").replace("\r\n", "\n")
            make = partial(of_messages, member=member, report=report, source=self.source)
            chats = (Fields(chat) for chat in self.chats(text))
            yield from each(chats, make, report, member)


def _is_cursor(text: str) -> bool:
    return _CURSOR.search(text[:2_000]) is not None and _TURN.search(text) is not None


def _cursor(text: str) -> Iterator[Common]:
    title = _TITLE.match(text)
    turns = list(_TURN.finditer(text))
    messages = []
    for turn, after in zip_longest(turns, turns[1:]):
        words = text[turn.end() : after.start() if after is not None else len(text)]
        # a line between two turns
        words = re.sub(r"(?<!\n)\n+---\s*\Z", "", words).strip("\n")
        messages.append(
            {"role": "user" if turn["who"] == "User" else "assistant", "content": words}
        )
    yield {"title": title["title"] if title is not None else "", "messages": messages}


def _is_aider(text: str) -> bool:
    return _AIDER.search(text) is not None


def _aider(text: str) -> Iterator[Common]:
    starts = list(_AIDER.finditer(text))
    for start, after in zip_longest(starts, starts[1:]):
        body = text[start.end() : after.start() if after is not None else len(text)]
        messages = list(_aider_messages(body))
        if messages:
            yield {"createdAt": start["moment"], "messages": messages}


def _aider_messages(body: str) -> Iterator[Common]:
    """Lines with #### are the user's, lines with > the program's, all others the model's."""
    who, words = "", list[str]()
    fenced = False
    for line in [*body.split("\n"), "#### "]:
        if line.startswith("```"):
            fenced = not fenced
        now = who or "assistant"
        if not fenced and line.startswith("#### "):
            now, line = "user", line.removeprefix("#### ").rstrip()
        elif not fenced and (line.startswith("> ") or line == ">"):
            continue
        elif line.strip() and who == "user":
            now = "assistant"
        if now != who:
            said = "\n".join(words).strip("\n")
            if said.strip():
                yield {"role": who, "content": said}
            who, words = now, []
        words.append(line)
    said = "\n".join(words).strip("\n")
    if said.strip():
        yield {"role": who, "content": said}


KINDS = (
    Transcript("cursor", "Cursor", _is_cursor, _cursor),
    Transcript("aider", "aider", _is_aider, _aider),
)
