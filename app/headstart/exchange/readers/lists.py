"""Plain lists of messages: ShareGPT's `conversations`, OpenAI's `messages`, one object on each line
or an array of them. Linear; the words are the only identity."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from headstart.core.parts import Part, ReasoningPart, TextPart, ToolCallPart, ToolResultPart
from headstart.core.values import Role
from headstart.exchange.fields import Fields
from headstart.exchange.material import Material
from headstart.exchange.media import Blobs
from headstart.exchange.readers.building import Facts, Seen, build, renamed
from headstart.exchange.readers.common import ROLES, content_parts, lines, model_name, objects
from headstart.exchange.readers.openwebui import data_of
from headstart.exchange.report import Report
from headstart.exchange.tree import Conversation

SOURCE, NAME = "list", "List of messages"


def recognise(first: Fields) -> bool:
    return any(_is_message(one) for key in _KEYS for one in first.each(key)) or _is_message(first)


def read(material: Material, members: Sequence[str], report: Report) -> Iterator[Conversation]:
    for member in members:
        loose: list[Fields] = []
        for fields in _all(material, member, report):
            key = next((key for key in _KEYS if fields.list(key)), "")
            if key:
                found = _conversation(fields, list(fields.each(key)), member, report)
                if found is not None:
                    yield found
            elif _is_message(fields):
                # the whole file is one conversation
                loose.append(fields)
            else:
                report.skip(member, "import-unreadable")
        if loose:
            found = _conversation(Fields(None), loose, member, report)
            if found is not None:
                yield found


_KEYS = ("messages", "conversations", "conversation")


def _is_message(fields: Fields) -> bool:
    return bool(fields.text("role", "from", "sender")) and (
        "content" in fields or "value" in fields or "text" in fields
    )


def _all(material: Material, member: str, report: Report) -> Iterator[Fields]:
    data = material.data(member)
    start = bytes(data[:1024]).lstrip()
    if start[:1] == b"[":
        yield from objects(data, report, member)
    elif _many_lines(data):
        yield from lines(data, report, member)
    else:
        yield from objects(data, report, member)


def _many_lines(data: memoryview) -> bool:
    """Whether the first line is a whole object."""
    first = bytes(data[: 64 << 20]).lstrip().split(b"\n", 1)[0].strip()
    try:
        json.loads(first)
    except (ValueError, RecursionError):
        return False
    return True


def _conversation(
    fields: Fields, messages: Sequence[Fields], member: str, report: Report
) -> Conversation | None:
    blobs = Blobs()
    facts = Facts(
        id=fields.id("id", "conversation_id", "uuid"),
        title=fields.words("title", "name"),
        created_at=fields.time("created_at", "create_time", "timestamp"),
        model=model_name(fields.words("model")),
        blobs=blobs.found,
    )
    seen: list[Seen] = []
    for number, message in enumerate(messages):
        name = message.text("role", "from", "sender").casefold()
        role = ROLES.get(name)
        if role is None:
            report.skip(facts.title or member, "import-role-unknown", name=name)
            continue
        parent = seen[-1].id if seen else None
        parts = _parts(message, name, blobs)
        time = message.time("created_at", "timestamp")
        seen.append(Seen(f"{number}", parent, role, parts, time))
        if role is Role.ASSISTANT:
            seen[-1].model = model_name(message.words("model"))
    seen = renamed(seen, facts)
    if facts.id and seen:
        # such ids are often numbers, counted from one in each file
        facts.id = f"{facts.id}:{seen[0].id}"
    return build(SOURCE, facts, seen, report)


def _parts(message: Fields, name: str, blobs: Blobs) -> list[Part]:
    content = message.all.get("content", message.all.get("value", message.all.get("text")))
    if name in ("tool", "function"):
        text = "".join(part.text for part in content_parts(content))
        return [ToolResultPart(message.id("tool_call_id"), message.words("name") or "tool", text)]
    found: list[Part] = []
    reasoning = message.text("reasoning_content", "reasoning", "thinking")
    if reasoning:
        found.append(ReasoningPart(reasoning))
    for piece in content if isinstance(content, list) else [content]:
        fields = Fields(piece)
        address = fields.inside("image_url").text("url") or fields.text("image_url")
        image = data_of(address)
        if image is not None:
            found.append(blobs.part("image", *image))
        elif address:
            # remote images are not fetched; the address says what it was
            found.append(TextPart(address))
        else:
            found += content_parts([piece] if piece is not None else [])
    for call in message.each("tool_calls"):
        function = call.inside("function")
        arguments = function.all.get("arguments", "")
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        found.append(ToolCallPart(call.id("id"), function.words("name") or "tool", text))
    return found
