"""llama.cpp's web interface: one conversation, or an array of them, as JSON; or lines of Hugging
Face's session traces, which other programs write too (ours as well)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from headstart.core.chats.parts import Part, ReasoningPart
from headstart.core.chats.values import Role
from headstart.core.strange_json import decoded
from headstart.exchange.fields import Fields
from headstart.exchange.material import Material
from headstart.exchange.readers.building import Facts, ReadMessage, build, renamed
from headstart.exchange.readers.common import ROLES, each, lines, model_name, objects
from headstart.exchange.readers.pieces import Collector
from headstart.exchange.report import Report
from headstart.exchange.tree import ExchangeChat

SOURCE, NAME = "llama.cpp", "llama.cpp"
TRACE_SOURCE, TRACE_NAME = "trace", "Session trace"


def recognise(first: Fields) -> bool:
    return bool(first.inside("conv")) and isinstance(first.all.get("messages"), list)


def recognise_trace(first: Fields) -> bool:
    return first.text("type") == "session" and ("harness" in first or "id" in first)


def read(material: Material, members: Sequence[str], report: Report) -> Iterator[ExchangeChat]:
    for member in members:
        found = objects(material.data(member), report, member)
        yield from each(found, partial(_conversation, report=report), report, member)


def read_trace(
    material: Material, members: Sequence[str], report: Report
) -> Iterator[ExchangeChat]:
    for member in members:
        session, messages = Fields(None), list[Fields]()
        for line in lines(material.data(member), report, member):
            kind = line.text("type")
            if kind == "session":
                found = _session(session, messages, report) if session else None
                if found is not None:
                    yield found
                session, messages = line, []
            elif kind == "message":
                messages.append(line)
        found = _session(session, messages, report)
        if found is not None:
            yield found


def _conversation(fields: Fields, report: Report) -> ExchangeChat | None:
    conv = fields.inside("conv")
    collect = Collector(report, conv.words("name"))
    facts = Facts(
        id=conv.id("id"),
        title=conv.words("name"),
        updated_at=conv.time("lastModified"),
        leaf=conv.id("currNode") or None,
        blobs=collect.blobs.found,
    )
    seen = []
    for number, message in enumerate(fields.each("messages")):
        # the root of all branches is a separate message without text
        root = message.text("type") == "root"
        role = ROLES.get(message.text("role"), Role.USER)
        parts: list[Part] = [] if root else _extra(message, collect)
        reasoning = message.text("reasoningContent", "thinking")
        if reasoning:
            parts.append(ReasoningPart(reasoning))
        parts += [] if root else _words(message, collect)
        parts += _calls(message, collect)
        seen.append(
            ReadMessage(
                message.id("id") or f"{number}",
                message.id("parent") or None,
                role,
                parts,
                message.time("timestamp"),
                model=model_name(message.words("model")) if role is Role.ASSISTANT else None,
            )
        )
    return build(SOURCE, facts, seen, report)


def _words(message: Fields, collect: Collector) -> list[Part]:
    content = message.all.get("content")
    if message.text("role") == "tool":
        result = {"id": message.id("toolCallId"), "name": message.words("name"), "content": content}
        return collect.result(Fields(result))
    return collect.parts(content)


def _extra(message: Fields, collect: Collector) -> list[Part]:
    """Attachments: text verbatim, images as data addresses."""
    found: list[Part] = []
    for extra in message.each("extra"):
        address = extra.text("base64Url", "url") or _address(extra)
        whole = Fields({"name": "attachment"} | extra.all | {"url": address})
        found += collect.file(whole, extra.text("type").lower() or "file")
    return found


def _address(extra: Fields) -> str:
    """A data address for the base64 of sound or a document, which lacks the prefix."""
    data, media = extra.text("base64Data"), extra.text("mimeType") or "application/octet-stream"
    return f"data:{media};base64,{data}" if data else ""


def _calls(message: Fields, collect: Collector) -> list[Part]:
    value = message.all.get("toolCalls")
    if isinstance(value, str):
        try:
            value = decoded(value) if value else []
        except ValueError:
            value = []
    found: list[Part] = []
    for one in value if isinstance(value, list) else []:
        found += collect.call(Fields(one))
    return found


def _session(session: Fields, messages: Sequence[Fields], report: Report) -> ExchangeChat | None:
    if not session and not messages:
        return None
    facts = Facts(
        id=session.id("id"),
        title=session.words("name", "title"),
        created_at=session.time("timestamp", "createdAt"),
    )
    collect = Collector(report, facts.title or facts.id)
    facts.blobs = collect.blobs.found
    seen: list[ReadMessage] = []
    for number, line in enumerate(messages):
        message = line.inside("message")
        name = message.text("role")
        role = ROLES.get(name, Role.USER)
        key = line.id("id") or message.id("id") or f"{number}"
        parts: list[Part] = []
        reasoning = message.text("reasoningContent", "reasoning_content")
        if reasoning:
            parts.append(ReasoningPart(reasoning))
        content = message.all.get("content")
        if name in ("tool", "toolResult"):
            parts = collect.result(message)
            role = Role.ASSISTANT
        else:
            parts += [*collect.parts(content), *_calls(message, collect)]
        parent = line.id("parentId", "parent") or (seen[-1].id if seen else None)
        seen.append(
            ReadMessage(
                key,
                parent,
                role,
                parts,
                message.time("timestamp") or line.time("timestamp"),
                model=model_name(message.words("model")) if role is Role.ASSISTANT else None,
            )
        )
    facts.leaf = seen[-1].id if seen else None
    if not any(line.id("id") or line.inside("message").id("id") for line in messages):
        seen = renamed(seen, facts)
    return build(TRACE_SOURCE, facts, seen, report)
