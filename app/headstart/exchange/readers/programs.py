"""Chat programs whose files differ little from a list of messages: each entry recognizes its files,
and turns a chat into an object with a title, times and `messages` under common names.

A new format is an entry of this kind, with a sample in the tests: docs/conversation-format.md."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

from msgspec import Struct

from headstart.exchange.fields import Fields
from headstart.exchange.material import Material
from headstart.exchange.readers.common import each, lines, objects
from headstart.exchange.readers.lists import of_messages
from headstart.exchange.readers.pieces import Collector
from headstart.exchange.report import Report
from headstart.exchange.tree import ExchangeChat

# a chat or a message under common names
Common = dict[str, Any]


class Program(Struct, frozen=True):
    """`chats`: the chats of one object of a file, or of all its objects if they belong `together`
    (lines of a file always do); content that fits no chat is reported to the collector."""

    source: str
    name: str
    recognise: Callable[[Fields], bool]
    chats: Callable[[Sequence[Fields], Collector], Iterable[Common]]
    has_lines: bool = False
    together: bool = False

    def read(
        self, material: Material, members: Sequence[str], report: Report
    ) -> Iterator[ExchangeChat]:
        for member in members:
            data = material.data(member)
            found = lines(data, report, member) if self.has_lines else objects(data, report, member)
            whole = self.has_lines or self.together
            groups = [list(found)] if whole else ([one] for one in found)
            make = partial(of_messages, member=member, report=report, source=self.source)
            for group in groups:
                told = Collector(report, member)
                chats = (Fields(one) for one in self.chats(group, told))
                yield from each(chats, make, report, member)


def linked(messages: Iterable[Common]) -> list[Common]:
    """Messages linked in sequence, with their own ids if they have any."""
    found: list[Common] = []
    for number, one in enumerate(messages):
        before = found[-1]["id"] if found else None
        found.append({"parentId": before} | one | {"id": Fields(one).id("id") or f"{number}"})
    return found
