"""Chats as tables: Microsoft Copilot's activity, and CSV with a message or a pair per row."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterator, Sequence
from functools import partial

from headstart.exchange.fields import Fields
from headstart.exchange.material import Material
from headstart.exchange.readers.common import LARGEST_CONVERSATION, each
from headstart.exchange.readers.lists import of_messages
from headstart.exchange.readers.programs import Common
from headstart.exchange.report import Report
from headstart.exchange.tree import ExchangeChat

SOURCE, NAME = "copilot", "Microsoft Copilot"
_WHO = {"human": "user", "user": "user", "you": "user"}


def recognise(text: str) -> bool:
    head = _head(text)
    return {"author", "message"} <= head or {"prompt", "response"} <= head


def read(material: Material, members: Sequence[str], report: Report) -> Iterator[ExchangeChat]:
    for member in members:
        data = material.data(member)
        if len(data) > LARGEST_CONVERSATION:
            report.skip(member, "import-chat-too-large", size=len(data))
            continue
        text = bytes(data).decode("utf-8-sig", "replace")
        make = partial(of_messages, member=member, report=report, source=SOURCE)
        yield from each((Fields(one) for one in _chats(text)), make, report, member)


def _head(text: str) -> set[str]:
    first = text.removeprefix("\ufeff").partition("\n")[0]
    return {name.strip().strip('"').casefold() for name in first.split(",")}


def _chats(text: str) -> Iterator[Common]:
    csv.field_size_limit(1 << 30)
    rows = csv.DictReader(io.StringIO(text, newline=""))
    named = [
        {str(key).strip().casefold(): value for key, value in row.items() if isinstance(value, str)}
        for row in rows
    ]

    def chat_of(row: dict[str, str]) -> str:
        return row.get("conversation") or row.get("workspace") or ""

    order = list(dict.fromkeys(chat_of(row) for row in named))
    named.sort(key=lambda row: order.index(chat_of(row)))
    for title, group in itertools.groupby(named, chat_of):
        messages = [message for row in group for message in _messages(row)]
        # newest first, if the times say so
        if len(messages) > 1 and (messages[0].get("createdAt") or "") > (
            messages[-1].get("createdAt") or ""
        ):
            messages.reverse()
        yield {"title": title, "messages": messages}


def _messages(row: dict[str, str]) -> Iterator[Common]:
    moment = row.get("time") or row.get("sent_at") or row.get("date")
    if "message" in row:
        who = row.get("author", "").casefold()
        yield {
            "role": _WHO.get(who, "assistant"), "content": row["message"], "createdAt": moment,
        }  # fmt: skip
    else:
        yield {"role": "user", "content": row.get("prompt", ""), "createdAt": moment}
        yield {"role": "assistant", "content": row.get("response", ""), "createdAt": moment}
